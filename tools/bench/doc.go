// Command bench measures the promises of docs/benchmarks.md against the
// programs in a folder, as whole processes on a fresh data folder, and prints one
// JSON object a line: {"name","value","unit","n","machine","commit"}.
//
//	bench -bin bin [-only REGEXP]
//
// The language model is tools/fakellm inside this process, so its own time can
// be taken out of a turn. Lines that cannot be measured here (no strace, no
// recordings, no models) are named on standard error and left out.
package main
