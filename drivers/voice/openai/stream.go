package openai

import (
	"context"
	"errors"
	"io"
	"sync"

	"homeagent/agent/pcm"
	"homeagent/agent/pcm/resample"
)

// piece is the answer to one request.
type piece struct {
	src pcm.Source
	err error
}

// stream joins the pieces of a text.
type stream struct {
	s      *Speaker
	format pcm.Format
	ctx    context.Context
	cancel context.CancelFunc
	next   func() (string, bool)
	stop   func()

	mu     sync.Mutex
	cur    pcm.Source
	ahead  chan piece // nil when no text is left
	closed bool
	end    error // what every further Read gives
}

var _ pcm.Source = (*stream)(nil)

// Format implements pcm.Source.
func (st *stream) Format() pcm.Format { return st.format }

// ask requests the next piece; st.mu is held, or nobody else knows st yet.
func (st *stream) ask() {
	st.ahead = nil
	text, ok := st.next()
	if !ok {
		return
	}
	ahead := make(chan piece, 1)
	st.ahead = ahead
	go func() { // ends with st.ctx at the latest
		src, err := st.s.request(st.ctx, text)
		if err == nil {
			src, err = st.fit(src)
		}
		st.mu.Lock()
		defer st.mu.Unlock()
		if st.closed && err == nil {
			src.Close()
			return
		}
		ahead <- piece{src, err} // has room for one
	}()
}

// fit converts a piece that came in another format than the first.
func (st *stream) fit(src pcm.Source) (pcm.Source, error) {
	out, err := resample.NewSource(src, st.format)
	if err != nil {
		src.Close()
	}
	return out, err
}

// Read implements pcm.Source.
func (st *stream) Read(ctx context.Context, buf []int16) (int, error) {
	n := 0
	for n < len(buf) {
		st.mu.Lock()
		cur, ahead, end, closed := st.cur, st.ahead, st.end, st.closed
		st.mu.Unlock()
		switch {
		case closed:
			return n, &Error{Op: "speak", Code: Unreachable, Err: io.ErrClosedPipe, Detail: "closed"}
		case end != nil:
			return n, end
		case ctx.Err() != nil:
			return n, st.s.s.failed(ctx, "speak", ctx.Err())
		case cur != nil:
			stopRead := context.AfterFunc(ctx, func() { cur.Close() })
			k, err := cur.Read(ctx, buf[n:])
			stopRead()
			n += k
			if err != nil {
				st.finish(cur, err)
			}
		case ahead == nil:
			st.fail(io.EOF)
		default:
			select {
			case p := <-ahead:
				st.take(p)
			case <-ctx.Done():
			}
		}
	}
	return n, nil
}

// finish drops the piece that has ended.
func (st *stream) finish(cur pcm.Source, err error) {
	cur.Close()
	st.mu.Lock()
	defer st.mu.Unlock()
	st.cur = nil
	if err != io.EOF {
		st.end = unwrap(err)
	}
}

// unwrap gives the network's error where the WAV reader has wrapped it.
func unwrap(err error) error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &Error{Op: "speak", Code: Nonsense, Err: err, Detail: err.Error()}
}

// take makes the next piece the current one and asks for the one after it.
func (st *stream) take(p piece) {
	st.mu.Lock()
	defer st.mu.Unlock()
	switch {
	case st.closed:
		if p.src != nil {
			p.src.Close()
		}
		st.ahead = nil
	case p.err != nil:
		st.end, st.ahead = p.err, nil
	default:
		st.cur = p.src
		st.ask()
	}
}

func (st *stream) fail(err error) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.end = err
}

// Close implements pcm.Source. A request that is under way is cancelled.
func (st *stream) Close() error {
	st.mu.Lock()
	if st.closed {
		st.mu.Unlock()
		return nil
	}
	st.closed = true
	st.cancel()
	st.stop()
	cur := st.cur
	select {
	case p := <-st.ahead: // nil where no text is left
		if p.src != nil {
			p.src.Close()
		}
	default: // on its way: it finds the stream closed
	}
	st.mu.Unlock()
	if cur != nil {
		cur.Close()
	}
	return nil
}

// silence is the Source of a text with nothing to say.
type silence struct{}

func (silence) Format() pcm.Format { return pcm.Format{Rate: 24000, Channels: 1} }

func (silence) Read(ctx context.Context, _ []int16) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	return 0, io.EOF
}

func (silence) Close() error { return nil }
