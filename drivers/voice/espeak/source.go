package espeak

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"

	"homeagent/agent/pcm"
	"homeagent/agent/pcm/resample"
	"homeagent/agent/pcm/wav"
	"homeagent/drivers/voice/sentence"
)

// native is what espeak-ng's own voices give.
var native = pcm.Format{Rate: 22050, Channels: 1}

// run is a piece of text for one process.
type run struct {
	text, lang string
	last       bool // of its sentence: a pause follows
}

// runs cuts a text into sentences and those by script, as it is consumed.
func runs(text, lang string) iter.Seq[run] {
	return func(yield func(run) bool) {
		for s := range sentence.Split(text, longestSentence) {
			parts := sentence.Parts(s, lang)
			for i, p := range parts {
				// espeak-ng reads a mark that stands alone by its name.
				if !strings.ContainsFunc(p.Text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
					continue
				}
				if !yield(run{p.Text, p.Lang, i == len(parts)-1}) {
					return
				}
			}
		}
	}
}

// source joins the sound of all runs.
type source struct {
	cfg  Config
	path string

	mu     sync.Mutex
	next   func() (run, bool)
	stop   func()
	cur    *process
	format pcm.Format
	closed bool
}

var _ pcm.Source = (*source)(nil)

var errClosed = errors.New("speech was closed")

func newSource(cfg Config, path string, r iter.Seq[run]) *source {
	s := &source{cfg: cfg, path: path, format: native}
	s.next, s.stop = iter.Pull(r)
	return s
}

// start begins the first run and learns the format.
func (s *source) start() error {
	p, err := s.advance()
	if err != nil || p == nil {
		return err
	}
	f, err := p.open()
	if err == io.EOF {
		s.mu.Lock()
		s.cur = nil // Read goes on with the next run
		s.mu.Unlock()
		return nil
	}
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.format = f
	return nil
}

// advance starts the next run's process, nil where none is left.
func (s *source) advance() (*process, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cur = nil
	if s.closed {
		return nil, errClosed
	}
	r, ok := s.next()
	if !ok {
		return nil, nil
	}
	p, err := startProcess(s.cfg, s.path, r)
	s.cur = p
	return p, err
}

// Format implements pcm.Source.
func (s *source) Format() pcm.Format {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.format
}

// Read implements pcm.Source.
func (s *source) Read(ctx context.Context, buf []int16) (int, error) {
	n := 0
	for n < len(buf) {
		if err := ctx.Err(); err != nil {
			return n, err
		}
		s.mu.Lock()
		p, closed, format := s.cur, s.closed, s.format
		s.mu.Unlock()
		if closed {
			return n, errClosed
		}
		if p == nil {
			var err error
			if p, err = s.advance(); err != nil {
				return n, err
			}
			if p == nil {
				return n, io.EOF
			}
		}
		kill := context.AfterFunc(ctx, p.kill)
		k, err := p.read(ctx, buf[n:], format)
		kill()
		n += k
		if err == nil {
			continue
		}
		if werr := p.wait(); err == io.EOF {
			err = werr
		}
		s.mu.Lock()
		s.cur = nil
		s.mu.Unlock()
		switch {
		case ctx.Err() != nil:
			return n, ctx.Err()
		case err != nil:
			return n, fmt.Errorf("%s: %w", program, err)
		}
	}
	return n, nil
}

// Close implements pcm.Source: the process is killed and waited for.
func (s *source) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	s.stop()
	if s.cur != nil {
		s.cur.kill()
		s.cur.wait() // it was killed: its error says nothing
	}
	return nil
}

// process is one run of the program.
type process struct {
	cmd    *exec.Cmd
	out    io.ReadCloser
	stderr bytes.Buffer
	cancel context.CancelFunc
	cfg    Config
	hung   *time.Timer
	dead   atomic.Bool // the watchdog killed it

	once sync.Once
	werr error

	src pcm.Source // after open
}

func startProcess(cfg Config, path string, r run) (*process, error) {
	voice := "en-us"
	if r.lang == "zh" {
		voice = "cmn"
	}
	args := []string{"-v", voice, "-s", strconv.Itoa(cfg.Speed), "-b", "1", "--stdin", "--stdout"}
	if !r.last {
		args = append(args, "-z")
	}
	ctx, cancel := context.WithCancel(context.Background())
	p := &process{cancel: cancel, cfg: cfg}
	p.cmd = exec.CommandContext(ctx, path, args...)
	p.cmd.WaitDelay = time.Second
	p.cmd.Env = environment()
	p.cmd.Stdin = strings.NewReader(r.text + "\n")
	p.cmd.Stderr = &bounded{b: &p.stderr}
	var err error
	if p.out, err = p.cmd.StdoutPipe(); err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		cancel()
		return nil, err
	}
	p.hung = time.AfterFunc(cfg.Wait, func() { p.dead.Store(true); cancel() })
	return p, nil
}

// environment keeps everything from the program that it does not need.
func environment() []string {
	env := []string{"LC_ALL=C.UTF-8"}
	for _, k := range []string{"PATH", "HOME", "ESPEAK_DATA_PATH"} {
		if v := os.Getenv(k); v != "" {
			env = append(env, k+"="+v)
		}
	}
	return env
}

// open reads the header. io.EOF is a run without any sound, as of characters
// that the voice does not know.
func (p *process) open() (pcm.Format, error) {
	if p.src != nil {
		return p.src.Format(), nil
	}
	p.hung.Reset(p.cfg.Wait)
	src, err := wav.NewSource(io.NopCloser(p.out))
	p.hung.Stop()
	if err != nil {
		var w *wav.Error
		if werr := p.wait(); werr != nil {
			err = werr
		} else if errors.As(err, &w) && w.Code == wav.Empty {
			err = io.EOF
		}
		return pcm.Format{}, err
	}
	p.src = src
	return src.Format(), nil
}

// read gives samples in the format.
func (p *process) read(ctx context.Context, buf []int16, f pcm.Format) (int, error) {
	if _, err := p.open(); err != nil {
		return 0, err
	}
	if p.src.Format() != f {
		src, err := resample.NewSource(p.src, f)
		if err != nil {
			return 0, err
		}
		p.src = src
	}
	p.hung.Reset(p.cfg.Wait)
	n, err := p.src.Read(ctx, buf)
	p.hung.Stop() // the reader may take its time
	return n, err
}

func (p *process) kill() { p.cancel() }

// wait reaps the process and tells why it failed.
func (p *process) wait() error {
	p.once.Do(func() {
		p.hung.Stop()
		err := p.cmd.Wait()
		p.cancel()
		if err == nil {
			return
		}
		if p.dead.Load() {
			p.werr = fmt.Errorf("nothing came for %s", p.cfg.Wait)
			return
		}
		p.werr = err
		if text := strings.Join(strings.Fields(p.stderr.String()), " "); text != "" {
			p.werr = fmt.Errorf("%w: %s", err, text)
		}
	})
	return p.werr
}

// bounded keeps the first kilobyte.
type bounded struct{ b *bytes.Buffer }

func (w *bounded) Write(p []byte) (int, error) {
	w.b.Write(p[:min(len(p), max(0, 1024-w.b.Len()))])
	return len(p), nil
}
