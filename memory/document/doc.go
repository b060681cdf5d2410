// Package document is the layer of documents: what was pruned from the
// conversation, what was put down at somebody's wish, and a page for each
// entity of the graph. It keeps them for years and hands them out; finding them
// by their words is the work of package search, for which Passages cuts them.
//
// # Files
//
// A document is one JSON file, <dir>/<shard>/<id>.json, the shard being two hex
// digits made from the id, so that a hundred thousand files spread over 256
// folders. A file is replaced by temporary file, sync, rename, sync of the
// folder, and may be read and edited by hand while the program is stopped; one
// edited beside the running program is noticed by Reindex. Texts are UTF-8,
// which is all that JSON can keep. Contents of media are left out, as they are
// in the journal; their names and types stay.
//
// A file that is damaged, or of a newer program, is renamed to
// "<path>.bad-<time>" when it is met, named in a Notice, and the rest works on.
//
// # Index
//
// <dir>/index.db holds what List, Cold and PutEvents must know without reading
// files: metadata, counts of accesses, and which document has which event. It
// can be made anew from the files, apart from the counts: after that no
// document counts as unread for longer than since the rebuilding. That goes on
// behind Open, because a hundred thousand files take minutes; see Ready. Damage
// of the index that is met while running is an error of package sqlfile, and the
// next Open makes the index anew.
//
// A change of the index does not wait for the disk. Instead a document's id is
// marked, with a sync, before its file is first written, and the marks are taken
// off by the next Flush; Open reads the marked files again. So a power cut costs
// the reading of a few files, never a document. The marks spare syncs as well:
// moving events into the day's open document costs the two of its file.
//
// Reads are counted in memory and written by Flush, every few minutes and by
// Close, so that no read waits for the disk. A crash forgets the
// last minutes of counts, which makes a document at worst a little colder.
//
// # Events
//
// PutEvents moves events under their own ids; one that is in a document already
// stays where it is, so the move can be repeated after a crash. Events of one
// stream (session or channel) and day share a document of at most MaxEvents
// events and MaxBytes; it grows by being rewritten, off the turn's path. A call
// and its answers that come in one move stay in one document. What is larger
// than the bounds gets a document of its own.
//
// A Store is safe for concurrent use: one writer at a time; readers take no lock
// and see the old or the new file. One process holds the folder, which the lock
// on state.db ensures.
package document
