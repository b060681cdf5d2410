package sse

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// ContentType is the media type of an event stream.
const ContentType = "text/event-stream"

// MaxEvent bounds one event that a Reader takes, in bytes.
const MaxEvent = 4 << 20

// ErrTooLong is returned by a Reader for an event above MaxEvent.
var ErrTooLong = errors.New("sse: event is too long")

// Event is one event. Data may hold several lines, joined by "\n".
type Event struct {
	ID   string
	Name string // "message" where the stream gave none
	Data []byte
}

// Writer sends events as the answer to a request and flushes each at once.
type Writer struct {
	w     http.ResponseWriter
	flush *http.ResponseController
	buf   bytes.Buffer
}

// NewWriter starts the answer: status 200 and the headers that keep proxies
// from holding events back. The headers leave with the first event or Alive.
func NewWriter(w http.ResponseWriter) *Writer {
	h := w.Header()
	h.Set("Content-Type", ContentType)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	return &Writer{w: w, flush: http.NewResponseController(w)}
}

// Send writes one event with data as JSON, which never holds a bare line break.
// Name and id are words of ours; line breaks in them are an error.
func (s *Writer) Send(id, name string, data any) error {
	if strings.ContainsAny(id, "\r\n\x00") || strings.ContainsAny(name, "\r\n\x00") {
		return fmt.Errorf("sse: line break in id %q or name %q", id, name)
	}
	s.buf.Reset()
	if id != "" {
		s.buf.WriteString("id: " + id + "\n")
	}
	s.buf.WriteString("event: " + name + "\ndata: ")
	enc := json.NewEncoder(&s.buf) // ends with the line break
	enc.SetEscapeHTML(false)
	if err := enc.Encode(data); err != nil {
		return fmt.Errorf("sse: %w", err)
	}
	s.buf.WriteByte('\n')
	return s.out()
}

// Alive writes a comment, so that both ends notice a dead connection.
func (s *Writer) Alive() error {
	s.buf.Reset()
	s.buf.WriteString(":\n\n")
	return s.out()
}

func (s *Writer) out() error {
	if _, err := s.w.Write(s.buf.Bytes()); err != nil {
		return err
	}
	return s.flush.Flush()
}

// Reader takes events from a stream. One goroutine uses it.
type Reader struct {
	r       *bufio.Reader
	max     int
	lastID  string
	afterCR bool // the line before ended in CR: an LF now belongs to it
	begun   bool
}

// NewReader reads events of at most MaxEvent bytes each.
func NewReader(r io.Reader) *Reader {
	return &Reader{r: bufio.NewReader(r), max: MaxEvent}
}

// Next returns the next event that has data. io.EOF marks the end; an event
// that the end cut short is dropped, as the standard says.
func (r *Reader) Next() (Event, error) {
	name, size, hasData := "", 0, false
	var data []byte
	for {
		line, err := r.line(r.max - size)
		if err != nil {
			return Event{}, err
		}
		size += len(line)
		if len(line) == 0 {
			if !hasData {
				name, size = "", 0
				continue
			}
			if name == "" {
				name = "message"
			}
			return Event{ID: r.lastID, Name: name, Data: data}, nil
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(field) {
		case "event":
			name = string(value)
		case "data":
			if hasData {
				data = append(data, '\n')
			}
			data, hasData = append(data, value...), true
		case "id":
			if bytes.IndexByte(value, 0) < 0 {
				r.lastID = string(value)
			}
		} // "" is a comment; retry and unknown fields are ignored
	}
}

// line reads up to CR, LF or CRLF, without them. The LF of a CRLF is taken at
// the start of the next line: waiting for it would hold back an event.
func (r *Reader) line(limit int) ([]byte, error) {
	if !r.begun {
		r.begun = true
		if bom, _ := r.r.Peek(3); bytes.Equal(bom, []byte("\xef\xbb\xbf")) {
			_, _ = r.r.Discard(3)
		}
	}
	var out []byte
	for {
		c, err := r.r.ReadByte()
		if err != nil {
			return nil, err
		}
		lf := c == '\n' && r.afterCR && len(out) == 0
		r.afterCR = c == '\r'
		switch {
		case lf:
			continue
		case c == '\n' || c == '\r':
			return out, nil
		case len(out) >= limit:
			return nil, ErrTooLong
		}
		out = append(out, c)
	}
}
