// Package llm speaks to language models over the network: a client of its own
// for the OpenAI style of chat completions (DeepSeek, OpenAI and the many
// servers that imitate them), streaming always. The official libraries are not
// used because they add 18 MB to the binary and hide the quirks of imitators
// that must be survived here: broken argument JSON, parallel calls that share
// an index or lack an id, thousands of keep-alive comments, characters cut
// anywhere.
//
// A Client is a provider.Provider and safe for concurrent use; one call is one
// HTTP request and nothing is retried here (agent/provider/chain does that).
// Waits are the caller's context; every byte that arrives is passed on as a sign
// of life. The key is sent in one header and removed from every error text.
//
// Where the server is not reached, the provider.Error wraps an *Unreachable:
// sentences in both languages that tell a wrong clock, an unknown authority,
// another host's certificate, no TLS, no address, no listener and no way apart.
//
// Protocol: platform.openai.com/docs/api-reference/chat and
// api-docs.deepseek.com, as of 2026-11.
package llm
