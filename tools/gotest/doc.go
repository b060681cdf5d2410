// Package gotest runs `go test -json` and tells how it ended: the usual lines
// as they come, and at the end each skipped test with its reason.
//
// Where every test must run, as in CI, a skip is a failure unless its reason
// names what setting up this computer cannot bring: recordings and lists that
// are no part of the project, a right that the user does not have, hardware, an
// hour of time. A test that skips for another reason, such as a program or a
// model that tools/setup brings, has been skipped by mistake. MustRun is the
// environment variable that says so.
//
// The reason of a skip is the last message the test wrote, which is the one that
// it gave to t.Skip.
package gotest
