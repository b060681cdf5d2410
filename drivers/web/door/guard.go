package door

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"homeagent/drivers/web/link"
	"homeagent/drivers/web/problem"
)

const (
	apiPrefix  = "/api/v1/"
	cookieName = "homeagent_session"
	csrfHeader = "X-Homeagent"
)

// who is the login behind a request.
type who struct {
	name    string // public: session name, "token:<name>", "local:<uid>"; "" if nobody
	account string // of a cookie
	cookie  string
	lang    string // the account's setting
	scope   scope
	local   bool // came by the unix socket
	bearer  bool
	expires time.Time
}

// call is one request on its way through the door.
type call struct {
	w    http.ResponseWriter
	r    *http.Request
	who  who
	lang string
	peer peer
}

// fail answers with a problem.
func (c *call) fail(k kind) { c.problem(k, "").Write(c.w) }

// failDetail answers with a problem that names the culprit.
func (c *call) failDetail(k kind, detail string) { c.problem(k, detail).Write(c.w) }

func (c *call) problem(k kind, detail string) *problem.Problem {
	p := problem.New(k.status, k.code, k.words, c.lang)
	p.Detail = detail
	return p
}

// outside is the way in by TCP.
func (s *server) outside() http.Handler {
	return s.wrap(func(c *call) {
		local, _ := c.r.Context().Value(http.LocalAddrContextKey).(net.Addr)
		if !s.hosts.allows(c.r.Host, local) {
			c.fail(kHost)
			return
		}
		if !strings.HasPrefix(c.r.URL.Path, apiPrefix) {
			s.page(c)
			return
		}
		changes := !slices.Contains([]string{http.MethodGet, http.MethodHead}, c.r.Method)
		// Reading is watched too: a foreign page must not even measure an answer.
		if (changes && !sameOrigin(c.r)) || crossSite(c.r) {
			c.fail(kOrigin)
			return
		}
		if !s.identify(c) {
			return
		}
		if changes && !c.who.bearer && c.r.Header.Get(csrfHeader) != "1" {
			// An open claim or login must not be driven by a foreign form either.
			// Who is nobody hears first that a login is needed.
			if c.who.name != "" || isOpen(c.r.URL.Path) {
				c.fail(kCSRF)
				return
			}
		}
		s.serveAPI(c)
	})
}

// inside is the way in by the unix socket: the kernel says who it is, and no
// browser gets here.
func (s *server) inside() http.Handler {
	return s.wrap(func(c *call) {
		if c.r.URL.Path == link.Path {
			s.hub.ServeHTTP(c.w, c.r)
			return
		}
		uid := c.peer.uid
		if uid < 0 || (uid != 0 && uid != os.Geteuid() && !slices.Contains(s.opt.AllowUIDs, uid)) {
			c.fail(kUser)
			return
		}
		if !strings.HasPrefix(c.r.URL.Path, apiPrefix) {
			s.page(c)
			return
		}
		c.who = who{name: "local:" + strconv.Itoa(uid), scope: scopeAll, local: true}
		s.serveAPI(c)
	})
}

// wrap is what both ways share: a panic ends one request, headers are set,
// every body and answer has its deadlines, and the language is chosen.
func (s *server) wrap(next func(*call)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := &call{w: w, r: r, peer: peerOf(r.Context())}
		defer func() {
			if p := recover(); p != nil {
				if p == http.ErrAbortHandler {
					panic(p)
				}
				s.log.Error("request failed", "path", r.URL.Path, "panic", p, "stack", string(debug.Stack()))
				c.fail(kInternal)
			}
		}()
		if r.URL.Path != link.Path { // the link is taken over whole
			ctl := http.NewResponseController(w)
			_ = ctl.SetWriteDeadline(time.Time{}) // that of the answer before may have passed
			c.w = &timedWriter{ResponseWriter: w, ctl: ctl, time: s.opt.Limits.WriteTime}
			if r.ContentLength != 0 {
				// Also for a body that nobody reads: the server itself discards it.
				_ = ctl.SetReadDeadline(time.Now().Add(s.opt.Limits.BodyPause))
				r.Body = &timedBody{ReadCloser: r.Body, ctl: ctl, pause: s.opt.Limits.BodyPause}
			}
		}
		c.lang = problem.Lang(r.URL.Query().Get("lang"))
		if c.lang == "" {
			c.lang = problem.Accept(r.Header.Get("Accept-Language"))
		}
		if c.lang == "" {
			c.lang = problem.Chinese
		}
		securityHeaders(w.Header(), strings.HasPrefix(r.URL.Path, "/api/"))
		next(c)
	})
}

