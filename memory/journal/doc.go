// Package journal keeps every turn as it was, one JSON object a line, in
// memory/raw/raw_<day>_<number>.jsonl: the source from which facts are distilled
// and the one to look into when memory is doubted. Contents of media are left
// out; their names and types stay.
//
// A line first waits in an outbox in state.db, written by the transaction that
// also saves the context, so that a turn costs no sync of its own here. Flush
// moves what waits into the file: write, sync; the next transaction takes it out of
// the outbox. The caller flushes when Due says so, when the house is idle, and
// by Close. Lines are numbered; a crash between write and removal leaves lines
// in both places, and Open tells them apart by the last number in the files, so
// no turn is there twice. A half-written line at a file's end is cut off.
//
// A file is closed at the end of the day (of the clock in Options) or when it
// reaches MaxFile. Distilled marks a file whose facts have been taken; Sweep
// deletes it Retention later. What was never distilled is never deleted by age;
// Redact deletes the lines of what shall be forgotten. After goes through the
// lines by number, wherever they are.
//
// A turn is journaled once: the ids of the last turns are kept in state.db, and
// AddTx tells when it has seen one before. Turns without memory never come here.
// All methods are safe for concurrent use. One process holds the folder, which
// the lock on state.db ensures.
package journal
