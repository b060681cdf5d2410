// Package state holds the one small database of the agent, state.db (bbolt):
// the live context, the outbox of the journal, and a bucket for each plugin.
// What must change together changes in one transaction here.
//
// A commit costs two fdatasync: pages, then the page that names them. Opening
// makes the file large enough that ordinary growth needs no further sync.
// Commits counts them for the bench.
//
// Open reads the whole file once. A file that is empty, truncated or garbage is
// renamed to "<path>.bad-<time>", a new one is begun and a Notice says so; the
// house starts in any case. Damage that appears while running is not handled
// here: bbolt panics, the process starts again and Open finds it.
//
// Scrub writes the file anew without what was deleted, which bbolt leaves in
// free pages.
//
// One process holds the file, by a lock on it; another gets ErrLocked. All
// methods are safe for concurrent use; View inside Update of the same goroutine
// deadlocks, as in bbolt. Values handed to a transaction's function are valid
// only inside it.
package state
