package main

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
	"testing"
	"time"

	"homeagent/drivers/web/problem"
	"homeagent/firmware/control"
	"homeagent/firmware/words"
)

// house is a data folder in which a door, a supervisor, or both answer.
type house struct {
	t   *testing.T
	dir string
}

func newHouse(t *testing.T) *house {
	t.Helper()
	dir, err := os.MkdirTemp("", "ctl") // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Mkdir(filepath.Join(dir, "run"), 0o700); err != nil {
		t.Fatal(err)
	}
	return &house{t: t, dir: dir}
}

// door serves the API of the page.
func (h *house) door(mux *http.ServeMux) *house {
	h.t.Helper()
	ln, err := net.Listen("unix", filepath.Join(h.dir, "run", "door.sock"))
	if err != nil {
		h.t.Fatal(err)
	}
	srv := &http.Server{Handler: mux}
	done := make(chan struct{})
	go func() { srv.Serve(ln); close(done) }()
	h.t.Cleanup(func() { srv.Close(); <-done })
	return h
}

// supervisor serves the control socket.
func (h *house) supervisor(handle handler) *house {
	h.t.Helper()
	srv, err := control.Listen(filepath.Join(h.dir, "run", "control.sock"), handle, slog.New(slog.NewTextHandler(io.Discard, nil)))
	if err != nil {
		h.t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { srv.Serve(h.t.Context()); close(done) }()
	h.t.Cleanup(func() { srv.Close(); <-done })
	return h
}

type handler func(control.Request) (any, error)

func (f handler) Handle(_ context.Context, _ control.Peer, req control.Request) (any, error) {
	return f(req)
}

// run runs homectl on the house at a fixed time.
func (h *house) run(lang, stdin string, args ...string) (out, err string, code int) {
	return homectl(map[string]string{"LANG": map[string]string{"zh": "zh_CN.UTF-8", "en": "en_US.UTF-8"}[lang]}, stdin, append([]string{"-data", h.dir}, args...)...)
}

func homectl(env map[string]string, stdin string, args ...string) (out, err string, code int) {
	var o, e bytes.Buffer
	code = run(args, world{in: bytes.NewReader([]byte(stdin)), out: &o, err: &e,
		getenv: func(k string) string { return env[k] },
		now:    func() time.Time { return time.Unix(1700000120, 0) }})
	return o.String(), e.String(), code
}

func answer(v any) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if raw, ok := v.([]byte); ok {
			w.Write(raw)
			return
		}
		json.NewEncoder(w).Encode(v)
	}
}

// refuse answers with a problem in the language of the request.
func refuse(status int, zh, en string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		problem.New(status, "refused", problem.Words{ZH: zh, EN: en}, problem.Accept(r.Header.Get("Accept-Language"))).Write(w)
	}
}

func inLang(req control.Request, zh, en string) string {
	return words.Text{ZH: zh, EN: en}.In(req.Lang)
}
