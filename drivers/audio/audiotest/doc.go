// Package audiotest is a sound card for tests: a pcm.Opener whose microphones
// follow a script, whose speakers keep what was heard, and whose devices can be
// busy, pulled out and put back. Sound takes as long as it lasts, by package
// time, so a test runs it inside testing/synctest.
//
// At its end a test hears about leftovers: streams that nobody closed, and
// steps of a script or faults that nobody came across. A script that nobody
// needs in full is ended by Rest.
package audiotest
