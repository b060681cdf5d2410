package link

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const patience = 20 * time.Second

// doorway is the door's end of the link on a real socket.
type doorway struct {
	path string
	hub  *Hub
	srv  *http.Server
	wg   sync.WaitGroup
}

func openDoorway(t *testing.T, path string) *doorway {
	t.Helper()
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	d := &doorway{path: path, hub: NewHub("secret", log)}
	ln, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	d.srv = &http.Server{Handler: d.hub}
	d.wg.Go(func() { _ = d.srv.Serve(ln) })
	t.Cleanup(d.close)
	return d
}

func (d *doorway) close() {
	d.srv.Close()
	d.hub.Close()
	d.wg.Wait()
}

func socket(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "link")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return filepath.Join(dir, "s")
}

// runAgent keeps a link up; ups receives every coming and going.
func runAgent(t *testing.T, path, secret string, handle func(context.Context, Header, net.Conn)) (ups chan bool, stop func()) {
	t.Helper()
	ups = make(chan bool, 64)
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() {
		err := Run(ctx, Options{
			Secret: secret, Handle: handle, MinWait: time.Millisecond, MaxWait: 5 * time.Millisecond,
			Dial:    func(ctx context.Context) (net.Conn, error) { return new(net.Dialer).DialContext(ctx, "unix", path) },
			Changed: func(up bool) { ups <- up },
			Log:     slog.New(slog.NewTextHandler(t.Output(), nil)),
		})
		if err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	stop = sync.OnceFunc(func() { cancel(); wg.Wait() })
	t.Cleanup(stop)
	return ups, stop
}

func linked(t *testing.T, h *Hub) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	if err := h.Wait(ctx); err != nil {
		t.Fatalf("no link: %v", err)
	}
	return ctx
}

func echo(_ context.Context, h Header, c net.Conn) {
	io.WriteString(c, string(h.Kind)+" "+h.Name+" "+h.Peer+"\n")
	io.Copy(c, c)
}

func talk(t *testing.T, ctx context.Context, h *Hub) string {
	t.Helper()
	c, err := h.Open(ctx, Header{Kind: Stream, Name: "wyoming", Peer: "192.0.2.1"})
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	defer c.Close()
	io.WriteString(c, "hello\n")
	r := bufio.NewReader(c)
	a, _ := r.ReadString('\n')
	b, _ := r.ReadString('\n')
	return a + b
}

func TestLink(t *testing.T) {
	d := openDoorway(t, socket(t))
	if _, err := d.hub.Open(context.Background(), Header{Kind: API}); !errors.Is(err, ErrNoAgent) {
		t.Fatalf("without agent: %v", err)
	}
	runAgent(t, d.path, "secret", echo)
	ctx := linked(t, d.hub)
	if got := talk(t, ctx, d.hub); got != "stream wyoming 192.0.2.1\nhello\n" {
		t.Errorf("got %q", got)
	}
	if _, err := d.hub.Open(ctx, Header{Kind: "other"}); !errors.Is(err, ErrHeader) {
		t.Errorf("unknown kind: %v", err)
	}
}

func TestDoorRestart(t *testing.T) {
	path := socket(t)
	d := openDoorway(t, path)
	ups, _ := runAgent(t, path, "secret", echo)
	linked(t, d.hub)
	if !<-ups {
		t.Fatal("no word of the link")
	}
	d.close()
	if <-ups {
		t.Fatal("no word of its end")
	}
	d = openDoorway(t, path)
	ctx := linked(t, d.hub)
	if got := talk(t, ctx, d.hub); !strings.HasSuffix(got, "hello\n") {
		t.Errorf("got %q", got)
	}
}

func TestAgentRestart(t *testing.T) {
	d := openDoorway(t, socket(t))
	_, stop := runAgent(t, d.path, "secret", echo)
	ctx := linked(t, d.hub)
	c, err := d.hub.Open(ctx, Header{Kind: API})
	if err != nil {
		t.Fatal(err)
	}
	stop()
	if _, err := io.ReadAll(c); err != nil && !errors.Is(err, io.EOF) {
		t.Logf("an open stream ends with %v", err)
	}
	c.Close()
	for d.hub.Connected() {
		_, changed := d.hub.state()
		if d.hub.Connected() {
			<-changed
		}
	}
	if _, err := d.hub.Open(ctx, Header{Kind: API}); !errors.Is(err, ErrNoAgent) {
		t.Fatalf("after the end: %v", err)
	}
	runAgent(t, d.path, "secret", echo)
	talk(t, linked(t, d.hub), d.hub)
}

func TestNewLinkPutsTheOldOut(t *testing.T) {
	d := openDoorway(t, socket(t))
	first, stopFirst := runAgent(t, d.path, "secret", echo)
	linked(t, d.hub)
	<-first
	_, before := d.hub.state()
	handled := make(chan struct{}, 1)
	runAgent(t, d.path, "secret", func(ctx context.Context, h Header, c net.Conn) {
		handled <- struct{}{}
		echo(ctx, h, c)
	})
	<-before // the second link has been taken
	if <-first {
		t.Fatal("the first link stayed")
	}
	stopFirst() // else the two would put each other out in turn
	ctx := linked(t, d.hub)
	for len(handled) == 0 {
		if c, err := d.hub.Open(ctx, Header{Kind: Stream, Name: "x"}); err == nil {
			bufio.NewReader(c).ReadString('\n')
			c.Close()
		}
		if ctx.Err() != nil {
			t.Fatal("the second link is not used")
		}
	}
}

