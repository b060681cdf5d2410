package sandbox

import (
	"fmt"
	"unsafe"

	seccomp "github.com/elastic/go-seccomp-bpf"
	"github.com/elastic/go-seccomp-bpf/arch"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// newNamespaces are the flags of clone that make namespaces.
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
// Comparing a whole 64-bit argument is safe to allow, but not to refuse: the
// kernel looks at the lower half of most. What is refused is therefore told by
// bits of the lower half.
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
	when := func(name string, c ...seccomp.Condition) []seccomp.NameWithConditions {
		if len(known([]string{name})) == 0 {
			return nil // mknod is not there on arm64
		}
		return []seccomp.NameWithConditions{{Name: name, Conditions: c}}
	}
	either := func(name string, arg uint32, values ...uint64) []seccomp.NameWithConditions {
		var all []seccomp.NameWithConditions
		for _, v := range values {
			all = append(all, when(name, seccomp.Condition{Argument: arg, Operation: seccomp.Equal, Value: v})...)
		}
		return all
	}
	var refused, allowed []seccomp.NameWithConditions
	for _, request := range []uint64{unix.TIOCSTI, tioclinux} {
		refused = append(refused, when("ioctl", lowerEquals(1, request)...)...)
	}
	allowed = append(allowed, when("clone", clear(0, newNamespaces))...)
	allowed = append(allowed, when("mknod", clear(1, deviceMode))...)
	allowed = append(allowed, when("mknodat", clear(2, deviceMode))...)
	allowed = append(allowed, either("personality", 0, 0, 0x8, 0x20000, 0x20008, 0xffffffff)...)
	families := []uint64{unix.AF_INET, unix.AF_INET6}
	if !s.Network || s.LocalSockets {
		families = append(families, unix.AF_UNIX)
	}
	allowed = append(allowed, either("socket", 0, families...)...)
	allowed = append(allowed, when("socket", seccomp.Condition{Argument: 0, Operation: seccomp.Equal, Value: unix.AF_NETLINK},
		seccomp.Condition{Argument: 2, Operation: seccomp.Equal, Value: unix.NETLINK_ROUTE})...)
	allowed = append(allowed, either("socketpair", 0, unix.AF_UNIX)...)
	plain := known(allowedCalls)
	if !s.Network || s.LocalSockets {
		plain = append(plain, "listen")
	}
	p := seccomp.Policy{
		DefaultAction: seccomp.ActionErrno,
		Syscalls: []seccomp.SyscallGroup{
			{NamesWithCondtions: refused, Action: seccomp.ActionErrno},
			{Names: plain, NamesWithCondtions: allowed, Action: seccomp.ActionAllow},
			{Names: known(refusedCalls), Action: seccomp.ActionErrno},
		},
	}
	program, err := p.Assemble()
	if err != nil {
		return nil, err
	}
	// The last instruction is the answer to all that matched nothing.
	last := len(program) - 1
	if _, ok := program[last].(bpf.RetConstant); !ok {
		return nil, fmt.Errorf("the policy ends in %v", program[last])
	}
	program[last] = bpf.RetConstant{Val: unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)}
	return program, nil
}

// clear holds where none of the bits is set in the argument.
func clear(arg uint32, bits uint64) seccomp.Condition {
	return seccomp.Condition{Argument: arg, Operation: seccomp.BitsNotSet, Value: bits}
}

// lowerEquals holds where the lower half of the argument is the value, whatever
// the upper one is.
func lowerEquals(arg uint32, value uint64) []seccomp.Condition {
	all := []seccomp.Condition{clear(arg, ^value&0xffffffff)}
	for bit := uint64(1); bit < 1<<32; bit <<= 1 {
		if value&bit != 0 {
			all = append(all, seccomp.Condition{Argument: arg, Operation: seccomp.BitsSet, Value: bit})
		}
	}
	return all
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
