package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"time"

	"homeagent/drivers/voice/engine/wire"
	"homeagent/drivers/voice/speech"
)

// The bounds of one process.
const (
	maxRequests = 16
	maxStreams  = 16
	// grace is how long running requests are waited for at the end.
	grace = 2 * time.Second
)

// text is what was understood.
type text struct {
	words   string
	engine  string
	command bool
	note    string
}

// backend is what the protocol is in front of. Its methods are called by
// several goroutines.
type backend interface {
	warm(ctx context.Context, grammar string) (note string, err error)
	recognize(ctx context.Context, sound []int16, grammar string) (text, error)
	judge() (judge, error)
	// words is the dictionary, loaded.
	words() (Words, error)
	close() error
}

// Serve answers requests from in on out until in ends or ctx is done; it is
// the whole engines process. A request that fails is answered with a fault;
// only a client that does not speak the protocol, or is gone, makes an error.
// If in is an io.Closer it is closed, so that its reader ends.
//
// When memory runs out this is the process that the kernel should end: the
// agent starts it again, while nothing else of the house comes back as fast.
func Serve(ctx context.Context, in io.Reader, out io.Writer, opt Options) error {
	if err := os.WriteFile("/proc/self/oom_score_adj", []byte("800"), 0); err != nil {
		opt.log().Debug("engines: memory priority", "err", err)
	}
	return serve(ctx, in, out, newModels(opt), opt.log())
}

// server is one connection.
type server struct {
	log     *slog.Logger
	backend backend

	outMu sync.Mutex
	out   io.Writer

	mu      sync.Mutex
	running map[uint64]context.CancelFunc
	streams map[uint64]*stream
	wg      sync.WaitGroup
}

// stream is an endpointer and the lock that its requests take in turn.
type stream struct {
	mu  sync.Mutex
	end *endpoint
}

// incoming is one frame from the client, or the reader's last word.
type incoming struct {
	req   wire.Request
	sound []int16
	err   error
}

func serve(ctx context.Context, in io.Reader, out io.Writer, b backend, log *slog.Logger) error {
	ctx, cancel := context.WithCancel(ctx)
	s := &server{log: log, backend: b, out: out, running: map[uint64]context.CancelFunc{}, streams: map[uint64]*stream{}}
	frames := make(chan incoming)
	go read(ctx, in, frames)
	err := s.loop(ctx, frames)
	cancel()
	if c, ok := in.(io.Closer); ok {
		c.Close() // ends the reader; the process is about to end
	}
	if !s.wait() {
		// An engine hangs in C code; freeing what it uses would be worse.
		return errors.Join(err, errors.New("engines: a request did not end in time"))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, st := range s.streams {
		st.end.judge.Close()
	}
	return errors.Join(err, b.close())
}

// read turns the input into frames until it ends; it sends the error last.
func read(ctx context.Context, in io.Reader, frames chan<- incoming) {
	for {
		var f incoming
		f.sound, f.err = wire.Read(in, &f.req)
		select {
		case frames <- f:
		case <-ctx.Done():
			return
		}
		if f.err != nil {
			return
		}
	}
}

func (s *server) loop(ctx context.Context, frames <-chan incoming) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case f := <-frames:
			switch {
			case f.err == io.EOF:
				return nil
			case f.err != nil:
				return fmt.Errorf("engines: read request: %w", f.err)
			}
			s.start(ctx, f.req, f.sound)
		}
	}
}

// wait gives running requests their grace.
func (s *server) wait() bool {
	done := make(chan struct{})
	go func() {
		s.wg.Wait()
		close(done)
	}()
	t := time.NewTimer(grace)
	defer t.Stop()
	select {
	case <-done:
		return true
	case <-t.C:
		return false
	}
}

// start gives a request its goroutine.
func (s *server) start(ctx context.Context, req wire.Request, sound []int16) {
	if req.Op == wire.Cancel {
		s.mu.Lock()
		defer s.mu.Unlock()
		if stop := s.running[req.Target]; stop != nil {
			stop()
		}
		return
	}
	rctx, cancel := context.WithCancel(ctx)
	if fault := s.admit(req.ID, cancel); fault != nil {
		cancel()
		s.reply(wire.Reply{ID: req.ID, Fault: fault})
		return
	}
	s.wg.Go(func() {
		rep := s.answer(rctx, req, sound)
		rep.ID = req.ID
		s.mu.Lock()
		delete(s.running, req.ID)
		s.mu.Unlock()
		cancel()
		s.reply(rep)
	})
}

