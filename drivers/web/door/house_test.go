package door

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"homeagent/drivers/web/link"
	"homeagent/drivers/web/problem"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long a test waits for what must happen.
const patience = 20 * time.Second

// clock is a clock that moves only when told.
type clock struct {
	mu sync.Mutex
	t  time.Time
}

func newClock() *clock { return &clock{t: time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
}

// house is a running door in a test.
type house struct {
	t     *testing.T
	dir   string
	addr  string
	addrs []net.Addr
	clock *clock
	code  string
	urls  []string
	hc    *http.Client
	stop  func()
	opt   Options
}

const testSecret = "link-secret"

// tempDir is short enough for a socket's path whatever the test's name.
func tempDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "door")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// open starts a door on a free port; change may alter its options.
func open(t *testing.T, change func(*Options)) *house {
	t.Helper()
	return openIn(t, tempDir(t), change)
}

func openIn(t *testing.T, dir string, change func(*Options)) *house {
	t.Helper()
	h := &house{t: t, dir: dir, clock: newClock()}
	ready := make(chan net.Addr, 1)
	h.opt = Options{
		ListenAddr: "127.0.0.1:0", DataDir: dir, RunDir: dir, LinkSecret: testSecret, Version: "test",
		cheapHash: true, Now: h.clock.now, Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
		Announce: func(code string, urls []string) { h.code, h.urls = code, urls },
	}
	if change != nil {
		change(&h.opt)
	}
	announce := h.opt.Announce
	h.opt.Ready = func(as []net.Addr) { h.addrs = as }
	h.opt.Announce = func(code string, urls []string) {
		announce(code, urls)
		ready <- h.addrs[0]
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- Run(ctx, h.opt) }()
	select {
	case a := <-ready:
		h.addr = a.String()
	case err := <-ended:
		cancel()
		t.Fatalf("door did not open: %v", err)
	}
	h.hc = &http.Client{Transport: &http.Transport{}, Timeout: patience}
	h.stop = sync.OnceFunc(func() {
		cancel()
		select {
		case err := <-ended:
			if err != nil {
				t.Errorf("door ended with %v", err)
			}
		case <-time.After(patience):
			t.Error("door does not end")
		}
		h.hc.CloseIdleConnections()
	})
	t.Cleanup(h.stop)
	return h
}

// answer is a reply read whole.
type answer struct {
	status int
	header http.Header
	body   []byte
}

func (a answer) code() string {
	var p problem.Problem
	_ = json.Unmarshal(a.body, &p)
	return p.Code
}

func (a answer) cookie() string {
	for _, c := range (&http.Response{Header: a.header}).Cookies() {
		if c.Name == cookieName {
			return c.Value
		}
	}
	return ""
}

// with is a change to a request.
type with func(*http.Request)

func header(k, v string) with {
	return func(r *http.Request) {
		if k == "Host" {
			r.Host = v
			return
		}
		r.Header.Set(k, v)
	}
}

func cookie(v string) with {
	return func(r *http.Request) { r.AddCookie(&http.Cookie{Name: cookieName, Value: v}) }
}

func bearer(v string) with { return header("Authorization", "Bearer "+v) }

// csrf is what the page sends along.
func csrf(r *http.Request) { r.Header.Set(csrfHeader, "1") }

// call makes a request by TCP. body "" sends none; it is JSON otherwise.
func (h *house) call(method, path, body string, ws ...with) answer {
	h.t.Helper()
	return h.do(h.hc, "http://"+h.addr, method, path, body, ws...)
}

func (h *house) do(hc *http.Client, base, method, path, body string, ws ...with) answer {
	h.t.Helper()
	var r io.Reader
	if body != "" {
		r = strings.NewReader(body)
	}
	req, err := http.NewRequest(method, base+path, r)
	if err != nil {
		h.t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for _, w := range ws {
		w(req)
	}
	resp, err := hc.Do(req)
	if err != nil {
		h.t.Fatalf("%s %s: %v", method, path, err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		h.t.Fatalf("%s %s: %v", method, path, err)
	}
	return answer{resp.StatusCode, resp.Header, b}
}

// local makes a request by the unix socket.
func (h *house) local(method, path, body string) answer {
	h.t.Helper()
	tr := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", filepath.Join(h.dir, SocketName))
	}}
	defer tr.CloseIdleConnections()
	return h.do(&http.Client{Transport: tr, Timeout: patience}, "http://localhost", method, path, body)
}

const password = "correct horse"

// claim makes the account and returns the cookie.
func (h *house) claim() string {
	h.t.Helper()
	a := h.call("POST", "/api/v1/claim", `{"code":"`+h.code+`","password":"`+password+`"}`, csrf)
	if a.status != 200 || a.cookie() == "" {
		h.t.Fatalf("claim: %d %s", a.status, a.body)
	}
	return a.cookie()
}

// agent links a fake agent that answers with next.
func (h *house) agent(next http.HandlerFunc) (stop func()) {
	h.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	up := make(chan struct{}, 8)
	conns := make(chan net.Conn)
	srv := &http.Server{Handler: next}
	ln := &chanListener{conns, make(chan struct{})}
	var wg sync.WaitGroup
	wg.Go(func() { _ = srv.Serve(ln) })
	wg.Go(func() {
		_ = link.Run(ctx, link.Options{
			Secret: testSecret, MinWait: time.Millisecond,
			Dial: func(ctx context.Context) (net.Conn, error) {
				return new(net.Dialer).DialContext(ctx, "unix", filepath.Join(h.dir, SocketName))
			},
			Handle: func(ctx context.Context, _ link.Header, c net.Conn) {
				done := make(chan struct{})
				select {
				case conns <- &closeConn{c, sync.OnceFunc(func() { close(done) })}:
					<-done
				case <-ctx.Done():
				}
			},
			Changed: func(u bool) {
				if u {
					up <- struct{}{}
				}
			},
		})
	})
	stop = sync.OnceFunc(func() {
		cancel()
		srv.Close()
		wg.Wait()
	})
	h.t.Cleanup(stop)
	select {
	case <-up:
	case <-time.After(patience):
		h.t.Fatal("no link")
	}
	// The door notices its end of the link a moment after the agent does.
	h.until("the link", func() bool { return bytes.Contains(h.local("GET", "/api/v1/session", "").body, []byte(`"agent":true`)) })
	return stop
}

// until asks again until ok, or fails.
func (h *house) until(what string, ok func() bool) {
	h.t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(patience); !ok(); <-tick.C {
		if time.Now().After(end) {
			h.t.Fatalf("waited in vain for %s", what)
		}
	}
}

type chanListener struct {
	ch  chan net.Conn
	end chan struct{}
}

func (l *chanListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.ch:
		return c, nil
	case <-l.end:
		return nil, net.ErrClosed
	}
}
func (l *chanListener) Close() error   { close(l.end); return nil }
func (l *chanListener) Addr() net.Addr { return &net.UnixAddr{} }

type closeConn struct {
	net.Conn
	done func()
}

func (c *closeConn) Close() error {
	defer c.done()
	return c.Conn.Close()
}
