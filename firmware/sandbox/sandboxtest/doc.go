// Package sandboxtest tries to get out of a sandbox. An Attempt is a function
// that the running binary, executed anew, calls inside a sandbox and, as its
// control, outside of one: it must fail in there and work out here, so that a
// wall that is not there, and an attempt that could not work anyway, are both
// seen. Where a machine's kernel does not have what an attempt is about, the
// control says so.
//
// The binary's main calls Main before all else. Run then makes a House (a
// secret, a victim process, listeners, a workspace), tries all Attempts and
// returns what happened. LimitAttempts need a control group of version 2. The
// program in escapes does all of it, for a machine without a Go tool chain, such
// as an emulated board. Everything needs root; controls that change a machine do
// so in namespaces of their own, or set what is set already.
package sandboxtest
