package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"homeagent/drivers/web/door"
	"homeagent/firmware/control"
	"homeagent/firmware/words"
)

// box is a supervisor that answers in the language of the request.
type box struct{}

func (box) Handle(_ context.Context, _ control.Peer, req control.Request) (any, error) {
	switch req.Cmd {
	case control.Status:
		return control.StatusReport{Wifi: words.Text{ZH: "不管理", EN: "not managed"}.In(req.Lang)}, nil
	case control.ConfigGet:
		return "daemon: {log_level: info}\n", nil
	case control.SecretList:
		return []string{}, nil
	}
	return nil, words.Errorf("磁盘满了；请清理", "the disk is full; free some space")
}

func TestDoorControlSpeaksTheLanguageOfTheRequest(t *testing.T) {
	dir, err := os.MkdirTemp("", "door") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "c.sock")
	srv, err := control.Listen(path, box{}, slog.New(slog.NewTextHandler(io.Discard, nil)))
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { srv.Serve(t.Context()); close(done) }()
	defer func() { srv.Close(); <-done }()

	ctl := doorControl{control.Client{Path: path}}
	tests := []struct{ lang, wifi, full, noObject string }{
		{"zh", "不管理", "没有改动：磁盘满了；请清理", "没有改动：修改内容应当是一个 JSON 对象"},
		{"en", "not managed", "Nothing was changed: the disk is full; free some space", "Nothing was changed: config: the change must be a JSON object"},
	}
	for _, tt := range tests {
		t.Run(tt.lang, func(t *testing.T) {
			data, err := ctl.Status(t.Context(), tt.lang)
			if err != nil || !strings.Contains(string(data), tt.wifi) {
				t.Errorf("status %s, %v", data, err)
			}
			if data, err = ctl.Config(t.Context(), tt.lang); err != nil || string(data) != `{"daemon":{"log_level":"info"}}` {
				t.Errorf("config %s, %v", data, err)
			}
			for name, c := range map[string]struct {
				err  error
				want string
			}{
				"config": {ctl.SetConfig(t.Context(), tt.lang, []byte(`{"agent":{"max_tool_rounds":3}}`)), tt.full},
				"secret": {ctl.SetSecret(t.Context(), tt.lang, "a", "b"), tt.full},
				"patch":  {ctl.SetConfig(t.Context(), tt.lang, []byte(`[]`)), tt.noObject},
			} {
				var f *door.Fault
				if !errors.As(c.err, &f) || f.Status != 422 || !strings.HasPrefix(f.Words.In(tt.lang), c.want) {
					t.Errorf("%s: %v, %+v", name, c.err, f)
				}
			}
		})
	}
}

// listener keeps what it was asked.
type listener struct{ asked chan control.Request }

func (l listener) Handle(_ context.Context, _ control.Peer, req control.Request) (any, error) {
	l.asked <- req
	return nil, nil
}

func TestLostAccountsArePassedOn(t *testing.T) {
	dir, err := os.MkdirTemp("", "door") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "c.sock")
	asked := make(chan control.Request, 1)
	srv, err := control.Listen(path, listener{asked}, slog.New(slog.NewTextHandler(io.Discard, nil)))
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { srv.Serve(t.Context()); close(done) }()
	defer func() { srv.Close(); <-done }()
	for _, tt := range []struct {
		kept     string
		memories bool
		want     control.Request
	}{
		{"door.db.bad-20260301T080000", true, control.Request{Cmd: control.AccountsLost, Name: "door.db.bad-20260301T080000", Text: control.Memories}},
		{"", false, control.Request{Cmd: control.AccountsLost}},
	} {
		if err := lost(control.Client{Path: path})(t.Context(), tt.kept, tt.memories); err != nil {
			t.Fatal(err)
		}
		if got := <-asked; got != tt.want {
			t.Errorf("asked %+v, want %+v", got, tt.want)
		}
	}
	if err := lost(control.Client{Path: path + ".none"})(t.Context(), "", true); err == nil {
		t.Error("told nobody, and no error")
	}
}

// With no supervisor the door has words of its own.
func TestNoSupervisorIsNoRefusal(t *testing.T) {
	ctl := doorControl{control.Client{Path: filepath.Join(t.TempDir(), "none.sock")}}
	var f *door.Fault
	if err := ctl.SetSecret(t.Context(), "zh", "a", "b"); err == nil || errors.As(err, &f) {
		t.Errorf("got %v", err)
	}
}

func TestLastWord(t *testing.T) {
	taken := lastWord(&door.ListenError{Addr: ":8080", Key: "daemon.listen_addr", Err: syscall.EADDRINUSE})
	for _, part := range []string{"端口已被别的程序占用", "in use", "daemon.listen_addr"} {
		if !strings.Contains(taken, part) {
			t.Errorf("%q lacks %q", taken, part)
		}
	}
	if got := lastWord(errors.New("broken")); got != "broken" {
		t.Errorf("got %q", got)
	}
}
