// Package distill takes facts out of what was said: the journal's turns go in,
// triples for the graph come out, each with the turn it was learned from.
//
// # Extractors
//
// An Extractor reads a few events and returns facts. Heuristic needs nothing:
// it knows the plain sentences of a household in Chinese and English (who is
// who, where things are, likes, allergies, numbers, dates, plans, what was done
// and when) and gives up on everything else. It prefers to miss a fact over
// inventing one: questions, suppositions, orders to the house, hearsay and small
// talk give nothing. It does not resolve "he", "she" or "it". Model asks a
// provider, by one tool call whose arguments follow a JSON schema, and trusts
// nothing in the answer: bounds, known turns, no secrets.
//
// The first person becomes the speaker's name, "用户" or "user" where there is
// none; in an answer of the house the second person does. Answers give facts of
// lower confidence, and none where the answer itself came out of memory: an echo
// must not strengthen what it repeats. Output of tools gives nothing to the
// heuristic; a model may read it.
//
// # Secrets
//
// What looks like a key or a token is never a fact and never reaches a
// provider. A password or a PIN is kept only where the user said so ("记住",
// "remember"), by the heuristic, so that it stays in the house.
//
// # Worker
//
// Worker reads the journal behind its cursor in batches and hands the facts to
// a Sink. Order of writing: the facts of a batch are kept beside the cursor
// first, then committed turn by turn, the cursor following each turn. After a
// kill the same facts are committed again for at most one turn, which the graph
// counts once; a model is not asked twice. No lock is held while an extractor
// runs, and Forget interrupts it.
package distill
