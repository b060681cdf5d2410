package emulator

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"
)

// maxLogLines bounds what a Log keeps; a guest that prints without end loses its
// oldest lines, not this computer's memory.
const maxLogLines = 200_000

// ErrLogEnded is a wait for a line of a machine that has ended.
var ErrLogEnded = errors.New("the machine ended before it printed that")

// Log is what a guest prints on its serial consoles, line by line.
type Log struct {
	mu      sync.Mutex
	lines   []string
	dropped int
	sources int
	ended   bool
	changed chan struct{} // closed and replaced at each line
}

func newLog(sources int) *Log {
	return &Log{changed: make(chan struct{}), sources: sources}
}

// Wait returns the first line that fits, with its submatches, or an error that
// carries the end of the log.
func (l *Log) Wait(ctx context.Context, re *regexp.Regexp) ([]string, error) {
	return l.WaitFrom(ctx, 0, re)
}

// WaitFrom is Wait for lines whose number is at least from; see Lines.
func (l *Log) WaitFrom(ctx context.Context, from int, re *regexp.Regexp) ([]string, error) {
	for {
		l.mu.Lock()
		from = max(from, l.dropped)
		fresh, changed, ended := l.lines[min(from-l.dropped, len(l.lines)):], l.changed, l.ended
		l.mu.Unlock()
		for _, line := range fresh {
			if m := re.FindStringSubmatch(line); m != nil {
				return m, nil
			}
		}
		from += len(fresh)
		if ended {
			return nil, fmt.Errorf("wait for %q: %w\n%s", re, ErrLogEnded, l.Tail(40))
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for %q: %w\n%s", re, ctx.Err(), l.Tail(40))
		}
	}
}

// Lines is the number of lines so far: the place from which WaitFrom sees only
// what comes later.
func (l *Log) Lines() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.dropped + len(l.lines)
}

// String is the whole log.
func (l *Log) String() string { return l.Tail(maxLogLines) }

// Tail is the last n lines.
func (l *Log) Tail(n int) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.lines[max(0, len(l.lines)-n):], "\n")
}

func (l *Log) add(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.lines) >= maxLogLines {
		half := len(l.lines) / 2
		l.lines = append([]string(nil), l.lines[half:]...)
		l.dropped += half
	}
	l.lines = append(l.lines, line)
	close(l.changed)
	l.changed = make(chan struct{})
}

// follow reads one console to its end. Two consoles may share a log: only whole
// lines meet in it. The bytes also go to echo as they come.
func (l *Log) follow(console io.Reader, echo io.Writer) {
	var rest []byte
	buf := make([]byte, 4096)
	for {
		n, err := console.Read(buf)
		if echo != nil && n > 0 {
			echo.Write(buf[:n]) // a terminal that is gone does not end the machine
		}
		rest = append(rest, buf[:n]...)
		for {
			line, after, ok := bytes.Cut(rest, []byte{'\n'})
			if !ok {
				break
			}
			l.add(strings.Trim(string(line), "\r"))
			rest = append(rest[:0], after...)
		}
		if err != nil || len(rest) > 1<<20 {
			if len(rest) > 0 {
				l.add(strings.Trim(string(rest), "\r"))
				rest = rest[:0]
			}
		}
		if err != nil {
			break
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.sources--; l.sources == 0 {
		l.ended = true
		close(l.changed)
		l.changed = make(chan struct{})
	}
}
