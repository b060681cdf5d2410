// Package embed is the plugin of the configured embedder. Section `embed` of
// config.yaml: kind (ollama, openai or hash), base_url, model, key (the name of a
// secret). Without the section nothing is embedded. The network is not touched
// before the first text.
package embed