// admit notes a request as running, or tells why it may not.
func (s *server) admit(id uint64, cancel context.CancelFunc) *wire.Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, twice := s.running[id]; twice {
		return &wire.Fault{Kind: wire.Invalid, Text: fmt.Sprintf("the id %d is in use", id)}
	}
	if len(s.running) >= maxRequests {
		return &wire.Fault{Kind: wire.Busy, Text: "too many requests at once"}
	}
	s.running[id] = cancel
	return nil
}

// answer runs a request; whatever it does, there is a reply.
func (s *server) answer(ctx context.Context, req wire.Request, sound []int16) (rep wire.Reply) {
	defer func() {
		if p := recover(); p != nil {
			s.log.Error("engines: a request panicked", "op", req.Op, "panic", p)
			rep = wire.Reply{Fault: &wire.Fault{Kind: wire.Failed, Text: fmt.Sprint("panic: ", p)}}
		}
	}()
	rep, err := s.do(ctx, req, sound)
	if err != nil {
		kind := wire.Failed
		var bad invalid
		switch {
		case errors.Is(err, context.Canceled):
			kind = wire.Canceled
		case errors.Is(err, speech.ErrMissing):
			kind = wire.Missing
		case errors.As(err, &bad):
			kind = wire.Invalid
		}
		return wire.Reply{Fault: &wire.Fault{Kind: kind, Text: err.Error()}}
	}
	return rep
}

// invalid is a request that makes no sense.
type invalid string

func (e invalid) Error() string { return string(e) }

func (s *server) do(ctx context.Context, req wire.Request, sound []int16) (wire.Reply, error) {
	switch req.Op {
	case wire.Warm:
		note, err := s.backend.warm(ctx, req.Grammar)
		return wire.Reply{Note: note}, err
	case wire.Recognize:
		t, err := s.backend.recognize(ctx, sound, req.Grammar)
		return wire.Reply{Text: t.words, Engine: t.engine, Command: t.command, Note: t.note}, err
	case wire.Open:
		return wire.Reply{}, s.open(ctx, req)
	case wire.Feed:
		st := s.stream(req.Stream)
		if st == nil {
			return wire.Reply{}, invalid(fmt.Sprintf("stream %d is not open", req.Stream))
		}
		st.mu.Lock()
		defer st.mu.Unlock()
		found, err := st.end.feed(sound)
		return wire.Reply{Speech: &found}, err
	case wire.Close:
		return wire.Reply{}, s.closeStream(req.Stream)
	case wire.Tag, wire.Keywords:
		words, err := cut(ctx, s.backend, req)
		return wire.Reply{Words: words}, err
	}
	return wire.Reply{}, invalid(fmt.Sprintf("unknown operation %q", req.Op))
}

// open adds a stream, unless the request was given up: a Cancel before it
// ends ctx under the same lock, and nobody would close the stream.
func (s *server) open(ctx context.Context, req wire.Request) error {
	if n := s.openStreams(); n >= maxStreams {
		return invalid(fmt.Sprintf("%d endpointers are open", n))
	}
	j, err := s.backend.judge()
	if err != nil {
		return err
	}
	st := &stream{end: newEndpoint(j, time.Duration(req.TrailingMS)*time.Millisecond, req.Speech)}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return errors.Join(err, j.Close())
	}
	s.streams[req.ID] = st
	return nil
}

func (s *server) openStreams() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.streams)
}

func (s *server) stream(id uint64) *stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.streams[id]
}

func (s *server) closeStream(id uint64) error {
	s.mu.Lock()
	st := s.streams[id]
	delete(s.streams, id)
	s.mu.Unlock()
	if st == nil {
		return nil
	}
	st.mu.Lock() // a feed may still run
	defer st.mu.Unlock()
	return st.end.judge.Close()
}

// reply writes one frame. A failure means that the client is gone; the reader
// will see its end.
func (s *server) reply(rep wire.Reply) {
	buf, err := wire.Append(nil, rep, nil)
	if err != nil {
		buf, err = wire.Append(nil, wire.Reply{ID: rep.ID, Fault: &wire.Fault{Kind: wire.Failed, Text: err.Error()}}, nil)
	}
	if err != nil {
		s.log.Error("engines: reply", "err", err)
		return
	}
	s.outMu.Lock()
	defer s.outMu.Unlock()
	if _, err := s.out.Write(buf); err != nil {
		s.log.Debug("engines: reply", "err", err)
	}
}
