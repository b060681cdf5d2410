package sandboxtest

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"homeagent/firmware/sandbox"
)

// SmallSize is the size of the small file system, half of which is a reserve.
const SmallSize = 32 << 20

// House is what stands around the sandbox, and what it is to keep.
type House struct {
	dir      string
	self     string
	user     int
	key      string
	marker   string
	leak     int
	disk     uint64
	abstract string
	tcp      net.Listener
	closers  []func() error
	victim   *exec.Cmd
	// Cgroup is the parent of the sandboxes' control groups, "" for none.
	Cgroup string
}

// NewHouse makes a House whose sandboxes run as the user. Close removes it.
func NewHouse(user int) (h *House, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "house-")
	if err != nil {
		return nil, err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, err
	}
	h = &House{dir: dir, self: self, user: user, marker: "victim-" + strconv.Itoa(os.Getpid()), key: "sk-" + filepath.Base(dir)}
	h.abstract = "@" + h.marker
	defer func() {
		if err != nil {
			err = errors.Join(err, h.Close())
		}
	}()
	if err := errors.Join(os.Chmod(dir, 0o755), h.program(), h.folders(), h.workspace(), h.listeners()); err != nil {
		return nil, err
	}
	h.disk = anyDisk()
	// What a careless supervisor would leave to its children: a secret in the
	// environment, a descriptor that stays open.
	if err := os.Setenv("SANDBOXTEST_KEY", h.key); err != nil {
		return nil, err
	}
	if h.leak, err = unix.Open(h.path("secrets/key"), unix.O_RDONLY, 0); err != nil {
		return nil, err
	}
	h.victim = exec.Command(h.self, argPause, h.marker)
	h.victim.SysProcAttr = &syscall.SysProcAttr{Credential: h.credential()}
	return h, h.victim.Start()
}

