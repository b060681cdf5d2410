package link

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/yamux"
)

// ErrNoAgent is returned by Open while no agent is linked.
var ErrNoAgent = errors.New("link: the agent is not connected")

// ErrBusy is returned by Open when too many streams are open.
var ErrBusy = errors.New("link: too many streams are open")

// Hub is the door's side: it takes the agent's link and opens streams over it.
type Hub struct {
	secret string
	log    *slog.Logger

	mu      sync.Mutex
	session *yamux.Session
	changed chan struct{} // closed and replaced when session changes
	closed  bool
	wg      sync.WaitGroup
	slots   chan struct{}
}

// NewHub makes a hub. With an empty secret it takes no link.
func NewHub(secret string, log *slog.Logger) *Hub {
	return &Hub{secret: secret, log: log, changed: make(chan struct{}), slots: make(chan struct{}, maxStreams)}
}

// ServeHTTP takes a link from a request to Path. The caller has seen to it
// that the request came by the unix socket.
func (h *Hub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !strings.EqualFold(r.Header.Get("Upgrade"), protocol) {
		w.Header().Set("Upgrade", protocol)
		http.Error(w, "this path speaks "+protocol+" only", http.StatusUpgradeRequired)
		return
	}
	if !sameSecret(r.Header.Get(secretHeader), h.secret) {
		h.log.Warn("link refused: wrong secret")
		http.Error(w, "wrong link secret", http.StatusForbidden)
		return
	}
	conn, rw, err := http.NewResponseController(w).Hijack()
	if err != nil {
		h.log.Error("link refused", "err", err)
		http.Error(w, "cannot upgrade", http.StatusInternalServerError)
		return
	}
	// The server's own deadlines do not belong to the link.
	_ = conn.SetDeadline(time.Now().Add(shakeTime))
	_, err = rw.WriteString("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: " + protocol + "\r\n\r\n")
	if err == nil {
		err = rw.Flush()
	}
	_ = conn.SetDeadline(time.Time{})
	var s *yamux.Session
	if err == nil {
		// The agent answers yamux as the server: the door is who opens streams.
		s, err = yamux.Client(&bufferedConn{Conn: conn, r: rw.Reader}, sessionConfig())
	}
	if err != nil {
		conn.Close()
		h.log.Warn("link failed", "err", err)
		return
	}
	h.take(s)
}

// take puts the session in place of the one before and watches its end.
func (h *Hub) take(s *yamux.Session) {
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		s.Close()
		return
	}
	old := h.session
	h.set(s)
	h.wg.Add(1)
	h.mu.Unlock()
	if old != nil {
		h.log.Info("a new agent link puts the old one out")
		old.Close()
	}
	h.log.Info("agent linked")
	go func() {
		defer h.wg.Done()
		<-s.CloseChan()
		h.mu.Lock()
		if h.session == s {
			h.set(nil)
			h.log.Warn("agent link ended")
		}
		h.mu.Unlock()
	}()
}

func (h *Hub) set(s *yamux.Session) {
	h.session = s
	close(h.changed)
	h.changed = make(chan struct{})
}

// Connected reports whether an agent is linked now.
func (h *Hub) Connected() bool {
	s, _ := h.state()
	return s != nil
}

func (h *Hub) state() (*yamux.Session, <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.session, h.changed
}

// Wait returns when an agent is linked, or with the context's error.
func (h *Hub) Wait(ctx context.Context) error {
	for {
		s, changed := h.state()
		if s != nil {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Open opens a stream and writes its header. Errors wrap ErrNoAgent while no
// agent is linked or its link has just ended, and ErrBusy at the bound.
func (h *Hub) Open(ctx context.Context, head Header) (net.Conn, error) {
	if err := head.check(); err != nil {
		return nil, err
	}
	s, _ := h.state()
	if s == nil {
		return nil, ErrNoAgent
	}
	select {
	case h.slots <- struct{}{}:
	default:
		return nil, ErrBusy
	}
	type opened struct {
		st  *yamux.Stream
		err error
	}
	// OpenStream has no context; it ends at the latest after shakeTime, when
	// yamux gives the link up, so the goroutine does too.
	got := make(chan opened, 1)
	go func() {
		st, err := s.OpenStream()
		got <- opened{st, err}
	}()
	drop := func(o opened) {
		if o.st != nil {
			o.st.Close()
		}
		<-h.slots
	}
	var o opened
	select {
	case o = <-got:
	case <-ctx.Done():
		go func() { drop(<-got) }()
		return nil, ctx.Err()
	}
	if o.err == nil {
		_ = o.st.SetWriteDeadline(time.Now().Add(shakeTime))
		o.err = WriteHeader(o.st, head)
		_ = o.st.SetWriteDeadline(time.Time{})
	}
	if o.err != nil {
		drop(o)
		return nil, errors.Join(ErrNoAgent, o.err)
	}
	return &slotConn{Stream: o.st, free: sync.OnceFunc(func() { <-h.slots })}, nil
}

// Close ends the link and waits for what watches it. New links are refused.
func (h *Hub) Close() {
	h.mu.Lock()
	h.closed = true
	s := h.session
	h.mu.Unlock()
	if s != nil {
		s.Close()
	}
	h.wg.Wait()
}

// slotConn gives its place among the open streams back when it is closed.
type slotConn struct {
	*yamux.Stream
	free func()
}

func (c *slotConn) Close() error {
	defer c.free()
	return c.Stream.Close()
}
