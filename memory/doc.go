// Package memory joins the layers of what the agent remembers and is the only
// thing the mind knows of them.
//
//	relevance  the live context, pruned by relevance and age   state.db
//	journal    every turn as it was                            state.db, then memory/raw/raw_*.jsonl
//	document   what was pruned, what was put down, a page for each entity   memory/documents/
//	graph      facts: entities and relations                   memory/graph.db
//	knowledge  what the house was taught                       knowledge/<name>/content.md
//	search     where passages of all that are found by words   memory/index.db, memory/knowledge.db
//	recall     the one path by which all of it is asked
//	distill    facts from turns
//	entity     which names might mean one
//	tidy       the half-hourly housework
//	state      the database under the first two, and a bucket for each plugin
//	disk       how files are written so that a power cut loses nothing
//	sqlfile    how SQLite files are opened, and set aside where they are damaged
//	token      how text is cut into terms
//
// # A turn
//
// One turn costs two syncs here: EndTurn saves the context and the journal's
// line in one transaction of state.db. Append, Prune and Recall cost none. A fact
// taken in by memory_commit costs one of its own. The prompt gets one line about
// what there is (Recall); details come by the tool memory_recall.
//
// A turn with NoMemory leaves no trace: the mind does not append it and EndTurn
// refuses it silently. A tool with NoMemory leaves its turn where it is, in
// journal, context and documents; only its output is not computed on.
//
// # Behind the turns
//
// One goroutine indexes each turn when it has ended. When the house has been
// idle for half a minute, and when very much waits, the journal's lines move to
// their files, and what was pruned into documents: written and synced there under
// the same ids before it goes from state.db. Close moves the journal's lines. The distiller and the
// housework begin with Start. The index is a cache: lost, it is made again from
// documents and journal.
//
// Forgetting by words, hard, reaches every layer (Forget); Export writes
// everything as lines that Import takes back.
//
// Open sets damaged files aside and tells by a Notice; it fails only where the
// folder cannot be used at all. Close ends every goroutine.
package memory
