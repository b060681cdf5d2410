// Package rest is what the network embedders share: batches, deadlines, tries
// again after a pause, bounds on what comes back, and errors without the key. A
// dialect (packages ollama and openai) says how a request is written and its
// answer read.
package rest
