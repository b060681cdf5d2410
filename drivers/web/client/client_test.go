package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"homeagent/drivers/web/problem"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// serve answers on a free port until the test ends.
func serve(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: h}
	done := make(chan struct{})
	go func() { _ = srv.Serve(ln); close(done) }()
	t.Cleanup(func() { srv.Close(); <-done })
	return "http://" + ln.Addr().String()
}

func tcp(t *testing.T, base string) *Client {
	t.Helper()
	c, err := TCP(base, "ha_token", "en")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func TestDoSendsWhatTheDoorWants(t *testing.T) {
	got := make(chan *http.Request, 1)
	body := make(chan string, 1)
	base := serve(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		got <- r
		body <- string(b)
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"n":7}`)
	})
	c := tcp(t, base+"/ignored/path")
	for _, row := range []struct {
		name, path, wantPath, wantType, wantBody string
		in                                       any
	}{
		{"nothing", "status", "/api/v1/status", "", "", nil},
		{"JSON", "/chat?x=1", "/api/v1/chat?x=1", "application/json", `{"a":1}`, map[string]int{"a": 1}},
		{"bytes", "hear", "/api/v1/hear", "application/octet-stream", "RIFF", strings.NewReader("RIFF")},
		{"bytes of a type", "hear", "/api/v1/hear", "audio/wav", "RIFF", Upload{ContentType: "audio/wav", Body: strings.NewReader("RIFF")}},
	} {
		t.Run(row.name, func(t *testing.T) {
			var out struct{ N int }
			if err := c.Do(context.Background(), "POST", row.path, row.in, &out); err != nil || out.N != 7 {
				t.Fatalf("%+v %v", out, err)
			}
			r, b := <-got, <-body
			if r.URL.RequestURI() != row.wantPath || r.Header.Get("Content-Type") != row.wantType || b != row.wantBody {
				t.Errorf("%s %q %q", r.URL, r.Header.Get("Content-Type"), b)
			}
			if r.Header.Get("Authorization") != "Bearer ha_token" || r.Header.Get("Accept-Language") != "en" {
				t.Errorf("headers %v", r.Header)
			}
		})
	}
	var raw bytes.Buffer
	if err := c.Do(context.Background(), "GET", "x", nil, &raw); err != nil || raw.String() != `{"n":7}` {
		t.Errorf("raw: %q %v", &raw, err)
	}
	<-got
	<-body
	if err := c.Do(context.Background(), "GET", "x", nil, nil); err != nil {
		t.Error(err)
	}
	<-got
	<-body
	if err := c.Do(context.Background(), "GET", "x", func() {}, nil); err == nil {
		t.Error("a function was sent as JSON")
	}
}

func TestRefusals(t *testing.T) {
	other := make(chan struct{}, 1)
	elsewhere := serve(t, func(http.ResponseWriter, *http.Request) { other <- struct{}{} })
	base := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/api/v1/problem":
			problem.New(409, "taken", problem.Words{EN: "It is taken."}, "en").Write(w)
		case "/api/v1/moved":
			http.Redirect(w, r, elsewhere, http.StatusFound)
		case "/api/v1/text":
			io.WriteString(w, "hello")
		default:
			http.Error(w, "oops", 500)
		}
	})
	c := tcp(t, base)
	for path, want := range map[string]int{"problem": 409, "moved": 302, "broken": 500} {
		var p *problem.Problem
		if err := c.Do(context.Background(), "GET", path, nil, nil); !errors.As(err, &p) || p.Status != want {
			t.Errorf("%s: %v", path, err)
		}
	}
	if len(other) != 0 {
		t.Error("the token was carried elsewhere")
	}
	if err := c.Do(context.Background(), "GET", "text", nil, new(json.RawMessage)); err == nil {
		t.Error("text passed as JSON")
	}
	if _, err := c.Stream(context.Background(), "GET", "text", nil); err == nil {
		t.Error("text passed as a stream")
	}
}

func TestStream(t *testing.T) {
	left := make(chan struct{})
	base := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Accept") != "text/event-stream" {
			t.Errorf("accepts %q", r.Header.Get("Accept"))
		}
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, "event: a\ndata: 1\n\n")
		http.NewResponseController(w).Flush()
		<-r.Context().Done()
		close(left)
	})
	s, err := tcp(t, base).Stream(context.Background(), "GET", "events", nil)
	if err != nil {
		t.Fatal(err)
	}
	if e, err := s.Next(); err != nil || e.Name != "a" || string(e.Data) != "1" {
		t.Errorf("%+v %v", e, err)
	}
	s.Close()
	<-left // the other end hears of it
	if _, err := s.Next(); err == nil {
		t.Error("a closed stream goes on")
	}
}

func TestNobodyThere(t *testing.T) {
	u := Unix(filepath.Join(t.TempDir(), "none.sock"), "zh")
	defer u.Close()
	if err := u.Do(context.Background(), "GET", "status", nil, nil); !errors.Is(err, ErrUnreachable) {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := u.Do(ctx, "GET", "status", nil, nil); errors.Is(err, ErrUnreachable) || err == nil {
		t.Errorf("cancelled by the caller: %v", err)
	}
	for _, base := range []string{"", "homeagent.local", "ftp://x", "http://", "http://a b"} {
		if _, err := TCP(base, "", ""); err == nil {
			t.Errorf("%q was taken", base)
		}
	}
}
