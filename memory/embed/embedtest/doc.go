// Package embedtest is the suite that every embed.Embedder passes.
package embedtest
