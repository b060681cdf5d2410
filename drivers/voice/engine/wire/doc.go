// Package wire is what the engines process and its client say to each other
// over a pair of pipes.
//
// A frame is an 8-byte prefix, two big-endian unsigned 32-bit lengths, then
// that many bytes of JSON header and that many of sound: signed 16-bit
// little-endian samples, 16 kHz mono. Both lengths are bounded, so neither
// side can make the other keep more than MaxHeader + MaxSound bytes a frame.
//
// Requests carry an id that the client chooses and never uses twice in a
// process's life. Each is answered by exactly one Reply with the same id,
// in any order; a "cancel" names another request in Target and has no answer of
// its own. The pair of pipes ends the process: end of file on its input means
// the client is gone.
package wire
