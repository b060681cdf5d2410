// Package relevance is the first layer of memory: the live context, the events
// that go into the prompt. An event is a provider.Message; its text is never
// altered here.
//
// When the context reaches Max events (45), Prune cuts it to the Keep (30) that
// matter most: relevance is the cosine between the TF-IDF vectors of the event
// and of the input (counted over the events at hand), age halves an event's
// bonus every few events, and the newest always stay. Order is kept. An
// assistant message with calls and the tool messages that answer it are one
// unit: they stay or go together.
//
// What is pruned is not lost: it moves, under the same id, into the bucket
// "pruned" of state.db in the transaction that saves the context. From there
// TakePruned hands it to whoever keeps it further, in documents, and DropPruned
// removes it once it is durable there. Both can be repeated after a crash: an
// event is in at least one of the two places, and its id tells that it is the
// same. NoMemory makes no difference to any of this.
//
// Locate tells an event's place in the journal, which goes with it.
//
// Append and Prune work in memory. SaveTx writes what has changed since the
// last save into a transaction of the caller's; until that, a crash loses
// appended events, which the queue still holds, and no others.
//
// A Cleaner, and NoMemory of messages and tools, decide only what a vector is
// computed from. A Context is safe for concurrent use.
package relevance
