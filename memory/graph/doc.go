// Package graph is the layer of facts: entities and the relations between
// them, in one SQLite file, memory/graph.db.
//
// # Facts
//
// A fact is subject, relation, object: 钥匙 / 在 / 门垫下面. Any of the three may
// be free text of up to MaxField bytes; an object too long to be a name simply
// becomes an entity that is not looked up by name. Commit finds the entities by
// name or alias, or makes them. A fact that is there already gains confidence
// instead of a second row. For relations that have one answer at a time (where
// a thing is, where a person lives, a name, a number: see relation.go) a new
// object makes the old fact history: status past, updated_at the time it ended.
// Names are compared by token.Fold; a bare name that several entities bear goes
// to the one whose label it is, else to the one spoken of most.
//
// # Finding
//
// An inverted index of our own (tables terms and postings: blocks of
// delta-coded ids) finds facts and entities by the terms of package token,
// because the full-text tables of SQLite neither cut Han text nor stop early
// on common terms. Recall reads the postings of the query's rarest terms, takes
// the facts they lead to and walks breadth-first from the entities they name.
// What it reads is bounded at every step and does not grow with the file, so it
// stays quick at a million relations.
//
// # The file
//
// WAL, synchronous=FULL: a Commit that has returned survives a power cut and
// costs one sync of its own (none on the path of an ordinary turn). Times are
// milliseconds since 1970, date_bucket is the local day. user_version is the
// schema; the index carries token.Version and is rebuilt when that changes.
// A file that is empty, truncated, garbage or of a newer schema is renamed to
// "<path>.bad-<time>", a new one is begun, and a Notice says so. Tables aliases
// and merges belong to merging entities, which is not here yet: nothing
// writes merges.
//
// A Graph is safe for concurrent use: one writer at a time, readers beside it.
// Contexts end a call between its statements, each of which is bounded.
package graph
