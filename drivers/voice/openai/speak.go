package openai

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"net/http"
	"strings"
	"time"

	"homeagent/agent/pcm"
	"homeagent/agent/pcm/wav"
	"homeagent/drivers/voice/sentence"
	"homeagent/drivers/voice/speech"
)

const (
	// firstRunes bounds the first piece of a text, so that speaking begins
	// early; laterRunes the others. A service takes at most 4096.
	firstRunes = 200
	laterRunes = 1000
	// soundBytes bounds the sound of one piece: 1000 characters of Chinese are
	// five minutes, 15 MB at 24 kHz.
	soundBytes = 32 << 20
)

// Speaker speaks over the network.
type Speaker struct{ s *service }

var _ speech.Synthesizer = (*Speaker)(nil)

// NewSpeaker checks the configuration; it connects to nothing yet.
func NewSpeaker(cfg Config) (*Speaker, error) {
	s, err := newService(cfg)
	if err != nil {
		return nil, err
	}
	return &Speaker{s}, nil
}

// Name implements speech.Synthesizer: the service's host.
func (s *Speaker) Name() string { return s.s.name() }

// Langs implements speech.Synthesizer.
func (s *Speaker) Langs() []string { return s.s.langs() }

// Synthesize implements speech.Synthesizer. It returns when the first piece's
// sound begins to arrive; the others are asked for one ahead of the reader. A
// text without anything to say gives a Source that ends at once. The Source
// has the first piece's format.
func (s *Speaker) Synthesize(ctx context.Context, text, lang string) (pcm.Source, error) {
	if err := ctx.Err(); err != nil {
		return nil, s.s.failed(ctx, "speak", err)
	}
	text = sentence.Plain(text)
	if text == "" {
		return &silence{}, nil
	}
	next, stop := iter.Pull(pieces(text))
	first, _ := next()
	src := &stream{s: s, next: next, stop: stop}
	src.ctx, src.cancel = context.WithCancel(context.WithoutCancel(ctx))
	// The caller's context bounds the wait for the first sound, not the playing.
	release := context.AfterFunc(ctx, src.cancel)
	cur, err := s.request(src.ctx, first)
	if !release() && err == nil {
		cur.Close()
		err = s.s.failed(ctx, "speak", ctx.Err())
	}
	if err != nil {
		src.cancel()
		stop()
		return nil, err
	}
	src.cur, src.format = cur, cur.Format()
	src.ask()
	return src, nil
}

// pieces groups sentences: the first alone, then as many as fit.
func pieces(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		var b strings.Builder
		room, max := 0, firstRunes
		flush := func() bool {
			if b.Len() == 0 {
				return true
			}
			ok := yield(b.String())
			b.Reset()
			return ok
		}
		for p := range sentence.Split(text, firstRunes) {
			c := len([]rune(p))
			if b.Len() > 0 && c+1 > room {
				if !flush() {
					return
				}
			}
			if b.Len() == 0 {
				room = max
				if max == firstRunes {
					room = c // one sentence, to begin early
				}
				max = laterRunes
			} else {
				b.WriteByte(' ')
				room--
			}
			b.WriteString(p)
			room -= c
		}
		flush()
	}
}

// request asks for one piece and returns its sound as it arrives.
func (s *Speaker) request(ctx context.Context, text string) (pcm.Source, error) {
	const op = "speak"
	body, err := json.Marshal(struct {
		Model  string `json:"model"`
		Input  string `json:"input"`
		Voice  string `json:"voice"`
		Format string `json:"response_format"`
	}{s.s.cfg.Model, text, s.s.cfg.Voice, "wav"})
	if err != nil {
		return nil, &Error{Op: op, Code: Refused, Err: err, Detail: err.Error()}
	}
	rctx, cancel := context.WithCancelCause(ctx)
	late := time.AfterFunc(s.s.cfg.Wait, func() { cancel(context.DeadlineExceeded) })
	resp, err := s.s.post(rctx, op, "audio/speech", "application/json", body)
	if err != nil {
		late.Stop()
		err = s.cause(rctx, err)
		cancel(nil)
		return nil, err
	}
	b := &arriving{s: s, resp: resp, ctx: rctx, cancel: cancel, late: late, left: soundBytes}
	late.Stop()
	src, err := s.decode(b)
	if err != nil {
		b.Close()
		return nil, err
	}
	return src, nil
}

// cause tells a wait that ran out from a connection that broke.
func (s *Speaker) cause(ctx context.Context, err error) error {
	if errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		return &Error{Op: "speak", Code: Slow, Err: context.DeadlineExceeded, Detail: "no sound within " + s.s.cfg.Wait.String()}
	}
	return err
}

// decode looks at what came and opens it as WAV.
func (s *Speaker) decode(b *arriving) (pcm.Source, error) {
	const op = "speak"
	br := bufio.NewReaderSize(b, 4096)
	start, err := br.Peek(4)
	if err != nil {
		if err == io.EOF {
			return nil, s.s.nonsense(op, "%d bytes instead of sound", len(start))
		}
		return nil, err
	}
	if kind := sniff(start); kind != "WAV" && kind != "" {
		return nil, &Error{Op: op, Code: Format, Detail: kind}
	} else if kind == "" {
		more, _ := br.Peek(80)
		return nil, s.s.nonsense(op, "no sound: %q", more)
	}
	src, err := wav.NewSource(struct {
		io.Reader
		io.Closer
	}{br, b})
	if err == nil {
		return src, nil
	}
	var w *wav.Error
	if errors.As(err, &w) && w.Err != nil {
		return nil, w.Err // of the network
	}
	if w != nil && w.Code == wav.Unsupported {
		return nil, &Error{Op: op, Code: Format, Err: err, Detail: w.Detail}
	}
	return nil, s.s.nonsense(op, "%v", err)
}

// sniff names the format that bytes begin, "" for no sound.
func sniff(b []byte) string {
	switch {
	case bytes.HasPrefix(b, []byte("RIFF")), bytes.HasPrefix(b, []byte("RF64")):
		return "WAV"
	case bytes.HasPrefix(b, []byte("ID3")), len(b) > 1 && b[0] == 0xff && b[1]&0xe6 == 0xe2:
		return "MP3"
	case len(b) > 1 && b[0] == 0xff && b[1]&0xf6 == 0xf0:
		return "AAC"
	case bytes.HasPrefix(b, []byte("OggS")):
		return "Ogg"
	case bytes.HasPrefix(b, []byte("fLaC")):
		return "FLAC"
	}
	return ""
}

// arriving is a response body with a deadline for each read and a bound.
type arriving struct {
	s      *Speaker
	resp   *http.Response
	ctx    context.Context
	cancel context.CancelCauseFunc
	late   *time.Timer
	left   int64
}

func (a *arriving) Read(b []byte) (int, error) {
	if a.left <= 0 {
		return 0, a.s.s.nonsense("speak", "more than %d bytes of sound", soundBytes)
	}
	a.late.Reset(a.s.s.cfg.Wait)
	n, err := a.resp.Body.Read(b[:min(int64(len(b)), a.left)])
	a.late.Stop()
	a.left -= int64(n)
	switch {
	case err == io.ErrUnexpectedEOF && n == 0:
		// A connection that broke off: what came can be played.
		return 0, a.s.s.failed(a.ctx, "speak", err)
	case err != nil && err != io.EOF:
		return n, a.s.cause(a.ctx, a.s.s.failed(a.ctx, "speak", err))
	}
	return n, err
}

// Close ends the request.
func (a *arriving) Close() error {
	a.late.Stop()
	a.cancel(context.Canceled)
	return a.resp.Body.Close()
}
