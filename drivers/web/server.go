package web

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"

	"homeagent/agent/plugin"
	"homeagent/drivers/web/link"
	"homeagent/drivers/web/problem"
)

const apiPrefix = "/api/v1/"

func itoa(n uint64) string { return strconv.FormatUint(n, 10) }

// ask is one request that the door let in.
type ask struct {
	w       http.ResponseWriter
	r       *http.Request
	session string
	lang    string
}

// channel is where the answers of this login go.
func (q *ask) channel() string {
	if q.local() {
		return "console"
	}
	return "web:" + q.session
}

func (q *ask) local() bool { return strings.HasPrefix(q.session, "local:") }

func (q *ask) fail(status int, code string, w problem.Words) {
	problem.New(status, code, w, q.lang).Write(q.w)
}

func (q *ask) reply(v any) {
	j, err := json.Marshal(v)
	if err != nil {
		panic(err) // answered as an internal problem
	}
	q.w.Header().Set("Content-Type", "application/json")
	_, _ = q.w.Write(append(j, '\n')) // the peer may be gone
}

// fault answers with an error of a handler: a *plugin.Fault in its own words,
// anything else without detail.
func (a *agent) fault(q *ask, err error) {
	var f *plugin.Fault
	if errors.As(err, &f) && f.Status >= 400 && f.Status <= 599 {
		a.log.Info("request refused", "path", q.r.URL.Path, "err", err)
		(&problem.Problem{Type: "urn:homeagent:problem:refused", Code: "refused", Status: f.Status, Title: f.Title}).Write(q.w)
		return
	}
	a.log.Error("request failed", "path", q.r.URL.Path, "err", err)
	q.fail(http.StatusInternalServerError, "internal", wInternal)
}

type langKey struct{}

// Lang is the language of the request that Registry.Status is called for, "zh"
// or "en"; "zh" for any other context.
func Lang(ctx context.Context) string {
	if l, _ := ctx.Value(langKey{}).(string); l == problem.English {
		return l
	}
	return problem.Chinese
}

// ServeHTTP answers a request that came over the link.
func (a *agent) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	sw := &sentWriter{ResponseWriter: w}
	q := &ask{w: sw, r: r, session: r.Header.Get(link.HeaderSession), lang: r.Header.Get(link.HeaderLang)}
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		if p != http.ErrAbortHandler {
			a.log.Error("request failed", "path", r.URL.Path, "panic", p, "stack", string(debug.Stack()))
		}
		if p == http.ErrAbortHandler || sw.sent {
			panic(http.ErrAbortHandler) // the peer must see that the answer is not whole
		}
		q.fail(http.StatusInternalServerError, "internal", wInternal)
	}()
	rest, ok := strings.CutPrefix(r.URL.Path, apiPrefix)
	if !ok {
		q.fail(http.StatusNotFound, "not_found", wNotFound)
		return
	}
	name, sub, _ := strings.Cut(rest, "/")
	get := r.Method == http.MethodGet || r.Method == http.MethodHead
	switch {
	case name == "chat" && sub == "" && r.Method == http.MethodPost:
		a.chat(q)
	case name == "chat" && sub == "history" && get:
		a.getHistory(q)
	case name == "chat" && sub != "" && get:
		a.again(q, sub)
	case name == "events" && sub == "" && get:
		a.events(q)
	case name == "status" && sub == "" && get:
		q.reply(a.reg.Status(context.WithValue(r.Context(), langKey{}, q.lang)))
	case name == "chat" || name == "events" || name == "status":
		q.fail(http.StatusMethodNotAllowed, "method", wMethod)
	case name == "home" && sub == "" && get:
		q.reply(a.api.Home())
	default:
		a.endpoint(q, name, sub)
	}
}

