package main

import (
	"io"
	"os"
	"sync"
	"time"
)

// maxPersona bounds personal.md, in bytes; what is longer is cut.
const maxPersona = 16 << 10

// persona returns the text of personal.md and reads the file again only when
// it has changed, so that the prompt stays byte-stable and a turn waits for
// nothing. No tool can write the file: it lies outside the workspace.
func persona(path string) func() string {
	var mu sync.Mutex
	var text string
	var when time.Time
	var size int64
	return func() string {
		mu.Lock()
		defer mu.Unlock()
		info, err := os.Stat(path)
		if err != nil {
			text, when, size = "", time.Time{}, 0
			return ""
		}
		if info.ModTime().Equal(when) && info.Size() == size {
			return text
		}
		f, err := os.Open(path)
		if err != nil {
			return text
		}
		defer f.Close()
		b, err := io.ReadAll(io.LimitReader(f, maxPersona))
		if err != nil {
			return text
		}
		text, when, size = string(b), info.ModTime(), info.Size()
		return text
	}
}
