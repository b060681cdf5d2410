package sandboxtest

import (
	"net"
	"time"

	"golang.org/x/sys/unix"

	"homeagent/firmware/sandbox"
)

// dialWait bounds a connection that nobody answers.
const dialWait = 5 * time.Second

func networkAttempts() []Attempt {
	withNetwork := func(_ *House, s *sandbox.Spec) { s.Network = true }
	dial := func(network, address string) error {
		c, err := net.DialTimeout(network, address, dialWait)
		if err == nil {
			c.Close()
		}
		return err
	}
	socket := func(what string, domain, kind, protocol int) func(Targets) error {
		return func(Targets) error {
			fd, err := unix.Socket(domain, kind|unix.SOCK_CLOEXEC, protocol)
			if err == unix.EAFNOSUPPORT || err == unix.EPROTONOSUPPORT || err == unix.ESOCKTNOSUPPORT {
				return Absent{what}
			}
			if err == nil {
				unix.Close(fd)
			}
			return err
		}
	}
	return []Attempt{
		{Name: "a forbidden network", AsUser: true, Try: func(t Targets) error { return dial("tcp", t.TCP) }},
		{Name: "other interfaces than the loopback", AsUser: true, Try: func(Targets) error {
			all, err := net.Interfaces()
			if err == nil && len(all) < 2 {
				err = Absent{"second interface"}
			}
			return err
		}},
		{Name: "an abstract unix socket of the machine", AsUser: true, Try: func(t Targets) error { return dial("unix", t.Abstract) }},
		{Name: "an abstract unix socket, with a network", AsUser: true, Spec: withNetwork,
			Try: func(t Targets) error { return dial("unix", t.Abstract) }},
		{Name: "a port of the machine, with a network", AsUser: true, Spec: withNetwork, Try: func(Targets) error {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err == nil {
				l.Close()
			}
			return err
		}},
		{Name: "the control socket", AsUser: true, Try: func(t Targets) error { return dial("unix", t.Socket) }},
		{Name: "raw packets", Try: socket("packet sockets", unix.AF_PACKET, unix.SOCK_RAW, 0)},
		{Name: "raw packets, with a network", Spec: withNetwork, Try: socket("packet sockets", unix.AF_PACKET, unix.SOCK_RAW, 0)},
		{Name: "raw ICMP", Spec: withNetwork, Try: socket("raw sockets", unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP)},
		{Name: "the hypervisor's socket", AsUser: true, Try: socket("vsock", unix.AF_VSOCK, unix.SOCK_STREAM, 0)},
		{Name: "the kernel's ciphers", AsUser: true, Try: socket("AF_ALG", unix.AF_ALG, unix.SOCK_SEQPACKET, 0)},
		{Name: "the kernel's audit", AsUser: true, Try: socket("audit", unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_AUDIT)},
	}
}
