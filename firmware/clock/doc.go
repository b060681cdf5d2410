// Package clock gives a board without a battery the best time it can have.
//
// The ladder: at boot Floor sets the clock to the latest of what the kernel
// says, when the image was built, and when the time was last saved; so it never
// runs before the certificates the image was built with, and only as far behind
// as the box was without power. While the box runs a Keeper asks the network's
// time servers (SNTP, RFC 4330) and saves the time every five minutes and at its
// end.
//
// A time more than thirty years after the build is nobody's time: a saved file
// or a kernel that says so is not believed, and named. An answer of the network
// counts only if two servers agree within two seconds and the time is sane by the same rule; then
// the clock is set in one step, else it stays. A difference below a quarter of a
// second is left alone.
//
// The saved time is one line, RFC 3339 in UTC, in <data>/system/clock, written by
// temporary file, sync, rename: 288 small writes a day.
//
// Setting the clock needs root and is right on an appliance only; on other
// computers neither Floor nor a Keeper is used.
package clock
