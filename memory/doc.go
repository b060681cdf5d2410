// Package memory joins the layers of what the agent remembers and is the only
// thing the mind knows of them.
//
//	relevance  the live context, pruned by relevance and age   state.db
//	journal    every turn as it was                            state.db, then memory/raw/raw_*.jsonl
//	graph      facts: entities and relations                   memory/graph.db
//	state      the database under the first two, and a bucket for each plugin
//	disk       how files are written so that a power cut loses nothing
//	token      how text is cut into terms
//
// One turn costs two syncs here: EndTurn saves the context and the journal's
// line in one transaction of state.db. Append, Prune and Recall cost none. A fact
// taken in by memory_commit costs one of its own. The journal's lines move to
// their files when the house has been idle for half a minute, when very many
// wait, and at Close.
//
// A turn with NoMemory leaves no trace: the mind does not append it and EndTurn
// refuses it silently.
//
// Facts are found by words in both languages; the prompt gets one line about
// what there is (Recall), details come by the tool memory_recall. Nothing here
// distils facts from turns yet: what is in the graph was committed by the tool
// or by a plugin. memory_purge reaches facts only; the conversation and the
// journal keep what was said in them.
//
// Open sets damaged files aside and tells by a Notice; it fails only where the
// folder cannot be used at all. Memory owns one goroutine, which Close ends.
package memory
