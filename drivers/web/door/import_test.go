package door

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// An import may be larger than anything else that the agent is sent, and has a
// bound of its own.
func TestImportMayBeLarge(t *testing.T) {
	h := open(t, func(o *Options) { o.Limits.Body, o.Limits.Upload, o.Limits.Import = 1<<10, 1<<12, 1<<20 })
	ck := h.claim()
	h.agent(func(w http.ResponseWriter, r *http.Request) {
		n, err := io.Copy(io.Discard, r.Body)
		if err != nil {
			return
		}
		fmt.Fprintf(w, `{"bytes":%d}`, n)
	})
	for _, row := range []struct {
		name, path string
		size       int
		status     int
	}{
		{"an import", "memory/import", 1 << 19, 200},
		{"an import at its bound", "memory/import", 1 << 20, 200},
		{"an import above it", "memory/import", 1<<20 + 1, 413},
		{"another command of memory", "memory/forget", 1<<10 + 1, 413},
		{"an address like it", "memory/imports", 1<<10 + 1, 413},
		{"an address below it", "memory/import/x", 1<<10 + 1, 413},
		{"a recording", "hear", 1<<12 + 1, 413},
	} {
		t.Run(row.name, func(t *testing.T) {
			a := h.call("POST", "/api/v1/"+row.path, strings.Repeat("x", row.size), cookie(ck), csrf)
			if a.status != row.status || a.status == 200 && string(a.body) != fmt.Sprintf(`{"bytes":%d}`, row.size) {
				t.Errorf("status %d, %.100s", a.status, a.body)
			}
		})
	}
}
