package door

import (
	"bufio"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"homeagent/drivers/web/link"
)

// strangers are numbers that no system gives to a user.
const (
	stranger = 65533
	guest    = 65532
)

// connectAs opens the socket from a thread that has become another user, as the
// kernel then tells the door. The thread ends with its goroutine.
func connectAs(t *testing.T, uid int, path string) net.Conn {
	t.Helper()
	type result struct {
		conn net.Conn
		err  error
	}
	got := make(chan result, 1)
	go func() {
		if uid != os.Getuid() {
			runtime.LockOSThread()
			const same = ^uintptr(0)
			if _, _, e := syscall.RawSyscall(syscall.SYS_SETRESUID, same, uintptr(uid), same); e != 0 {
				got <- result{nil, e}
				return
			}
		}
		c, err := net.Dial("unix", path)
		got <- result{c, err}
	}()
	r := <-got
	if r.err != nil {
		t.Fatal(r.err)
	}
	t.Cleanup(func() { r.conn.Close() })
	return r.conn
}

// TestWhoMayUseTheLocalSocket: root, the door's own user and those named may;
// the agent's user reaches its link, by the secret, and nothing else.
func TestWhoMayUseTheLocalSocket(t *testing.T) {
	h := open(t, func(o *Options) { o.SocketMode, o.AllowUIDs = 0o666, []int{guest} })
	for d := h.dir; len(d) > len(os.TempDir()); d = filepath.Dir(d) {
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(h.dir, SocketName)
	tests := []struct {
		name   string
		uid    int
		path   string
		secret string
		status int
	}{
		{"itself", os.Getuid(), apiPrefix + "status", "", 200},
		{"another user", stranger, apiPrefix + "status", "", 403},
		{"another user, the page", stranger, "/", "", 403},
		{"a named user", guest, apiPrefix + "status", "", 200},
		{"another user, the link with a wrong secret", stranger, link.Path, "wrong", 403},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if os.Getuid() != 0 && tt.uid != os.Getuid() {
				t.Skip("skipped: root is absent; only root can be another user")
			}
			c := connectAs(t, tt.uid, path)
			req, err := http.NewRequest(http.MethodGet, "http://door"+tt.path, nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Connection", "close")
			if tt.secret != "" {
				req.Header.Set("Connection", "Upgrade")
				req.Header.Set("Upgrade", "homeagent-link/1")
				req.Header.Set("X-Homeagent-Link", tt.secret)
			}
			if err := req.Write(c); err != nil {
				t.Fatal(err)
			}
			resp, err := http.ReadResponse(bufio.NewReader(c), req)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			if resp.StatusCode != tt.status {
				t.Errorf("answered %d, want %d", resp.StatusCode, tt.status)
			}
		})
	}
}
