package emulator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// program is the emulator that every board uses.
const program = "qemu-system-aarch64"

// ErrNoQEMU is a computer without the emulator.
var ErrNoQEMU = errors.New(program + " is not installed; tools/setup image brings it (尚未安装模拟器，请运行 tools/setup image)")

// Available returns ErrNoQEMU or ErrNoMtools where machines cannot be started.
func Available() error {
	if _, err := exec.LookPath(program); err != nil {
		return ErrNoQEMU
	}
	if _, err := exec.LookPath("mcopy"); err != nil {
		return ErrNoMtools
	}
	return nil
}

// Machine is one run of QEMU.
type Machine struct {
	log   *Log
	mon   *monitor
	dir   string // what Start made, gone after Close
	cmd   *exec.Cmd
	ports map[int]int
	// keyboard is our end of the console that is typed into, nil for none; own closes it.
	keyboard *os.File

	ended chan struct{} // closed when QEMU has ended and its log is complete
	err   error         // how QEMU ended; after ended
	once  sync.Once
}

// Start starts a machine and returns as soon as QEMU runs the guest; ctx bounds
// the start only. A failed Start leaves nothing behind.
func Start(ctx context.Context, c Config) (*Machine, error) {
	if err := Available(); err != nil {
		return nil, err
	}
	c, err := c.defaulted()
	if err != nil {
		return nil, fmt.Errorf("emulator: %w", err)
	}
	dir, err := os.MkdirTemp("", "emulator-")
	if err != nil {
		return nil, err
	}
	m := &Machine{dir: dir, log: newLog(c.Board.serials()), ended: make(chan struct{})}
	b, err := c.prepare(ctx, dir)
	if err == nil {
		err = m.launch(c, b)
	}
	if err != nil {
		os.RemoveAll(dir)
		return nil, fmt.Errorf("emulator: %w", err)
	}
	if err := m.greet(ctx, c); err != nil {
		m.Close()
		return nil, fmt.Errorf("emulator: %w", err)
	}
	return m, nil
}

// prepare takes out of the card what QEMU itself must load.
func (c Config) prepare(ctx context.Context, dir string) (boot, error) {
	b := boot{kernel: c.Kernel, initrd: c.Initrd, commandLine: c.CommandLine}
	slot, _, err := c.Disk.Layout.Slot(c.Slot)
	if err != nil {
		return b, err
	}
	extract := func(partition int, name string) (string, error) {
		content, err := c.Disk.ReadFile(ctx, partition, name)
		if err != nil {
			return "", err
		}
		path := filepath.Join(dir, name)
		return path, os.WriteFile(path, content, 0o600)
	}
	if c.Board == Pi3 {
		// Kernel and device tree of a slot belong together.
		if b.dtb, err = extract(slot, "bcm2837-rpi-3-b.dtb"); err != nil {
			return b, err
		}
	}
	switch {
	case b.kernel != "":
	case c.UBoot:
		// The boot script adds what it finds there; the line is the runner's, never the image's.
		args := strings.TrimSpace("extra=" + piOnly + " " + c.Append)
		if err := c.Disk.WriteFile(ctx, c.Disk.Layout.Setup, "kernel-args.txt", []byte(args+"\n")); err != nil {
			return b, err
		}
		b.kernel, err = extract(c.Disk.Layout.Setup, "u-boot.bin")
		return b, err
	default:
		names, err := c.Disk.ListFiles(ctx, slot)
		if err != nil {
			return b, err
		}
		kernel, initrd, err := bootFiles(names)
		if err != nil {
			return b, fmt.Errorf("slot %s: %w", c.Slot, err)
		}
		if b.kernel, err = extract(slot, kernel); err != nil {
			return b, err
		}
		if initrd != "" {
			if b.initrd, err = extract(slot, initrd); err != nil {
				return b, err
			}
		}
	}
	if b.commandLine == "" {
		if b.commandLine, err = c.slotCommandLine(ctx, slot); err != nil {
			return b, err
		}
		if c.Board == Pi3 {
			b.commandLine += " " + piOnly
		}
	}
	b.commandLine = strings.TrimSpace(b.commandLine + " " + c.Append)
	return b, nil
}

// piOnly keeps the emulated Pi to one processor: the others cost time and do nothing.
const piOnly = "maxcpus=1"

