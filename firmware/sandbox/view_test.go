package sandbox_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"homeagent/firmware/sandbox"
)

func TestMounts(t *testing.T) {
	view := system(t)
	dir := t.TempDir()
	for _, name := range []string{"rw", "rw/sub", "ro"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(filepath.Join(dir, name), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "file"), []byte("text\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	view = append(view,
		sandbox.Mount{Source: dir + "/rw", Target: "/home/rw", Writable: true},
		sandbox.Mount{Source: dir + "/ro", Target: "/home/ro"},
		sandbox.Mount{Source: dir + "/rw", Target: "/noexec", Writable: true, NoExec: true},
		sandbox.Mount{Source: dir + "/file", Target: "/home/a/file"},
		sandbox.Mount{Kind: sandbox.Tmpfs, Target: "/small", Size: 64 << 10},
		sandbox.Mount{Source: dir + "/file", Target: "/small/in/file"},
		sandbox.Mount{Kind: sandbox.Tmpfs, Target: "/home/rw/sub", Size: 4096},
		sandbox.Mount{Kind: sandbox.Link, Source: "home/a", Target: "/link"},
		sandbox.Mount{Kind: sandbox.Link, Source: "../home/a", Target: "/deep/link"})
	for _, tt := range []struct{ name, script, want string }{
		{"writable", "echo x >/home/rw/new && cat /home/rw/new", "x\n"},
		{"read-only", "{ echo x >/home/ro/new; } 2>/dev/null || echo no", "no\n"},
		{"no programs", "printf '#!/bin/sh\necho yes\n' >/noexec/p; chmod +x /noexec/p; /noexec/p 2>/dev/null || echo no; /home/rw/p", "no\nyes\n"},
		{"file", "cat /home/a/file; { echo x >/home/a/file; } 2>/dev/null || echo no", "text\nno\n"},
		{"small", "head -c 100000 /dev/zero >/small/x 2>/dev/null || echo full", "full\n"},
		{"inside of a tmpfs", "cat /small/in/file", "text\n"},
		{"over a folder of a bind", "touch /home/rw/sub/x && ls /home/rw/sub", "x\n"},
		{"links", "cat /link/file /deep/link/file", "text\ntext\n"},
		{"all are nosuid, nodev but /dev", "awk '$6 !~ /nosuid/ || $6 !~ /nodev/ {print $5}' /proc/self/mountinfo | sort | xargs",
			"/dev /dev/pts\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if out, exit := shell(t, sandbox.Spec{View: view}, tt.script); out != tt.want {
				t.Errorf("%q, %+v; want %q", out, exit, tt.want)
			}
		})
	}
	if left, _ := os.ReadDir(dir + "/rw/sub"); len(left) > 0 {
		t.Errorf("written below a tmpfs: %v", left)
	}
}

func TestDevices(t *testing.T) {
	view := system(t)
	out, _ := shell(t, sandbox.Spec{View: view}, "ls /dev | xargs")
	if out != "fd full null ptmx pts random shm stderr stdin stdout tty urandom zero\n" {
		t.Errorf("%q", out)
	}
	if _, exit := shell(t, sandbox.Spec{View: view, Devices: []string{"/dev/kmsg"}}, "test -c /dev/kmsg && ! test -w /dev/kmsg"); exit.Code != 0 {
		t.Errorf("%+v", exit)
	}
}

// What is mounted later appears below a slave of a shared folder and nowhere
// else, and goes again; what the sandbox's folder is to others stays as it was.
func TestShare(t *testing.T) {
	view := system(t)
	dir := t.TempDir()
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	shared := filepath.Join(dir, "shared")
	for range 2 { // twice is harmless
		if err := sandbox.Share(shared); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { unix.Unmount(shared, unix.MNT_DETACH) })
	if err := os.Mkdir(shared+"/a", 0o755); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile("/proc/self/mountinfo"); err != nil || strings.Count(string(b), " "+shared+" ") != 1 {
		t.Errorf("mounted more than once, or not: %v\n%s", err, b)
	}
	view = append(view, sandbox.Mount{Source: shared, Target: "/slave", Slave: true}, sandbox.Mount{Source: shared, Target: "/private"})
	wait := "while [ ! -e /slave/a/late ]; do sleep .02; done; ls /private/a; echo here; " +
		"while [ -e /slave/a/late ]; do sleep .02; done; echo gone"
	p, out := start(t, t.Context(), sandbox.Spec{View: view}, wait)
	if err := unix.Mount("tmpfs", shared+"/a", "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "size=64k"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Unmount(shared+"/a", unix.MNT_DETACH) })
	if err := os.WriteFile(shared+"/a/late", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if line, err := out.ReadString('\n'); line != "here\n" {
		t.Fatalf("%q, %v", line, err)
	}
	// A sandbox that begins now sees it at once.
	if now, _ := shell(t, sandbox.Spec{View: view}, "ls /slave/a /private/a | xargs"); now != "/private/a: late /slave/a: late\n" {
		t.Errorf("%q", now)
	}
	if err := unix.Unmount(shared+"/a", 0); err != nil {
		t.Fatal(err)
	}
	if line, err := out.ReadString('\n'); line != "gone\n" {
		t.Fatalf("%q, %v", line, err)
	}
	if exit := p.Wait(); exit != (sandbox.Exit{}) {
		t.Errorf("%+v", exit)
	}
}

func TestShareCannot(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := sandbox.Share(file); err == nil || !strings.Contains(err.Error(), file) {
		t.Error(err)
	}
}

// A program in one sandbox swaps a folder for a link while others are made with
// that folder as a source, and as their starting folder.
func TestSwapRace(t *testing.T) {
	view := system(t)
	dir, err := os.MkdirTemp("", "swap-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	workspace, secret := dir+"/workspace", dir+"/secret"
	for _, d := range []string{workspace, secret, workspace + "/real"} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{secret + "/who": "secret", workspace + "/real/who": "mine"} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, d := range []string{dir, workspace, workspace + "/real"} {
		if err := os.Chown(d, asUser, asUser); err != nil {
			t.Fatal(err)
		}
	}
	work := append(append([]sandbox.Mount{}, view...), sandbox.Mount{Source: workspace, Target: "/w", Writable: true})
	start(t, t.Context(), sandbox.Spec{View: work}, fmt.Sprintf(
		"cd /w; ln -s %s link; while :; do mv real x; mv link real; mv real link; mv x real; done", secret))
	// The control: what follows names meets the secret.
	followed := false
	for range 1_000_000 {
		if b, err := os.ReadFile(workspace + "/real/who"); err == nil && string(b) == "secret" {
			followed = true
			break
		}
	}
	if !followed {
		t.Error("the race is never lost by who follows links, so that it shows nothing")
	}
	made := 0
	for range 40 {
		real := sandbox.Mount{Source: workspace + "/real", Target: "/x"}
		p, err := sandbox.Start(t.Context(), sandbox.Spec{Program: "/bin/grep", Args: []string{"-q", "secret", "/x/who", "who"}, Dir: "/w/real",
			View: append(append([]sandbox.Mount{}, work...), real), UID: asUser, GID: asUser}, sandbox.Stdio{})
		if err != nil {
			continue // a link, or nothing, at the moment it looked
		}
		made++
		if exit := p.Wait(); exit.Code == 0 {
			t.Fatal("the secret was found")
		}
	}
	t.Logf("%d of 40 sandboxes met the folder, the others a link or nothing", made)
}
