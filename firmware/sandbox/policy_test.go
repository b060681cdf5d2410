package sandbox

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"github.com/elastic/go-seccomp-bpf/arch"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// answer runs the policy as the kernel would, on a call with its arguments. The
// machine of the bpf package reads big-endian words.
func answer(t *testing.T, s *Spec, architecture, number uint32, args ...uint64) uint32 {
	t.Helper()
	program, err := policy(s)
	if err != nil {
		t.Fatal(err)
	}
	vm, err := bpf.NewVM(program)
	if err != nil {
		t.Fatal(err)
	}
	data := binary.BigEndian.AppendUint32(nil, number)
	data = binary.BigEndian.AppendUint32(data, architecture)
	data = append(data, make([]byte, 8)...)
	for i := range 6 {
		var a uint64
		if i < len(args) {
			a = args[i]
		}
		data = binary.BigEndian.AppendUint32(data, uint32(a))
		data = binary.BigEndian.AppendUint32(data, uint32(a>>32))
	}
	got, err := vm.Run(data)
	if err != nil {
		t.Fatal(err)
	}
	return uint32(got)
}

func refusal(errno unix.Errno) uint32 { return unix.SECCOMP_RET_ERRNO | uint32(errno) }

const allowed = uint32(unix.SECCOMP_RET_ALLOW)

func native(t *testing.T) *arch.Info {
	t.Helper()
	info, err := arch.GetInfo("")
	if err != nil {
		t.Fatal(err)
	}
	return info
}

// Every call of the architecture gets the answer of its list, with arguments
// that happen to be numbers of other calls.
func TestPolicyNames(t *testing.T) {
	info := native(t)
	inPart := []string{"clone", "mknod", "mknodat", "ioctl", "personality", "socketpair", "socket"}
	program, err := policy(&Spec{})
	if err != nil {
		t.Fatal(err)
	}
	if len(program) > 4096 {
		t.Fatalf("%d instructions are more than the kernel takes", len(program))
	}
	for name, number := range info.SyscallNames {
		if slices.Contains(inPart, name) {
			continue
		}
		want := refusal(unix.ENOSYS)
		switch {
		case slices.Contains(allowedCalls, name) || name == "listen":
			want = allowed
		case slices.Contains(refusedCalls, name):
			want = refusal(unix.EPERM)
		}
		if got := answer(t, &Spec{}, uint32(info.ID), uint32(number), unix.SYS_READ, unix.SYS_READ, unix.SYS_READ); got != want {
			t.Errorf("%s: %#x, want %#x", name, got, want)
		}
	}
}

func TestPolicyArguments(t *testing.T) {
	info := native(t)
	online := &Spec{Network: true}
	tests := []struct {
		name string
		spec *Spec
		call string
		args []uint64
		want uint32
	}{
		{"thread", &Spec{}, "clone", []uint64{unix.CLONE_VM | unix.CLONE_THREAD | unix.CLONE_SIGHAND}, allowed},
		{"user namespace", &Spec{}, "clone", []uint64{unix.CLONE_NEWUSER | uint64(unix.SIGCHLD)}, refusal(unix.EPERM)},
		{"user namespace disguised", &Spec{}, "clone", []uint64{unix.CLONE_NEWUSER | 1<<40}, refusal(unix.EPERM)},
		{"mount namespace", &Spec{}, "clone", []uint64{unix.CLONE_NEWNS}, refusal(unix.EPERM)},
		{"clone3", &Spec{}, "clone3", nil, refusal(unix.ENOSYS)},
		{"pipe", &Spec{}, "mknodat", []uint64{0, 0, unix.S_IFIFO | 0o600}, allowed},
		{"block device", &Spec{}, "mknodat", []uint64{0, 0, unix.S_IFBLK | 0o600}, refusal(unix.EPERM)},
		{"whiteout", &Spec{}, "mknodat", []uint64{0, 0, unix.S_IFCHR}, refusal(unix.EPERM)},
		{"terminal size", &Spec{}, "ioctl", []uint64{0, unix.TIOCGWINSZ}, allowed},
		{"sign-extended request", &Spec{}, "ioctl", []uint64{0, 0xffffffff80045430}, allowed},
		{"typing", &Spec{}, "ioctl", []uint64{0, unix.TIOCSTI}, refusal(unix.EPERM)},
		{"typing disguised", &Spec{}, "ioctl", []uint64{0, unix.TIOCSTI | 1<<32}, refusal(unix.EPERM)},
		{"console", &Spec{}, "ioctl", []uint64{0, tioclinux}, refusal(unix.EPERM)},
		{"ask personality", &Spec{}, "personality", []uint64{0xffffffff}, allowed},
		{"another personality", &Spec{}, "personality", []uint64{0x0040000}, refusal(unix.EPERM)},
		{"tcp", &Spec{}, "socket", []uint64{unix.AF_INET}, allowed},
		{"local", &Spec{}, "socket", []uint64{unix.AF_UNIX}, allowed},
		{"local with a network", online, "socket", []uint64{unix.AF_UNIX}, refusal(unix.EAFNOSUPPORT)},
		{"local with a network, allowed", &Spec{Network: true, LocalSockets: true}, "socket", []uint64{unix.AF_UNIX}, allowed},
		{"tcp with a network", online, "socket", []uint64{unix.AF_INET6}, allowed},
		{"listen with a network", online, "listen", nil, refusal(unix.EPERM)},
		{"listen with a network, allowed", &Spec{Network: true, LocalSockets: true}, "listen", nil, allowed},
		{"routes", &Spec{}, "socket", []uint64{unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_ROUTE}, allowed},
		{"netfilter", &Spec{}, "socket", []uint64{unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_NETFILTER}, refusal(unix.EAFNOSUPPORT)},
		{"packets", &Spec{}, "socket", []uint64{unix.AF_PACKET}, refusal(unix.EAFNOSUPPORT)},
		{"hypervisor", &Spec{}, "socket", []uint64{unix.AF_VSOCK}, refusal(unix.EAFNOSUPPORT)},
		{"pair", online, "socketpair", []uint64{unix.AF_UNIX}, allowed},
		{"pair of another kind", &Spec{}, "socketpair", []uint64{unix.AF_TIPC}, refusal(unix.EAFNOSUPPORT)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			number, ok := info.SyscallNames[tt.call]
			if !ok {
				t.Fatalf("no %s", tt.call)
			}
			if got := answer(t, tt.spec, uint32(info.ID), uint32(number), tt.args...); got != tt.want {
				t.Errorf("%#x, want %#x", got, tt.want)
			}
		})
	}
}

