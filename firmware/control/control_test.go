package control

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"homeagent/firmware/words"
)

type echo struct{}

func (echo) Handle(_ context.Context, peer Peer, req Request) (any, error) {
	if req.Name == "fail" {
		return nil, errors.New("no such thing")
	}
	if req.Name == "denied" {
		return nil, ErrDenied
	}
	return map[string]any{"uid": peer.UID, "pid": peer.PID, "text": req.Text}, nil
}

func serve(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "c.sock")
	s, err := Listen(path, echo{}, slog.New(slog.NewTextHandler(io.Discard, nil)))
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { s.Serve(t.Context()); close(done) }()
	t.Cleanup(func() { s.Close(); <-done; goleak.VerifyNone(t, goleak.IgnoreCurrent()) })
	return path
}

func TestCall(t *testing.T) {
	c := Client{Path: serve(t)}
	var got struct {
		UID, PID int
		Text     string
	}
	if err := c.Call(t.Context(), Request{Cmd: Status, Text: "早上好"}, &got); err != nil {
		t.Fatal(err)
	}
	if got.UID != os.Getuid() || got.PID != os.Getpid() || got.Text != "早上好" {
		t.Errorf("got %+v", got)
	}
	var refused *Refused
	if err := c.Call(t.Context(), Request{Cmd: Status, Name: "fail"}, nil); !errors.As(err, &refused) || refused.Text != "no such thing" {
		t.Errorf("got %v", err)
	}
}

func TestRefusalsInTheLanguageOfTheRequest(t *testing.T) {
	c := Client{Path: serve(t)}
	for lang, want := range map[string]string{"zh": "这个用户无权这样做", "en": "not allowed for this user", "": "not allowed for this user", "fr": "not allowed for this user"} {
		var refused *Refused
		if err := c.Call(t.Context(), Request{Cmd: Status, Name: "denied", Lang: lang}, nil); !errors.As(err, &refused) || !strings.Contains(refused.Text, want) {
			t.Errorf("lang %q: %v", lang, err)
		}
	}
}

func TestClientErrorsInBothLanguages(t *testing.T) {
	c := Client{Path: serve(t)}
	none := Client{Path: filepath.Join(t.TempDir(), "none.sock")}
	var number int
	_, long := Listen(filepath.Join(t.TempDir(), strings.Repeat("x", 120)), echo{}, nil)
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, folder := Listen(filepath.Join(file, "c.sock"), echo{}, nil)
	tests := []struct {
		name   string
		err    error
		zh, en string
	}{
		{"no supervisor", none.Call(t.Context(), Request{Cmd: Status}, nil), "homed 在运行吗？", "is homed running?"},
		{"too large", c.Call(t.Context(), Request{Cmd: Status, Text: strings.Repeat("a", MaxLine)}, nil), "太大", "too large"},
		{"answer of another form", c.Call(t.Context(), Request{Cmd: Status}, &number), "同一个版本", "of the same version"},
		{"path too long", long, "太长", "too long"},
		{"no folder", folder, "不能在", "cannot be opened"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if zh, en := words.In(tt.err, "zh"), words.In(tt.err, "en"); !strings.Contains(zh, tt.zh) || !strings.Contains(en, tt.en) || tt.err.Error() != en {
				t.Errorf("%q, %q", zh, en)
			}
		})
	}
}

func TestBadLines(t *testing.T) {
	path := serve(t)
	tests := []struct{ name, send, want string }{
		{"no json", "hello\n", "no JSON object"},
		{"wrong type", "[1]\n", "no JSON object"},
		{"empty line", "\n", "no JSON object"},
		{"too long", strings.Repeat("a", MaxLine+1) + "\n", ""},
		{"cut off", `{"cmd":"status"`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			conn, err := net.Dial("unix", path)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			go func() { conn.Write([]byte(tt.send)); conn.(*net.UnixConn).CloseWrite() }()
			line, err := bufio.NewReader(conn).ReadString('\n')
			if tt.want == "" && err == nil || !strings.Contains(line, tt.want) {
				t.Errorf("got %q, %v", line, err)
			}
		})
	}
}

func TestNoSupervisor(t *testing.T) {
	err := (&Client{Path: filepath.Join(t.TempDir(), "none.sock")}).Call(t.Context(), Request{Cmd: Status}, nil)
	if err == nil || !strings.Contains(err.Error(), "is homed running?") {
		t.Errorf("got %v", err)
	}
}

func TestPathTooLong(t *testing.T) {
	_, err := Listen(filepath.Join(t.TempDir(), strings.Repeat("x", 120)), echo{}, nil)
	if err == nil || !strings.Contains(err.Error(), "shorter") {
		t.Errorf("got %v", err)
	}
}

func FuzzReadLine(f *testing.F) {
	f.Add([]byte("{}\n"))
	f.Add([]byte("a\n\nb"))
	f.Fuzz(func(t *testing.T, in []byte) {
		r := bufio.NewReaderSize(bytes.NewReader(in), 16)
		var out []byte
		for {
			line, err := readLine(r)
			if err != nil {
				break
			}
			out = append(out, line...)
		}
		// What was read is whole lines: everything up to the last line feed.
		if want := in[:bytes.LastIndexByte(in, '\n')+1]; !bytes.Equal(out, want) {
			t.Fatalf("read %q of %q", out, in)
		}
	})
}