// anyDisk finds a block device that can be opened, 0 if there is none.
func anyDisk() uint64 {
	names, _ := filepath.Glob("/dev/*")
	for _, name := range names {
		var st unix.Stat_t
		if unix.Stat(name, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFBLK {
			continue
		}
		if f, err := os.Open(name); err == nil {
			f.Close()
			return st.Rdev
		}
	}
	return 0
}

func (h *House) path(name string) string { return filepath.Join(h.dir, name) }

func (h *House) credential() *syscall.Credential {
	return &syscall.Credential{Uid: uint32(h.user), Gid: uint32(h.user), Groups: []uint32{}}
}

// program puts the binary where the sandbox's user may go.
func (h *House) program() error {
	b, err := os.ReadFile(h.self)
	if err != nil {
		return err
	}
	h.self = h.path("attempt")
	return os.WriteFile(h.self, b, 0o755)
}

func (h *House) folders() error {
	for name, mode := range map[string]os.FileMode{"secrets": 0o700, "outside": 0o755, "readonly": 0o777, "workspace": 0o755, "small": 0o777,
		"tmp": 0o777} {
		if err := errors.Join(os.Mkdir(h.path(name), 0o700), os.Chmod(h.path(name), mode)); err != nil {
			return err
		}
	}
	if err := unix.Mount("tmpfs", h.path("small"), "tmpfs", 0, fmt.Sprintf("size=%d,mode=0777", SmallSize)); err != nil {
		return err
	}
	return errors.Join(os.WriteFile(h.path("secrets/key"), []byte(h.key), 0o600), os.WriteFile(h.path("readonly/file"), nil, 0o666),
		os.Chown(h.path("workspace"), h.user, h.user))
}

// workspace puts there what a former root could have left lying about.
func (h *House) workspace() error {
	program, err := os.ReadFile(h.self)
	if err != nil {
		return err
	}
	for _, name := range []string{"setuid", "capable"} {
		if err := os.WriteFile(h.path("workspace/"+name), program, 0o755); err != nil {
			return err
		}
	}
	// Version 2 of struct vfs_cap_data (linux/capability.h), effective, all of the first 32 permitted.
	caps := binary.LittleEndian.AppendUint32(nil, 0x02000001)
	caps = binary.LittleEndian.AppendUint32(caps, 1<<unix.CAP_SYS_ADMIN)
	caps = append(caps, make([]byte, 12)...)
	old := unix.Umask(0)
	defer unix.Umask(old)
	return errors.Join(
		os.Chmod(h.path("workspace/setuid"), 0o755|os.ModeSetuid),
		unix.Setxattr(h.path("workspace/capable"), "security.capability", caps, 0),
		unix.Mknod(h.path("workspace/zero"), unix.S_IFCHR|0o666, int(unix.Mkdev(1, 5))),
		os.WriteFile(h.path("workspace/"+scriptName), []byte("#!/proc/self/exe\n"), 0o755))
}

func (h *House) listeners() error {
	for _, l := range []struct {
		network, address string
	}{{"tcp", "127.0.0.1:0"}, {"unix", h.abstract}, {"unix", h.path("outside/socket")}} {
		listener, err := net.Listen(l.network, l.address)
		if err != nil {
			return err
		}
		h.closers = append(h.closers, listener.Close)
		if l.network == "tcp" {
			h.tcp = listener
		}
		go func() { // ends with Close
			for {
				c, err := listener.Accept()
				if err != nil {
					return
				}
				c.Close()
			}
		}()
	}
	return os.Chmod(h.path("outside/socket"), 0o777)
}

// Close ends and removes everything.
func (h *House) Close() error {
	var errs []error
	for _, c := range h.closers {
		errs = append(errs, c())
	}
	if h.victim != nil && h.victim.Process != nil {
		h.victim.Process.Kill()
		h.victim.Wait()
	}
	if h.leak > 2 {
		unix.Close(h.leak)
	}
	os.Unsetenv("SANDBOXTEST_KEY")
	if err := unix.Unmount(h.path("small"), unix.MNT_DETACH); err != nil && err != unix.EINVAL {
		errs = append(errs, err)
	}
	return errors.Join(append(errs, os.RemoveAll(h.dir))...)
}

// targets are the House's, as seen from inside or outside.
func (h *House) targets(inside bool) Targets {
	t := Targets{Home: h.dir, Key: h.key, Secret: h.path("secrets/key"), Outside: h.path("outside"), ReadOnly: h.path("readonly"),
		Workspace: h.path("workspace"), Small: h.path("small"), Tmp: h.path("tmp"), Shm: h.path("tmp"), Victim: h.victim.Process.Pid, Marker: h.marker,
		TCP: h.tcp.Addr().String(), Abstract: h.abstract, Socket: h.path("outside/socket"), Disk: h.disk, Bomb: 300, Limit: 96 << 20}
	t.First = t.Victim
	if inside {
		t.Inside, t.ReadOnly, t.Workspace, t.Small, t.Tmp, t.Shm, t.First = true, "/readonly", "/workspace", "/small", "/tmp", "/dev/shm", 1
	}
	return t
}

// Spec is a sandbox as a command has it: the system, the workspace, no network.
func (h *House) Spec() (sandbox.Spec, error) {
	view, err := sandbox.System()
	if err != nil {
		return sandbox.Spec{}, err
	}
	view = append(view,
		sandbox.Mount{Source: h.self, Target: "/attempt"},
		sandbox.Mount{Source: h.path("readonly"), Target: "/readonly"},
		sandbox.Mount{Source: h.path("workspace"), Target: "/workspace", Writable: true})
	return sandbox.Spec{Program: "/attempt", View: view, UID: h.user, GID: h.user, Cgroup: h.Cgroup}, nil
}

// attemptWait bounds one attempt.
const attemptWait = 2 * time.Minute

// inside tries the attempt in a sandbox.
func (h *House) inside(ctx context.Context, a Attempt) (verdict, error) {
	ctx, cancel := context.WithTimeout(ctx, attemptWait)
	defer cancel()
	targets, err := json.Marshal(h.targets(true))
	if err != nil {
		return verdict{}, err
	}
	spec, err := h.Spec()
	if err != nil {
		return verdict{}, err
	}
	spec.Args = []string{argTry, a.Name, string(targets)}
	if a.Spec != nil {
		a.Spec(h, &spec)
	}
	r, w, err := os.Pipe()
	if err != nil {
		return verdict{}, err
	}
	said := make(chan []byte, 1)
	go func() { // ends when all have closed the pipe
		b, _ := io.ReadAll(io.LimitReader(r, 1<<16))
		r.Close()
		said <- b
	}()
	p, err := sandbox.Start(ctx, spec, sandbox.Stdio{Out: w, Err: w})
	w.Close()
	if err != nil {
		return verdict{}, err
	}
	exit := p.Wait()
	v, err := parse(<-said)
	if err != nil {
		// It did not live to tell.
		v = verdict{How: exit.In("en"), Worked: a.Death}
		if exit.Why == sandbox.WhyProgram && exit.Signal == 0 {
			return v, fmt.Errorf("%s: %w", v.How, err)
		}
	}
	if exit.Why == sandbox.WhyLost || exit.Why == sandbox.WhyCancelled {
		return v, errors.New(exit.In("en"))
	}
	return v, nil
}

// outside tries it without one.
func (h *House) outside(ctx context.Context, a Attempt) (verdict, error) {
	ctx, cancel := context.WithTimeout(ctx, attemptWait)
	defer cancel()
	targets, err := json.Marshal(h.targets(false))
	if err != nil {
		return verdict{}, err
	}
	cmd := exec.CommandContext(ctx, h.self, argTry, a.Name, string(targets))
	cmd.WaitDelay = time.Second // what outlives it may hold the pipe
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if a.AsUser {
		cmd.SysProcAttr.Credential = h.credential()
	} else {
		cmd.SysProcAttr.Cloneflags = unix.CLONE_NEWNS
	}
	err = cmd.Run()
	if errors.Is(err, exec.ErrWaitDelay) {
		err = nil
	}
	v, perr := parse(out.Bytes())
	if perr != nil {
		return v, fmt.Errorf("%w (%v) %s", perr, err, errOut.Bytes())
	}
	return v, nil
}

// parse reads the verdict, which is the last line.
func parse(out []byte) (v verdict, err error) {
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &v); err != nil {
		return v, fmt.Errorf("no verdict in %q", out)
	}
	return v, nil
}
