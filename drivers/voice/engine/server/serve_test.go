package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"

	"homeagent/drivers/voice/engine/wire"
	"homeagent/drivers/voice/onnx"
	"homeagent/drivers/voice/speech"
)

// fakeBackend answers by the words of the grammar.
type fakeBackend struct {
	judged  int // judges that are open
	release chan struct{}
	closed  bool
}

func (f *fakeBackend) warm(ctx context.Context, grammar string) (string, error) {
	return grammar, ctx.Err()
}

func (f *fakeBackend) recognize(ctx context.Context, sound []int16, grammar string) (text, error) {
	switch grammar {
	case "waits":
		<-ctx.Done()
		return text{}, fmt.Errorf("recognize: %w", ctx.Err())
	case "hangs":
		<-f.release
	case "panics":
		panic("oops")
	case "missing":
		return text{}, fmt.Errorf("no model: %w", speech.ErrMissing)
	case "fails":
		return text{}, errors.New("broken")
	case "long":
		return text{words: strings.Repeat("x", wire.MaxHeader)}, nil
	}
	return text{words: fmt.Sprint(len(sound)), engine: "fake", command: true, note: "n"}, nil
}

type fakeJudge struct {
	script
	open *int
}

func (j *fakeJudge) Close() error {
	*j.open--
	return nil
}

func (f *fakeBackend) judge() (judge, error) {
	f.judged++
	return &fakeJudge{script{signs: "SSSSS"}, &f.judged}, nil
}

func (f *fakeBackend) words() (Words, error) { return fakeWords{}, nil }

func (f *fakeBackend) close() error {
	f.closed = true
	return nil
}

// peer is the client's end of a server under test.
type peer struct {
	t       *testing.T
	backend *fakeBackend
	in      *io.PipeWriter
	out     *io.PipeReader
	cancel  context.CancelFunc
	ended   chan error
}

// serving runs a server in a bubble until the test is over.
func serving(t *testing.T, test func(p *peer)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		inR, inW := io.Pipe()
		outR, outW := io.Pipe()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		p := &peer{t: t, backend: &fakeBackend{release: make(chan struct{})}, in: inW, out: outR, cancel: cancel, ended: make(chan error, 1)}
		go func() {
			err := serve(ctx, inR, outW, p.backend, slog.New(slog.DiscardHandler))
			outW.Close()
			p.ended <- err
		}()
		test(p)
	})
}

func (p *peer) send(req wire.Request, sound []int16) {
	p.t.Helper()
	b, err := wire.Append(nil, req, sound)
	if err != nil {
		p.t.Fatal(err)
	}
	if _, err := p.in.Write(b); err != nil {
		p.t.Fatal(err)
	}
}

func (p *peer) get() wire.Reply {
	p.t.Helper()
	var rep wire.Reply
	if _, err := wire.Read(p.out, &rep); err != nil {
		p.t.Fatal(err)
	}
	return rep
}

// end closes the server's input and gives its error.
func (p *peer) end() error {
	p.t.Helper()
	p.in.Close()
	go io.Copy(io.Discard, p.out)
	return <-p.ended
}

func TestServeAnswers(t *testing.T) {
	rows := []struct {
		name  string
		req   wire.Request
		fault wire.Kind
		text  string
	}{
		{"recognize", wire.Request{Op: wire.Recognize}, "", "3"},
		{"missing", wire.Request{Op: wire.Recognize, Grammar: "missing"}, wire.Missing, ""},
		{"fails", wire.Request{Op: wire.Recognize, Grammar: "fails"}, wire.Failed, ""},
		{"panics", wire.Request{Op: wire.Recognize, Grammar: "panics"}, wire.Failed, ""},
		{"an answer that is too long", wire.Request{Op: wire.Recognize, Grammar: "long"}, wire.Failed, ""},
		{"warm", wire.Request{Op: wire.Warm, Grammar: "g"}, "", ""},
		{"unknown operation", wire.Request{Op: "sing"}, wire.Invalid, ""},
		{"no operation", wire.Request{}, wire.Invalid, ""},
		{"feed of what is not open", wire.Request{Op: wire.Feed, Stream: 99}, wire.Invalid, ""},
		{"close of what is not open", wire.Request{Op: wire.Close, Stream: 99}, "", ""},
		{"afterwards all is well", wire.Request{Op: wire.Recognize}, "", "3"},
	}
	serving(t, func(p *peer) {
		for i, row := range rows {
			row.req.ID = uint64(i + 1)
			p.send(row.req, []int16{1, 2, 3})
			got := p.get()
			var kind wire.Kind
			if got.Fault != nil {
				kind = got.Fault.Kind
			}
			if got.ID != row.req.ID || kind != row.fault || got.Text != row.text {
				t.Errorf("%s: %+v, fault %q", row.name, got, kind)
			}
		}
		if err := p.end(); err != nil || !p.backend.closed {
			t.Errorf("end: %v, closed %v", err, p.backend.closed)
		}
	})
}

