package problem

import (
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
)

// ContentType is the media type of a problem document.
const ContentType = "application/problem+json"

// typePrefix makes a Code into the URI that RFC 9457 asks for.
const typePrefix = "urn:homeagent:problem:"

// maxDocument bounds what Read takes from a peer, in bytes.
const maxDocument = 64 << 10

// Words is one sentence in the languages of the house.
type Words struct {
	ZH, EN string
}

// In returns the sentence in the language, "zh" or "en"; where that one is
// missing it returns the other.
func (w Words) In(lang string) string {
	if (lang == English && w.EN != "") || w.ZH == "" {
		return w.EN
	}
	return w.ZH
}

// Problem is a problem document. It is an error, so that a client can return it.
type Problem struct {
	// Type is "urn:homeagent:problem:" and the code.
	Type string `json:"type"`
	// Code is the machine-readable word, such as "not_logged_in".
	Code string `json:"code"`
	// Status is the HTTP status, 400 to 599.
	Status int `json:"status"`
	// Title says what happened and what to do next, in the language of the request.
	Title string `json:"title"`
	// Detail is more for those who look closer: which key, which name. May be empty.
	Detail string `json:"detail,omitempty"`
}

// New makes a problem with its words in the language.
func New(status int, code string, w Words, lang string) *Problem {
	return &Problem{Type: typePrefix + code, Code: code, Status: status, Title: w.In(lang)}
}

// Error is the title, with the detail behind it.
func (p *Problem) Error() string {
	if p.Detail != "" {
		return p.Title + " (" + p.Detail + ")"
	}
	return p.Title
}

// Write sends the problem as the whole answer. It takes back a Content-Length
// that an earlier step may have set.
func (p *Problem) Write(w http.ResponseWriter) {
	h := w.Header()
	h.Del("Content-Length")
	h.Del("Content-Encoding")
	h.Set("Content-Type", ContentType)
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(p.Status)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(p) // the peer may be gone; nobody is left to tell
}

// Read turns an answer of status 400 or above into a Problem, whatever its
// body is. It reads at most 64 KiB and does not close the body.
func Read(resp *http.Response) *Problem {
	p := &Problem{}
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxDocument))
	if mt, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); mt == ContentType {
		if json.Unmarshal(body, p) != nil {
			p = &Problem{}
		}
	}
	p.Status = resp.StatusCode
	if p.Title == "" {
		p.Title = fmt.Sprintf("HTTP %d %s", resp.StatusCode, http.StatusText(resp.StatusCode))
		p.Detail = strings.TrimSpace(strings.ToValidUTF8(string(body[:min(len(body), 200)]), ""))
	}
	return p
}
