package use_test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"homeagent/drivers/web/client"
	"homeagent/tools/powercut/ledger"
	"homeagent/tools/powercut/stores"
	"homeagent/tools/powercut/use"
)

// wait bounds every step; the machine may be busy.
const wait = 2 * time.Minute

// house is a homed with its processes in a group of their own.
type house struct {
	bin, dir, base string
	cmd            *exec.Cmd
	out            bytes.Buffer
}

func (h *house) start(t *testing.T) {
	t.Helper()
	h.cmd = exec.Command(filepath.Join(h.bin, "homed"), "-data", h.dir)
	h.cmd.Stdout, h.cmd.Stderr = &h.out, &h.out
	h.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := h.cmd.Start(); err != nil {
		t.Fatal(err)
	}
}

// kill ends all processes at once.
func (h *house) kill() {
	syscall.Kill(-h.cmd.Process.Pid, syscall.SIGKILL)
	h.cmd.Wait()
}

func build(t *testing.T) string {
	t.Helper()
	bin := t.TempDir()
	for _, b := range []struct{ cgo, pkg string }{{"CGO_ENABLED=0", "./cmd/homed"}, {"CGO_ENABLED=1", "./cmd/homed-agent"}} {
		cmd := exec.Command("go", "build", "-tags", "sqlite_fts5", "-o", bin+"/", b.pkg)
		cmd.Dir = "../../.."
		cmd.Env = append(os.Environ(), b.cgo)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", cmd, err, out)
		}
	}
	return bin
}

func freeAddress(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	return ln.Addr().String()
}

// A house is used, all of its processes are killed, it is looked into, started
// again and asked. Then a write that never was is put on the list: both ways of
// looking must miss it.
func TestUseKillAndLook(t *testing.T) {
	dir, err := os.MkdirTemp("", "cut-") // short: sockets lie in it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	addr := freeAddress(t)
	h := &house{bin: build(t), dir: filepath.Join(dir, stores.Folder), base: "http://" + addr}
	if err := os.MkdirAll(h.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	config := fmt.Sprintf("daemon: {listen_addr: %q}\nvoice: {microphone: \"off\", speaker: \"off\"}\n", addr)
	if err := os.WriteFile(filepath.Join(h.dir, "config.yaml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	model, err := use.NewModel()
	if err != nil {
		t.Fatal(err)
	}
	defer model.Close()
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	l := ledger.New(nil)
	u := use.New(l, model, 5)

	h.start(t)
	defer func() { h.kill() }()
	if err := claim(ctx, h, u); err != nil {
		t.Fatalf("%v\n%s", err, h.out.String())
	}
	if err := u.Setup(ctx, model.URL()); err != nil {
		t.Fatal(err)
	}
	done := map[string]int{}
	for range 60 {
		what, err := u.Step(ctx)
		if err != nil {
			t.Fatalf("%v\n%s", err, h.out.String())
		}
		done[what]++
	}
	for _, what := range []string{"text", "fact", "timer", "token", "secret", "config"} {
		if done[what] == 0 {
			t.Errorf("no %s among the wishes", what)
		}
	}
	h.kill()

	found := stores.House{Setup: filepath.Join(dir, "setup"), Data: dir}.Look(ctx, l.Due(ledger.All))
	if lost := ledger.Judge(l.Due(ledger.All), found); len(lost) > 0 {
		t.Errorf("looked into: %q", lost)
	}
	h.start(t)
	if err := u.Connect(h.base); err != nil {
		t.Fatal(err)
	}
	if err := u.Ready(ctx); err != nil {
		t.Fatal(err)
	}
	asked, err := u.Verify(ctx)
	if err != nil {
		t.Fatalf("%v\n%s", err, h.out.String())
	}
	if lost := ledger.Judge(l.Due(ledger.All), asked); len(lost) > 0 {
		t.Errorf("asked: %q", lost)
	}

	for _, w := range []ledger.Write{
		{Kind: ledger.Input, Name: "never", Value: "never"}, {Kind: ledger.Answer, Name: "never", Value: "never"},
		{Kind: ledger.Fact, Name: "Nobody", Value: "owns nothing"}, {Kind: ledger.Timer, Name: "nevertimer", Value: ledger.Present},
		{Kind: ledger.Token, Name: "nevertoken", Value: ledger.Present}, {Kind: ledger.Secret, Name: use.SecretName, Value: "never"},
		{Kind: ledger.Config, Name: "memory.keep", Value: "1"},
	} {
		bad := ledger.New(nil)
		op, err := bad.Tried(w)
		if err == nil {
			err = bad.Acked(op, w, 0)
		}
		if err != nil {
			t.Fatal(err)
		}
		if len(ledger.Judge(bad.Due(ledger.All), found)) != 1 || len(ledger.Judge(bad.Due(ledger.All), asked)) != 1 {
			t.Errorf("a %s that never was is not missed", w.Kind)
		}
	}
}

// claim waits for the setup code and uses it.
func claim(ctx context.Context, h *house, u *use.House) error {
	c, err := client.TCP(h.base, "", "en")
	if err != nil {
		return err
	}
	defer c.Close()
	for {
		code, rerr := os.ReadFile(filepath.Join(h.dir, "setup-code.txt"))
		if err = rerr; err == nil {
			if err = c.Do(ctx, "GET", "session", nil, nil); err == nil {
				return u.Claim(ctx, h.base, strings.TrimSpace(string(code)))
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the door does not answer: %w", err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}