func TestServeCancel(t *testing.T) {
	serving(t, func(p *peer) {
		p.send(wire.Request{ID: 1, Op: wire.Recognize, Grammar: "waits"}, nil)
		p.send(wire.Request{ID: 2, Op: wire.Recognize}, nil)
		if got := p.get(); got.ID != 2 {
			t.Errorf("a request that waits held up another: %+v", got)
		}
		p.send(wire.Request{ID: 3, Op: wire.Cancel, Target: 7}, nil)
		p.send(wire.Request{ID: 4, Op: wire.Cancel, Target: 1}, nil)
		if got := p.get(); got.ID != 1 || got.Fault == nil || got.Fault.Kind != wire.Canceled {
			t.Errorf("%+v", got)
		}
		if err := p.end(); err != nil {
			t.Error(err)
		}
	})
}

func TestServeIsBounded(t *testing.T) {
	serving(t, func(p *peer) {
		for id := range uint64(maxRequests) {
			p.send(wire.Request{ID: id + 1, Op: wire.Recognize, Grammar: "waits"}, nil)
		}
		p.send(wire.Request{ID: 99, Op: wire.Warm}, nil)
		if got := p.get(); got.ID != 99 || got.Fault == nil || got.Fault.Kind != wire.Busy {
			t.Errorf("%+v", got)
		}
		p.send(wire.Request{ID: 1, Op: wire.Warm}, nil)
		if got := p.get(); got.ID != 1 || got.Fault == nil || got.Fault.Kind != wire.Invalid {
			t.Errorf("an id in use: %+v", got)
		}
		if err := p.end(); err != nil {
			t.Error(err)
		}
	})
}

func TestServeStreams(t *testing.T) {
	serving(t, func(p *peer) {
		p.send(wire.Request{ID: 1, Op: wire.Open}, nil)
		p.get()
		p.send(wire.Request{ID: 2, Op: wire.Open, TrailingMS: 100, Speech: &wire.Speech{Started: true, Heard: 512}}, nil)
		p.get()
		p.send(wire.Request{ID: 3, Op: wire.Feed, Stream: 1}, make([]int16, 3*onnx.Step))
		if got := p.get(); got.Speech == nil || !got.Speech.Started || got.Speech.Heard != 3*onnx.Step {
			t.Errorf("%+v", got.Speech)
		}
		p.send(wire.Request{ID: 4, Op: wire.Close, Stream: 1}, nil)
		p.get()
		if p.backend.judged != 1 {
			t.Errorf("%d judges are open, want 1", p.backend.judged)
		}
		for id := uint64(5); id < 5+maxStreams; id++ {
			p.send(wire.Request{ID: id, Op: wire.Open}, nil)
			if got := p.get(); (got.Fault != nil) != (id == 4+maxStreams) {
				t.Errorf("stream %d: %+v", id, got.Fault)
			}
		}
		if err := p.end(); err != nil || p.backend.judged != 0 {
			t.Errorf("end: %v, %d judges are open", err, p.backend.judged)
		}
	})
}

func TestServeOpenGivenUp(t *testing.T) {
	s := &server{backend: &fakeBackend{}, streams: map[uint64]*stream{}}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.open(ctx, wire.Request{ID: 1}); !errors.Is(err, context.Canceled) || len(s.streams) != 0 {
		t.Errorf("%v, %d streams", err, len(s.streams))
	}
}

func TestServeEnds(t *testing.T) {
	rows := []struct {
		name string
		end  func(p *peer)
		err  string
	}{
		{"input ends", func(p *peer) { p.in.Close() }, ""},
		{"cancelled", func(p *peer) { p.cancel() }, ""},
		{"garbage", func(p *peer) { p.in.Write([]byte("GET / HTTP/1.1\r\n\r\n")) }, "not a frame"},
		{"input ends in a frame", func(p *peer) {
			p.in.Write([]byte{0, 0, 0, 9, 0, 0, 0, 0, '{'})
			p.in.Close()
		}, "unexpected EOF"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			serving(t, func(p *peer) {
				p.send(wire.Request{ID: 1, Op: wire.Recognize, Grammar: "waits"}, nil)
				synctest.Wait()
				go io.Copy(io.Discard, p.out)
				go row.end(p)
				err := <-p.ended
				if (err == nil) != (row.err == "") || err != nil && !strings.Contains(err.Error(), row.err) {
					t.Errorf("error %v, want %q", err, row.err)
				}
				if !p.backend.closed {
					t.Error("the engines were not freed")
				}
			})
		})
	}
	t.Run("an engine hangs", func(t *testing.T) {
		serving(t, func(p *peer) {
			p.send(wire.Request{ID: 1, Op: wire.Recognize, Grammar: "hangs"}, nil)
			if err := p.end(); err == nil || p.backend.closed {
				t.Errorf("error %v, freed under a running engine: %v", err, p.backend.closed)
			}
			close(p.backend.release)
		})
	})
}
