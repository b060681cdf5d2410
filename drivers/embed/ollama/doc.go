// Package ollama asks an Ollama server for vectors: POST <base_url>/api/embed
// with {"model", "input": [texts], "truncate": true}, answered by {"embeddings":
// [[numbers]]} in the order of the texts
// (https://github.com/ollama/ollama/blob/main/docs/api.md). What does not fit the
// model is cut by the server.
package ollama
