// Package graph is the layer of facts: entities and the relations between
// them, in one SQLite file, memory/graph.db.
//
// # Facts
//
// A fact is subject, relation, object: 钥匙 / 在 / 门垫下面. Any of the three may
// be free text of up to MaxField bytes, more is refused with ErrTooLong; an
// object too long to be a name simply becomes an entity that is not looked up by
// name. Commit takes plain triples, Learn takes Statements, of which more is
// known: the kinds and stable ids of the ends, who said it and when, how sure.
//
// A fact that is there already gains confidence instead of a second row, also
// in other words: relations of one class mean the same (relation.go), some hold
// in both directions, and what was told in the same words is the same wherever
// the words were cut into three (wording.go). The rules are narrow on purpose.
// Telling a fact again in the same turn changes nothing, so a distiller may take
// up a turn as often as it likes, even where the fact has ended or was forgotten
// since.
//
// For relations that have one answer at a time (where a thing is, where a
// person lives, a name, a number) a new object makes the old fact history, as
// the opposite does (likes, doesn't like): status past, updated_at the time it
// ended. A retraction ("no longer lives in", 不再) ends a fact without a
// successor. History is asked for by Query.Past, by a question that asks for it
// (AsksPast), and by History.
//
// # Who is meant
//
// A row's name is its label, not its identity. A mention is resolved by its
// stable id, else by name, kind and speaker (resolve.go); names are compared by
// nameKey. A second bearer of a name is labelled 豆豆（狗） or 王芳（2） and found
// by the bare name as well. A mention that several bearers fit goes to one row
// for all such mentions of the name, and the pairs are nominated; so are bearers
// that contradict each other. Names that mean another one in everybody's mouth
// (我, 我妈; Options.Relative) are kept apart by speaker where one is known.
//
// Nothing here decides that two are one. Merge does what others have decided and
// writes down all that Undo needs to put the rows back exactly; Decide puts
// down that two are different, or that it is not known. Similar, Changed and Due
// are for those who decide.
//
// # Finding
//
// An inverted index of our own (tables terms and postings: blocks of
// delta-coded ids) finds facts and entities by the terms of package token,
// because the full-text tables of SQLite neither cut Han text nor stop early
// on common terms. Recall reads the postings of the query's rarest terms, takes
// the facts they lead to and walks breadth-first from the entities they name,
// from the seeds that the caller has by other means, and at depth 2 from the ends
// of the best facts. What it reads is bounded at every step and does not grow
// with the file, so it stays quick at a million relations. Not bounded, and not
// for the path of a turn, are Introspect, Archive, Purge without a Query, Export,
// and Merge and Undo, which touch every fact of the dropped entity.
//
// # The file
//
// WAL, synchronous=FULL, by package sqlfile: a Commit that has returned survives
// a power cut and costs one sync of its own (none on the path of an ordinary
// turn). Times are milliseconds since 1970, date_bucket is the local day.
// user_version is the schema, of which an older one is migrated in one
// transaction; the index carries the version of its rules and is rebuilt when
// that changes. A file that is empty, truncated, garbage or of a newer schema is
// renamed to "<path>.bad-<time>", a new one is begun, and a Notice says so. A log
// that is damaged or cut gives what was written before the damage.
//
// Soft purges keep the row until Restore. Hard ones overwrite the bytes, and go
// through the merge log too: undoing a merge never brings an erased fact back.
//
// A Graph is safe for concurrent use: one writer at a time, readers beside it.
// Contexts end a call between its statements.
package graph