// slotCommandLine is the command line that the slot's own loader would make, for
// the emulated board's console.
func (c Config) slotCommandLine(ctx context.Context, slot int) (string, error) {
	for _, name := range []string{"boot.scr", "cmdline.txt"} {
		text, err := c.Disk.ReadFile(ctx, slot, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			return "", err
		}
		return c.Disk.Layout.loaderCommandLine(string(text), c.Slot, c.Board.console())
	}
	return c.Disk.Layout.CommandLine(c.Slot, c.Board.console())
}

// bootFiles finds kernel and initial RAM disk among the files of a slot.
func bootFiles(names []string) (kernel, initrd string, err error) {
	for _, name := range names {
		switch strings.ToLower(name) {
		case "image.gz", "image", "kernel8.img":
			kernel = name
		case "initrd.img", "initramfs.img":
			initrd = name
		}
	}
	if kernel == "" {
		return "", "", fmt.Errorf("there is no kernel among %q", names)
	}
	return kernel, initrd, nil
}

// launch starts QEMU with its consoles and its monitor on descriptors of ours.
func (m *Machine) launch(c Config, b boot) error {
	if c.WriteLog != "" {
		if err := os.WriteFile(c.WriteLog, nil, 0o644); err != nil {
			return err
		}
	}
	ours, theirs, err := socketPair("monitor")
	if err != nil {
		return fmt.Errorf("monitor: %w", err)
	}
	conn, err := net.FileConn(ours)
	ours.Close()
	defer theirs.Close()
	if err != nil {
		return fmt.Errorf("monitor: %w", err)
	}
	var logFile io.Writer
	if c.LogFile != "" {
		f, err := os.OpenFile(c.LogFile, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
		if err != nil {
			conn.Close()
			return err
		}
		logFile = f
	}
	m.cmd = exec.Command(program, c.arguments(b)...)
	m.cmd.ExtraFiles = []*os.File{theirs}
	if c.Sound != nil {
		m.cmd.Env = append(os.Environ(), c.Sound.environment())
	}
	var consoles []*os.File
	for i := range c.Board.serials() {
		open := os.Pipe
		if c.typedInto(i) {
			open = func() (*os.File, *os.File, error) { return socketPair("serial") }
		}
		r, w, err := open()
		if err != nil {
			conn.Close()
			return err
		}
		defer w.Close()
		if c.typedInto(i) {
			m.keyboard = r
		}
		consoles = append(consoles, r)
		m.cmd.ExtraFiles = append(m.cmd.ExtraFiles, w)
	}
	complaints := &limited{max: 1 << 16}
	m.cmd.Stdout, m.cmd.Stderr = complaints, complaints
	m.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	m.mon = newMonitor(conn, func(name string, data json.RawMessage) {
		if name != "RTC_CHANGE" && name != "NIC_RX_FILTER_CHANGED" {
			m.log.add("[qemu] " + name + " " + string(data))
		}
	})
	started := make(chan error)
	go m.own(consoles, logFile, c.Echo, complaints, started)
	if err := <-started; err != nil {
		m.mon.close()
		return err
	}
	return nil
}

// socketPair is a connection between us and a child process.
func socketPair(name string) (ours, theirs *os.File, err error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, err
	}
	// Only our end: deadlines need it, and the child does as it likes with its own.
	if err := unix.SetNonblock(pair[0], true); err != nil {
		unix.Close(pair[0])
		unix.Close(pair[1])
		return nil, nil, err
	}
	return os.NewFile(uintptr(pair[0]), name), os.NewFile(uintptr(pair[1]), name), nil
}

// own starts QEMU, waits for it and for the end of its consoles.
func (m *Machine) own(consoles []*os.File, logFile, echo io.Writer, complaints *limited, started chan<- error) {
	// The kernel sends the death signal when the thread ends that made the process.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	closeAll := func() {
		for _, r := range consoles {
			r.Close()
		}
		if f, ok := logFile.(io.Closer); ok {
			f.Close()
		}
	}
	err := m.cmd.Start()
	started <- err
	if err != nil {
		closeAll()
		return
	}
	var readers sync.WaitGroup
	for _, r := range consoles {
		out := io.Discard
		if logFile != nil {
			out = logFile
		}
		if echo != nil {
			out = io.MultiWriter(out, echo)
		}
		readers.Go(func() { m.log.follow(r, out) })
	}
	m.err = m.cmd.Wait()
	readers.Wait()
	closeAll()
	if text := strings.TrimSpace(complaints.String()); text != "" && m.err != nil {
		m.err = fmt.Errorf("%w: %s", m.err, text)
	}
	close(m.ended)
}

