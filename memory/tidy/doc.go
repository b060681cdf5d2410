// Package tidy is the housework of memory, every half hour and by command:
//
//	distil    what the conversation holds and nobody has distilled yet
//	reindex   documents that were changed by hand or lost
//	cold      facts of documents that nobody reads any more go into the graph
//	alike     entities that look alike: nominated, merged where a sentence says so
//	pages     one document for each entity that changed, rewritten in place
//	index     what the search index lacks
//	ask       pairs that only a language model can judge, as inputs of their own
//
// Facts come before pages, so that one round settles what it began and the
// next finds nothing to do. A round with nothing new reads a few rows, asks no
// model and writes nothing at all.
//
// # Beside the house
//
// The work is cut into small steps. Between two of them it looks whether a
// user's turn runs or waits, and waits itself until none does, for a bounded
// time: a turn that hangs does not stop the housework for ever. Each kind of work
// has a deadline; what fails, or panics, is reported and the next kind follows.
//
// # Pairs
//
// Which entities might be one is nominated from those that changed since the
// last round, by entity.Index, and judged by entity.Compare. Only a Certain
// verdict merges, by graph.Merge, which can be undone; a pair that was found
// different, an undone merge among them, is left alone. The rest is put down as
// open and listed.
//
// With a language model in reach, a few open pairs a round become inputs of the
// source Source, which reach no channel. Each names both entities with their
// facts. The answer comes by the tool memory_pair (ToolDef, Answer), by
// memory_merge, or, from a model that only talks, by a word of its final text
// (Ended). What comes is kept in the graph: merged, different (never asked
// again), undecided (asked again when the graph has new facts about either). A
// pair is noted as asked, durably, before its input is handed in, so no pair is
// asked about twice while the answer is awaited; a crash in between costs that
// pair its turn until the answer counts as overdue.
//
// The package holds no store of its own but one value of Options.Store: how far
// it has come, and which pairs it has asked about.
package tidy
