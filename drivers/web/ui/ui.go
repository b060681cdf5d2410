package ui

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"path"
	"sync"
)

//go:embed page/index.html page/app.css page/icon.svg page/manifest.json
//go:embed page/main.js page/api.js page/words.js page/talk.js page/status.js page/dom.js
var files embed.FS

// File is one file of the page.
type File struct {
	Data []byte
	// Type is its media type.
	Type string
	// ETag changes with its content; quotes included.
	ETag string
}

var types = map[string]string{
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".svg":  "image/svg+xml",
	".json": "application/manifest+json",
}

var all = sync.OnceValue(func() map[string]File {
	out := map[string]File{}
	entries, err := files.ReadDir("page")
	if err != nil {
		panic(err) // embedded: cannot fail once built
	}
	for _, e := range entries {
		data, err := files.ReadFile("page/" + e.Name())
		if err != nil {
			panic(err)
		}
		sum := sha256.Sum256(data)
		out[e.Name()] = File{Data: data, Type: types[path.Ext(e.Name())], ETag: `"` + hex.EncodeToString(sum[:12]) + `"`}
	}
	return out
})

// Get finds a file by its name, which has no folder in it.
func Get(name string) (File, bool) {
	f, ok := all()[name]
	return f, ok
}

// Names lists the files.
func Names() []string {
	var out []string
	for n := range all() {
		out = append(out, n)
	}
	return out
}