// greet brings the monitor to work and learns the ports.
func (m *Machine) greet(ctx context.Context, c Config) error {
	err := m.mon.run(ctx, "qmp_capabilities", nil, nil)
	if err == nil && c.Network != NoNetwork {
		var text string
		err = m.mon.run(ctx, "human-monitor-command", map[string]string{"command-line": "info usernet"}, &text)
		m.ports = forwardedPorts(text)
	}
	if errors.Is(err, ErrMonitorGone) {
		<-m.ended
		return fmt.Errorf("%s: %w", program, m.err)
	}
	return err
}

var forwardLine = regexp.MustCompile(`TCP\[HOST_FORWARD\]\s+\d+\s+\S+\s+(\d+)\s+\S+\s+(\d+)`)

// forwardedPorts reads QEMU's table of forwarded ports: guest to host.
func forwardedPorts(text string) map[int]int {
	ports := map[int]int{}
	for _, m := range forwardLine.FindAllStringSubmatch(text, -1) {
		host, _ := strconv.Atoi(m[1])
		guest, _ := strconv.Atoi(m[2])
		ports[guest] = host
	}
	return ports
}

func sortedPorts(forward map[int]int) []int { return slices.Sorted(maps.Keys(forward)) }

// Log is what the guest prints on its serial consoles; lines that begin with
// "[qemu]" are events of the emulator, such as RESET, SHUTDOWN and WATCHDOG.
func (m *Machine) Log() *Log { return m.log }

// Type types a line into the guest's serial console. What it prints, the line
// itself too, comes into the Log. The machine must have a Keyboard, and the guest
// must listen: QEMU's serial line stays deaf once its buffer was filled before
// the guest's driver opened it.
func (m *Machine) Type(line string) error {
	if m.keyboard == nil {
		return errors.New("the machine has no keyboard")
	}
	if err := m.keyboard.SetWriteDeadline(time.Now().Add(typeWait)); err != nil {
		return err
	}
	if _, err := m.keyboard.WriteString(line + "\n"); err != nil {
		return fmt.Errorf("type %q: %w", line, err)
	}
	return nil
}

// typeWait is how long a guest may be too busy to take a line.
const typeWait = time.Minute

// Address is host and port of this computer behind which a port of the guest is,
// "" if it is not forwarded.
func (m *Machine) Address(guestPort int) string {
	if m.ports[guestPort] == 0 {
		return ""
	}
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(m.ports[guestPort]))
}

// PID is QEMU's process number.
func (m *Machine) PID() int { return m.cmd.Process.Pid }

// Command runs a command of QEMU's monitor (QMP) and decodes its answer into out
// unless that is nil.
func (m *Machine) Command(ctx context.Context, command string, args, out any) error {
	return m.mon.run(ctx, command, args, out)
}

// PowerButton presses the power button; only a guest that listens to it ends.
func (m *Machine) PowerButton(ctx context.Context) error {
	return m.mon.run(ctx, "system_powerdown", nil, nil)
}

// Done is closed when the machine has ended, by itself or by Kill.
func (m *Machine) Done() <-chan struct{} { return m.ended }

// Wait waits until the machine ends by itself, as after a guest's poweroff.
func (m *Machine) Wait(ctx context.Context) error {
	select {
	case <-m.ended:
		return m.err
	case <-ctx.Done():
		return fmt.Errorf("wait for the machine to end: %w\n%s", ctx.Err(), m.log.Tail(40))
	}
}

// Kill cuts the power: QEMU is killed at once. What the guest had handed to its
// card is on it, what it still held back is lost. Kill returns when the card can
// be used again.
func (m *Machine) Kill() {
	m.cmd.Process.Kill()
	<-m.ended
}

// Close ends the machine, if it still runs, and removes what Start made.
func (m *Machine) Close() error {
	var err error
	m.once.Do(func() {
		m.Kill()
		m.mon.close()
		err = os.RemoveAll(m.dir)
	})
	return err
}

// limited keeps the beginning of what is written to it.
type limited struct {
	mu  sync.Mutex
	b   []byte
	max int
}

func (l *limited) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.b = append(l.b, p[:min(len(p), l.max-len(l.b))]...)
	return len(p), nil
}

func (l *limited) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.b)
}