// Another interface's numbers mean other calls; none of them is answered.
func TestPolicyForeign(t *testing.T) {
	info := native(t)
	for _, architecture := range []arch.AuditArch{arch.I386.ID, arch.ARM.ID, arch.X32.ID, 0} {
		for number := range uint32(600) {
			mask := uint32(0)
			if architecture == arch.X32.ID {
				mask = uint32(arch.X32.SeccompMask)
			}
			if architecture == info.ID && mask == 0 {
				continue
			}
			if got := answer(t, &Spec{}, uint32(architecture), number|mask); got != refusal(unix.ENOSYS) {
				t.Fatalf("architecture %#x, call %d: %#x", uint32(architecture), number, got)
			}
			if testing.Short() && number > 50 {
				break
			}
		}
	}
}

// What amd64 is allowed arm64 is too, but for calls of an older day that it
// never had.
func TestCallsOfBoth(t *testing.T) {
	old := strings.Fields("access alarm arch_prctl chmod chown creat dup2 epoll_create epoll_ctl_old epoll_wait epoll_wait_old eventfd fork " +
		"futimesat get_thread_area getdents getpgrp inotify_init lchown link lstat mkdir newfstatat open pause pipe poll readlink rename " +
		"rmdir select set_thread_area signalfd stat symlink time unlink utime utimes vfork")
	for _, name := range allowedCalls {
		_, amd := arch.X86_64.SyscallNames[name]
		_, arm := arch.AARCH64.SyscallNames[name]
		if amd && !arm && !slices.Contains(old, name) {
			t.Errorf("%s is missing on arm64, or has another name", name)
		}
	}
	for _, name := range old { // each has its successor there
		if _, arm := arch.AARCH64.SyscallNames[name]; arm {
			t.Errorf("%s is on arm64", name)
		}
	}
	// The numbers of another source, of the architecture that this runs on.
	info := native(t)
	for name, number := range map[string]uint32{"stat": unix.SYS_STATX, "fstat": unix.SYS_FSTAT, "openat": unix.SYS_OPENAT, "read": unix.SYS_READ,
		"mmap": unix.SYS_MMAP, "execve": unix.SYS_EXECVE, "getdents": unix.SYS_GETDENTS64, "faccessat": unix.SYS_FACCESSAT, "stat by name": fstatat,
		"futex": unix.SYS_FUTEX, "lseek": unix.SYS_LSEEK, "fcntl": unix.SYS_FCNTL, "truncate": unix.SYS_TRUNCATE, "sendfile": unix.SYS_SENDFILE,
		"statfs": unix.SYS_STATFS, "fadvise": unix.SYS_FADVISE64, "rename": unix.SYS_RENAMEAT2, "wait": unix.SYS_WAIT4} {
		if got := answer(t, &Spec{}, uint32(info.ID), number); got != allowed {
			t.Errorf("%s, call %d: %#x", name, number, got)
		}
	}
}

// A name that no architecture has is a slip of the pen.
func TestCallNames(t *testing.T) {
	seen := map[string]bool{}
	for _, name := range append(slices.Clone(allowedCalls), refusedCalls...) {
		_, amd := arch.X86_64.SyscallNames[name]
		_, arm := arch.AARCH64.SyscallNames[name]
		_, i386 := arch.I386.SyscallNames[name]
		if !amd && !arm && !i386 {
			t.Errorf("%s is no call", name)
		}
		if seen[name] {
			t.Errorf("%s is listed twice", name)
		}
		seen[name] = true
	}
}
