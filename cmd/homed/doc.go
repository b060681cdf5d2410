// Command homed is the supervisor of the house and, as `homed door`, its front
// door. It is static: with every shared library gone the page, the logs and the
// way back still work.
//
//	homed [-config FILE] [-data FOLDER]
//
// Exit status: 0 ended on request, 1 cannot start (the last line says why and
// what to do), 2 wrong arguments.
package main