// securityHeaders are on every answer. The page loads nothing but its own
// files; an answer of the API is no document at all.
func securityHeaders(h http.Header, api bool) {
	csp := "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
		"manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
	if api {
		csp = "default-src 'none'; frame-ancestors 'none'; sandbox"
		h.Set("Cache-Control", "no-store")
	}
	h.Set("Content-Security-Policy", csp)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=(self)")
	h.Set("Vary", "Accept-Language")
}

func crossSite(r *http.Request) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	return site == "cross-site" || site == "same-site"
}

// identify finds the login. It is false when it has answered already: a token
// that is shown but wrong is never passed over for a cookie.
func (s *server) identify(c *call) bool {
	if auth := c.r.Header.Get("Authorization"); auth != "" {
		kindOf, secret, _ := strings.Cut(auth, " ")
		var t token
		ok := false
		if strings.EqualFold(kindOf, "Bearer") {
			var err error
			if t, ok, err = s.store.token(strings.TrimSpace(secret)); err != nil {
				s.internal(c, err)
				return false
			}
		}
		if !ok {
			c.w.Header().Set("WWW-Authenticate", `Bearer realm="homeagent"`)
			c.fail(kBadToken)
			return false
		}
		c.who = who{name: "token:" + t.Name, scope: t.Scope, bearer: true}
		return true
	}
	ck, err := c.r.Cookie(cookieName)
	if err != nil {
		return true
	}
	v, ok, err := s.store.session(ck.Value)
	if err != nil {
		s.internal(c, err)
		return false
	}
	if !ok {
		return true
	}
	c.who = who{name: v.Name, account: v.Account, cookie: ck.Value, scope: scopeAll, expires: v.Expires}
	if a, ok, err := s.store.account(v.Account); err == nil && ok {
		c.who.lang = a.Lang
		if a.Lang != "" && problem.Lang(c.r.URL.Query().Get("lang")) == "" {
			c.lang = a.Lang
		}
	}
	return true
}

func (s *server) internal(c *call, err error) {
	s.log.Error("request failed", "path", c.r.URL.Path, "err", err)
	if isDisk(err) {
		c.fail(kDisk)
		return
	}
	c.fail(kInternal)
}

// allowed reports whether a scope covers a request.
func (sc scope) allowed(method, name string) bool {
	read := method == http.MethodGet || method == http.MethodHead
	switch sc {
	case scopeAll:
		return true
	case scopeRead:
		return read && name != "tokens" && name != "audit"
	case scopeChat:
		switch name {
		case "chat", "hear", "listen", "session":
			return true
		case "events", "status":
			return read
		}
	}
	return false
}

// timedWriter gives the peer a fixed time to take each piece of an answer, so
// that one who stops reading does not hold a stream for ever.
type timedWriter struct {
	http.ResponseWriter
	ctl  *http.ResponseController
	time time.Duration
}

func (w *timedWriter) WriteHeader(code int) {
	_ = w.ctl.SetWriteDeadline(time.Now().Add(w.time))
	w.ResponseWriter.WriteHeader(code)
}

func (w *timedWriter) Write(p []byte) (int, error) {
	_ = w.ctl.SetWriteDeadline(time.Now().Add(w.time))
	return w.ResponseWriter.Write(p)
}

// FlushError is found by http.ResponseController.
func (w *timedWriter) FlushError() error {
	_ = w.ctl.SetWriteDeadline(time.Now().Add(w.time))
	return w.ctl.Flush()
}

// Unwrap lets http.ResponseController reach the rest.
func (w *timedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// timedBody gives the peer a fixed time between two pieces of a body.
type timedBody struct {
	io.ReadCloser
	ctl   *http.ResponseController
	pause time.Duration
}

func (b *timedBody) Read(p []byte) (int, error) {
	_ = b.ctl.SetReadDeadline(time.Now().Add(b.pause))
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF {
		// From here on the server watches the connection for its end, without limit.
		_ = b.ctl.SetReadDeadline(time.Time{})
	}
	return n, err
}

// scoped ends the request's context with its login. It is false where the
// login has too many requests under way: one page must not take all there are.
func (s *server) scoped(c *call) (func(), bool) {
	ctx, done, ok := s.live.add(c.r.Context(), c.who.name, s.opt.Limits.StreamsPerLogin)
	if !ok {
		return nil, false
	}
	if c.who.expires.IsZero() {
		c.r = c.r.WithContext(ctx)
		return done, true
	}
	ctx, cancel := context.WithTimeout(ctx, c.who.expires.Sub(s.now()))
	c.r = c.r.WithContext(ctx)
	return func() { cancel(); done() }, true
}

func isTimeout(err error) bool {
	var t interface{ Timeout() bool }
	return errors.As(err, &t) && t.Timeout()
}
