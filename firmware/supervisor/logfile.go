package supervisor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// The log of an appliance: five files of a megabyte, the newest without a number.
const (
	logFileSize = 1 << 20
	logFiles    = 5
)

// rotated is a log file that never grows above its bound: the full one becomes
// .1, that one .2, and the oldest goes. It is not synced: a log is not worth a
// card's life. One goroutine uses it.
type rotated struct {
	path string
	max  int64
	keep int

	f    *os.File
	size int64
	torn bool // the last line was not written whole
}

// Write adds one line, which ends in a line break.
func (r *rotated) Write(line []byte) (int, error) {
	if r.f != nil && r.size > 0 && r.size+int64(len(line))+1 > r.max {
		if err := r.rotate(); err != nil {
			return 0, err
		}
	}
	if r.f == nil {
		if err := r.open(); err != nil {
			return 0, err
		}
	}
	if r.torn {
		n, err := r.f.Write([]byte("\n"))
		r.size += int64(n)
		if err != nil {
			return 0, err
		}
		r.torn = false
	}
	n, err := r.f.Write(line)
	r.size += int64(n)
	r.torn = n > 0 && n < len(line)
	return n, err
}

func (r *rotated) open() error {
	if err := os.MkdirAll(filepath.Dir(r.path), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(r.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0o640)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is no regular file", r.path)
	}
	if err != nil {
		f.Close()
		return err
	}
	r.f, r.size = f, info.Size()
	if r.size >= r.max { // of a version with another bound
		if err := r.rotate(); err != nil {
			return err
		}
		return r.open()
	}
	return nil
}

// rotate moves every file one number up. A number that is missing is no error.
func (r *rotated) rotate() error {
	r.close()
	r.torn = false
	for i := r.keep - 1; i > 0; i-- {
		from := r.path
		if i > 1 {
			from = fmt.Sprintf("%s.%d", r.path, i-1)
		}
		if err := os.Rename(from, fmt.Sprintf("%s.%d", r.path, i)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	if r.keep < 2 {
		return os.Remove(r.path)
	}
	return nil
}

func (r *rotated) close() {
	if r.f != nil {
		r.f.Close()
		r.f = nil
	}
}

// lineQueue stands before a writer that may be slow or fail: a card that is
// full, a console that nobody reads. Putting a line never waits; a line that
// finds no room, or cannot be written, is counted and the loss is told by the
// next one that is.
type lineQueue struct {
	lines chan []byte
	lost  atomic.Int64
	done  chan struct{}
}

// queuedLines bounds the lines that wait.
const queuedLines = 512

func newLineQueue() *lineQueue {
	return &lineQueue{lines: make(chan []byte, queuedLines), done: make(chan struct{})}
}

func (q *lineQueue) put(line []byte) {
	select {
	case q.lines <- line:
	default:
		q.lost.Add(1)
	}
}

// run writes until ctx ends and then what waits already. It is called once.
func (q *lineQueue) run(ctx context.Context, w io.Writer) {
	defer close(q.done)
	for {
		select {
		case line := <-q.lines:
			q.write(w, line)
		case <-ctx.Done():
			for {
				select {
				case line := <-q.lines:
					q.write(w, line)
				default:
					return
				}
			}
		}
	}
}

func (q *lineQueue) write(w io.Writer, line []byte) {
	if n := q.lost.Swap(0); n > 0 {
		if _, err := fmt.Fprintf(w, "homed: %d lines of the log were lost here\n", n); err != nil {
			q.lost.Add(n + 1)
			return
		}
	}
	if _, err := w.Write(line); err != nil {
		q.lost.Add(1)
	}
}

// sink is where the lines of all processes go on an appliance: all to the log
// file, and what somebody at the console wants to see to the console.
type sink struct {
	file, console *lineQueue
	stop          context.CancelFunc
}

// flushTime is what the last lines get at the end.
const flushTime = 2 * time.Second

// openSink starts writing. The goroutines end with close; one that hangs in a
// console that takes nothing ends with the process.
func openSink(path string, console io.Writer) *sink {
	ctx, stop := context.WithCancel(context.Background())
	s := &sink{file: newLineQueue(), console: newLineQueue(), stop: stop}
	go func() {
		file := &rotated{path: path, max: logFileSize, keep: logFiles}
		defer file.close()
		s.file.run(ctx, file)
	}()
	go s.console.run(ctx, console)
	return s
}

// Write takes one line.
func (s *sink) Write(p []byte) (int, error) {
	line := append([]byte(nil), p...)
	s.file.put(line)
	if forConsole(string(p)) {
		s.console.put(line)
	}
	return len(p), nil
}

// close writes what waits and ends both goroutines.
func (s *sink) close() {
	s.stop()
	limit := time.NewTimer(flushTime)
	defer limit.Stop()
	for _, q := range []*lineQueue{s.file, s.console} {
		select {
		case <-q.done:
		case <-limit.C:
			return
		}
	}
}

// forConsole leaves out what the processes tell of their daily life: their
// lines of the levels info and debug. The supervisor's own few, warnings, and
// what is printed for people stay.
func forConsole(line string) bool {
	quiet := strings.Contains(line, " level=INFO ") || strings.Contains(line, " level=DEBUG ")
	return !quiet || strings.HasPrefix(line, "homed: ") && !strings.Contains(line, " level=DEBUG ")
}