// endpoint hands the request to the plugin that registered the name.
func (a *agent) endpoint(q *ask, name, sub string) {
	h, ok := a.reg.Endpoint(name)
	if !ok {
		q.fail(http.StatusNotFound, "not_found", wNotFound)
		return
	}
	out := &reply{w: q.w, ctl: http.NewResponseController(q.w)}
	err := h(q.r.Context(), &plugin.Request{
		Method: q.r.Method, Path: sub, Query: q.r.URL.Query(), Body: q.r.Body,
		ContentType: q.r.Header.Get("Content-Type"), Session: q.session, Lang: q.lang,
	}, out)
	switch {
	case err == nil && !out.begun:
		out.Status(http.StatusOK, "application/json")
	case err == nil:
	case out.begun:
		a.log.Error("answer broken off", "path", q.r.URL.Path, "err", err)
		panic(http.ErrAbortHandler) // the peer must see that it is not whole
	default:
		a.fault(q, err)
	}
}

// reply is plugin.Reply on HTTP.
type reply struct {
	w     http.ResponseWriter
	ctl   *http.ResponseController
	begun bool
}

func (r *reply) Status(code int, contentType string) {
	if r.begun {
		return
	}
	r.begun = true
	if code < 200 || code > 599 {
		code = http.StatusInternalServerError
	}
	if contentType != "" {
		r.w.Header().Set("Content-Type", contentType)
	}
	r.w.WriteHeader(code)
}

func (r *reply) Write(p []byte) (int, error) {
	r.Status(http.StatusOK, "application/json")
	n, err := r.w.Write(p)
	if err == nil {
		err = r.ctl.Flush()
	}
	return n, err
}

// sentWriter remembers whether the answer has begun.
type sentWriter struct {
	http.ResponseWriter
	sent bool
}

func (w *sentWriter) WriteHeader(code int) {
	w.sent = true
	w.ResponseWriter.WriteHeader(code)
}

func (w *sentWriter) Write(p []byte) (int, error) {
	w.sent = true
	return w.ResponseWriter.Write(p)
}

// Unwrap lets http.ResponseController flush.
func (w *sentWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// stream takes one stream of the link: HTTP, or a protocol of a plugin.
func (a *agent) stream(ctx context.Context, h link.Header, c net.Conn, conns *connListener) {
	if h.Kind == link.API {
		conns.serve(ctx, c)
		return
	}
	handler, ok := a.reg.Stream(h.Name)
	if !ok {
		a.log.Warn("no plugin takes this protocol", "name", h.Name)
		return
	}
	defer func() {
		if p := recover(); p != nil {
			a.log.Error("protocol failed", "name", h.Name, "panic", p, "stack", string(debug.Stack()))
		}
	}()
	// A handler that only reads must also end with the link and with Stop.
	stop := context.AfterFunc(ctx, func() { c.Close() })
	defer stop()
	handler(ctx, c, h.Peer)
}

// connListener feeds accepted streams to an http.Server.
type connListener struct {
	ch   chan net.Conn
	end  chan struct{}
	once sync.Once
}

func newConnListener() *connListener {
	return &connListener{ch: make(chan net.Conn), end: make(chan struct{})}
}

// serve hands the connection to the server and waits until it is closed.
func (l *connListener) serve(ctx context.Context, c net.Conn) {
	done := make(chan struct{})
	select {
	case l.ch <- &heldConn{Conn: c, done: sync.OnceFunc(func() { close(done) })}:
	case <-l.end:
		return
	case <-ctx.Done():
		return
	}
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// Accept is net.Listener.
func (l *connListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.ch:
		return c, nil
	case <-l.end:
		return nil, net.ErrClosed
	}
}

// Close is net.Listener.
func (l *connListener) Close() error {
	l.once.Do(func() { close(l.end) })
	return nil
}

// Addr is net.Listener.
func (l *connListener) Addr() net.Addr { return &net.UnixAddr{Name: "link", Net: "unix"} }

type heldConn struct {
	net.Conn
	done func()
}

func (c *heldConn) Close() error {
	defer c.done()
	return c.Conn.Close()
}
