package supervisor

import (
	"bufio"
	"fmt"
	"io"
	"sync"
	"unicode/utf8"
)

// ring keeps the last lines of all processes for the control socket.
type ring struct {
	mu    sync.Mutex
	lines []string
	next  int
	full  bool
	out   io.Writer
}

const (
	ringLines   = 2000
	maxLogLine  = 8 << 10
	lastWordLen = 600
)

func newRing(out io.Writer) *ring { return &ring{lines: make([]string, ringLines), out: out} }

// redirect sends what follows to another writer.
func (r *ring) redirect(out io.Writer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.out = out
}

func (r *ring) add(line string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines[r.next] = line
	r.next++
	if r.next == len(r.lines) {
		r.next, r.full = 0, true
	}
	fmt.Fprintln(r.out, line)
}

// last returns up to n lines, oldest first.
func (r *ring) last(n int) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []string
	if r.full {
		all = append(all, r.lines[r.next:]...)
	}
	all = append(all, r.lines[:r.next]...)
	if n > 0 && len(all) > n {
		all = all[len(all)-n:]
	}
	return all
}

// follow copies a process's output line by line until its end and returns the
// last line, which often says why it ended.
func (r *ring) follow(name string, from io.Reader) string {
	var last string
	in := bufio.NewReaderSize(from, maxLogLine)
	for {
		line, more, err := in.ReadLine()
		if len(line) > 0 {
			last = string(line)
			r.add(name + ": " + last)
		}
		for more && err == nil { // the rest of an overlong line is dropped
			_, more, err = in.ReadLine()
		}
		if err != nil {
			return cut(last)
		}
	}
}

// cut shortens a last word, between characters.
func cut(s string) string {
	if len(s) <= lastWordLen {
		return s
	}
	n := lastWordLen
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// Write makes the ring a sink for the supervisor's own log.
func (r *ring) Write(p []byte) (int, error) {
	n := len(p)
	if n > 0 && p[n-1] == '\n' {
		p = p[:n-1]
	}
	r.add("homed: " + string(p))
	return n, nil
}