func TestRefused(t *testing.T) {
	d := openDoorway(t, socket(t))
	for _, row := range []struct {
		name, secret, upgrade string
		status                int
	}{
		{"wrong secret", "guess", protocol, 403},
		{"no secret", "", protocol, 403},
		{"prefix of the secret", "secre", protocol, 403},
		{"no upgrade", "secret", "", 426},
		{"another protocol", "secret", "websocket", 426},
	} {
		t.Run(row.name, func(t *testing.T) {
			c, err := net.Dial("unix", d.path)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			req, _ := http.NewRequest("GET", "http://door"+Path, nil)
			req.Header.Set(secretHeader, row.secret)
			if row.upgrade != "" {
				req.Header.Set("Upgrade", row.upgrade)
			}
			req.Write(c)
			resp, err := http.ReadResponse(bufio.NewReader(c), req)
			if err != nil {
				t.Fatal(err)
			}
			if resp.StatusCode != row.status || d.hub.Connected() {
				t.Errorf("got %d", resp.StatusCode)
			}
		})
	}
	if sameSecret("", "") {
		t.Error("a hub without a secret takes anybody")
	}
}

func TestAgentWithWrongSecretKeepsTrying(t *testing.T) {
	dials := make(chan struct{})
	ctx, cancel := context.WithCancel(context.Background())
	d := openDoorway(t, socket(t))
	var wg sync.WaitGroup
	wg.Go(func() {
		_ = Run(ctx, Options{Secret: "wrong", Handle: echo, MinWait: time.Millisecond, MaxWait: time.Millisecond,
			Dial: func(ctx context.Context) (net.Conn, error) {
				select {
				case dials <- struct{}{}:
				case <-ctx.Done():
					return nil, ctx.Err()
				}
				return new(net.Dialer).DialContext(ctx, "unix", d.path)
			}})
	})
	for range 3 {
		<-dials
	}
	cancel()
	wg.Wait()
	if d.hub.Connected() {
		t.Error("linked")
	}
}

func TestOptions(t *testing.T) {
	for _, o := range []Options{{}, {Secret: "s", Handle: echo}, {Handle: echo, Dial: func(context.Context) (net.Conn, error) { return nil, nil }}} {
		if Run(context.Background(), o) == nil {
			t.Errorf("%+v was taken", o)
		}
	}
}

func TestStreamsAreBounded(t *testing.T) {
	d := openDoorway(t, socket(t))
	runAgent(t, d.path, "secret", func(ctx context.Context, _ Header, c net.Conn) { io.Copy(io.Discard, c) })
	ctx := linked(t, d.hub)
	var open []net.Conn
	for range maxStreams {
		c, err := d.hub.Open(ctx, Header{Kind: API})
		if err != nil {
			t.Fatalf("stream %d: %v", len(open), err)
		}
		open = append(open, c)
	}
	if _, err := d.hub.Open(ctx, Header{Kind: API}); !errors.Is(err, ErrBusy) {
		t.Fatalf("one more: %v", err)
	}
	for _, c := range open {
		c.Close()
		c.Close() // twice gives one place back
	}
	if n := len(d.hub.slots); n != 0 {
		t.Errorf("%d places are lost", n)
	}
}

func TestHeader(t *testing.T) {
	for _, row := range []struct {
		name, line string
		ok         bool
	}{
		{"api", `{"kind":"api"}`, true},
		{"stream", `{"kind":"stream","name":"wyoming","peer":"192.0.2.7"}`, true},
		{"unknown field is ignored", `{"kind":"api","more":1}`, true},
		{"stream without name", `{"kind":"stream"}`, false},
		{"unknown kind", `{"kind":"shell"}`, false},
		{"no kind", `{}`, false},
		{"empty", ``, false},
		{"no JSON", `api`, false},
		{"array", `[]`, false},
		{"control character", `{"kind":"api","peer":"a\nb"}`, false},
		{"long name", `{"kind":"stream","name":"` + strings.Repeat("a", maxName+1) + `"}`, false},
		{"long line", `{"kind":"api","peer":"` + strings.Repeat("a", maxHeader) + `"}`, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := strings.NewReader(row.line + "\nbytes of the stream")
			_, err := ReadHeader(iotest.OneByteReader(r))
			if (err == nil) != row.ok {
				t.Fatalf("got %v", err)
			}
			if err != nil && !errors.Is(err, ErrHeader) {
				t.Errorf("%v is no ErrHeader", err)
			}
			if rest, _ := io.ReadAll(r); row.ok && string(rest) != "bytes of the stream" {
				t.Errorf("left %q", rest)
			}
		})
	}
	if _, err := ReadHeader(strings.NewReader(`{"kind":"api"}`)); !errors.Is(err, ErrHeader) {
		t.Errorf("cut off: %v", err)
	}
}

func FuzzHeader(f *testing.F) {
	for _, s := range []string{`{"kind":"api"}` + "\n", `{"kind":"stream","name":"a","peer":"::1"}` + "\nrest", "\n", "{", `{"kind":"api","peer":"\u0000"}` + "\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		h, err := ReadHeader(strings.NewReader(string(in)))
		if err != nil {
			return
		}
		var b strings.Builder
		if err := WriteHeader(&b, h); err != nil {
			t.Fatalf("what was read cannot be written: %+v: %v", h, err)
		}
		if got, err := ReadHeader(strings.NewReader(b.String())); err != nil || got != h {
			t.Fatalf("%+v came back as %+v, %v", h, got, err)
		}
	})
}
