// Package openai asks an OpenAI-style server for vectors: POST
// <base_url>/embeddings with {"model", "input": [texts], "encoding_format":
// "float"}, answered by {"data": [{"index", "embedding": [numbers]}]}
// (https://platform.openai.com/docs/api-reference/embeddings). The items may come
// in any order; each index must come once.
package openai
