package sandbox

import (
	"fmt"
	"unsafe"

	seccomp "github.com/elastic/go-seccomp-bpf"
	"github.com/elastic/go-seccomp-bpf/arch"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// Flags of clone that make namespaces.
const newNamespaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC |
	unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET

// deviceMode is set in the mode of mknod for character and block devices, and
// for none of files, pipes and sockets.
const deviceMode = unix.S_IFCHR

// tioclinux injects input on a virtual terminal, among other things (ioctl_console(2)).
const tioclinux = 0x541C

// policy is the allow list as a program for the kernel, for this architecture.
// What is refused on purpose fails with EPERM. Anything else that is not on the
// list fails with ENOSYS, as on a kernel that does not know it, so that libraries
// fall back to what they did before; so does every call of a foreign ABI.
//
// The lists of names are turned into a program by the library. Calls that are
// allowed in part are decided before it, by instructions from here: what the
// library of version 1.6 makes of conditions on arguments goes on, where they
// do not hold, to compare the argument in place of the call's number.
func policy(s *Spec) ([]bpf.Instruction, error) {
	info, err := arch.GetInfo("")
	if err != nil {
		return nil, err
	}
	known := func(names []string) []string {
		var have []string
		for _, n := range names {
			if _, ok := info.SyscallNames[n]; ok {
				have = append(have, n)
			}
		}
		return have
	}
	plain := known(allowedCalls)
	families := []uint32{unix.AF_INET, unix.AF_INET6}
	if !s.Network || s.LocalSockets {
		plain = append(plain, "listen")
		families = append(families, unix.AF_UNIX)
	}
	p := seccomp.Policy{
		DefaultAction: seccomp.ActionErrno,
		Syscalls: []seccomp.SyscallGroup{
			{Names: plain, Action: seccomp.ActionAllow},
			{Names: known(refusedCalls), Action: seccomp.ActionErrno},
		},
	}
	lists, err := p.Assemble()
	if err != nil {
		return nil, err
	}
	// The last instruction is the answer to all that matched nothing.
	last := len(lists) - 1
	if _, ok := lists[last].(bpf.RetConstant); !ok {
		return nil, fmt.Errorf("the policy ends in %v", lists[last])
	}
	unknown := bpf.RetConstant{Val: unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)}
	lists[last] = unknown
	program := []bpf.Instruction{
		bpf.LoadAbsolute{Off: offsetArch, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: uint32(info.ID), SkipTrue: 1},
		unknown,
	}
	for _, c := range []struct {
		name string
		body []bpf.Instruction
	}{
		{"clone", unlessBits(0, newNamespaces)},
		{"mknod", unlessBits(1, deviceMode)},
		{"mknodat", unlessBits(2, deviceMode)},
		{"ioctl", unlessValues(1, unix.TIOCSTI, tioclinux)},
		{"personality", onlyValues(0, unix.EPERM, 0, 0x8, 0x20000, 0x20008, 0xffffffff)},
		{"socketpair", onlyValues(0, unix.EAFNOSUPPORT, unix.AF_UNIX)},
		{"socket", sockets(families)},
	} {
		number, ok := info.SyscallNames[c.name]
		if !ok {
			continue // mknod is not there on arm64
		}
		program = append(program, bpf.LoadAbsolute{Off: offsetCall, Size: 4},
			bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: uint32(number), SkipTrue: uint8(len(c.body))})
		program = append(program, c.body...)
	}
	return append(program, lists...), nil
}

// Offsets in struct seccomp_data (linux/seccomp.h).
const (
	offsetCall = 0
	offsetArch = 4
	offsetArgs = 16
)

var allow = bpf.RetConstant{Val: unix.SECCOMP_RET_ALLOW}

func refuse(errno unix.Errno) bpf.RetConstant {
	return bpf.RetConstant{Val: unix.SECCOMP_RET_ERRNO | uint32(errno)}
}

// lower loads the lower half of an argument, the only one the kernel looks at
// in the calls that are decided here. Both architectures are little-endian.
func lower(arg uint32) bpf.Instruction { return bpf.LoadAbsolute{Off: offsetArgs + 8*arg, Size: 4} }

// unlessBits allows the call if none of the bits is set. Like all of these it
// ends in an answer, whatever the argument.
func unlessBits(arg, bits uint32) []bpf.Instruction {
	return []bpf.Instruction{lower(arg), bpf.JumpIf{Cond: bpf.JumpBitsSet, Val: bits, SkipTrue: 1}, allow, refuse(unix.EPERM)}
}

// unlessValues allows the call if the argument is none of the values.
func unlessValues(arg uint32, values ...uint32) []bpf.Instruction {
	body := []bpf.Instruction{lower(arg)}
	for i, v := range values {
		body = append(body, bpf.JumpIf{Cond: bpf.JumpEqual, Val: v, SkipTrue: uint8(len(values) - i)})
	}
	return append(body, allow, refuse(unix.EPERM))
}

// onlyValues allows the call if the argument is one of the values.
func onlyValues(arg uint32, errno unix.Errno, values ...uint32) []bpf.Instruction {
	body := []bpf.Instruction{lower(arg)}
	for i, v := range values {
		body = append(body, bpf.JumpIf{Cond: bpf.JumpEqual, Val: v, SkipTrue: uint8(len(values) - i)})
	}
	return append(body, refuse(errno), allow)
}

// sockets allows the families, and of netlink what tells of routes and addresses.
func sockets(families []uint32) []bpf.Instruction {
	netlink := []bpf.Instruction{
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: unix.AF_NETLINK, SkipTrue: 2},
		lower(2),
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.NETLINK_ROUTE, SkipTrue: 1},
	}
	body := []bpf.Instruction{lower(0)}
	for i, f := range families {
		body = append(body, bpf.JumpIf{Cond: bpf.JumpEqual, Val: f, SkipTrue: uint8(len(families) - i + len(netlink))})
	}
	return append(append(body, netlink...), refuse(unix.EAFNOSUPPORT), allow)
}

// confine loads the program for all threads of the process, which must have
// no_new_privs on the calling one; the others get it with the filter.
func confine(program []bpf.Instruction) error {
	raw, err := bpf.Assemble(program)
	if err != nil {
		return err
	}
	filter := make([]unix.SockFilter, len(raw))
	for i, r := range raw {
		filter[i] = unix.SockFilter{Code: r.Op, Jt: r.Jt, Jf: r.Jf, K: r.K}
	}
	prog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	thread, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC,
		uintptr(unsafe.Pointer(&prog)))
	if errno != 0 {
		return errno
	}
	if thread != 0 {
		return fmt.Errorf("thread %d does not take the filter", thread)
	}
	return nil
}
