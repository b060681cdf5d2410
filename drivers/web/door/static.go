package door

import (
	"net/http"
	"strings"

	"homeagent/drivers/web/ui"
)

// page serves the files of the page. Which of claim, login and talk it shows
// it asks from GET /session; the files hold no secret.
func (s *server) page(c *call) {
	if c.r.Method != http.MethodGet && c.r.Method != http.MethodHead {
		c.w.Header().Set("Allow", "GET, HEAD")
		c.fail(kMethod)
		return
	}
	if strings.HasPrefix(c.r.URL.Path, "/api/") {
		c.fail(kNotFound)
		return
	}
	name := strings.TrimPrefix(c.r.URL.Path, "/")
	if name == "" {
		name = "index.html"
	}
	f, ok := ui.Get(name)
	if !ok {
		c.fail(kNoPage)
		return
	}
	h := c.w.Header()
	h.Set("Content-Type", f.Type)
	h.Set("ETag", f.ETag)
	h.Set("Cache-Control", "no-cache") // asked for again each time, sent again only when changed
	if c.r.Header.Get("If-None-Match") == f.ETag {
		c.w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Length", itoa(len(f.Data)))
	if c.r.Method == http.MethodGet {
		_, _ = c.w.Write(f.Data)
	}
}
