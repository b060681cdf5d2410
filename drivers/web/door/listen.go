package door

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// Exit codes of `homed door`, so that the supervisor can say what it was
// without reading the log. Anything else is 1.
const (
	// ExitAddress: the TCP address cannot be bound; trying again does not help
	// until the configuration or the other program changes.
	ExitAddress = 69
	// ExitBusy: another door uses the same data folder.
	ExitBusy = 75
)

// ErrBusy is wrapped when another door uses the same data folder.
var ErrBusy = errors.New("another door uses this data folder")

// ListenError is a TCP address that cannot be bound.
type ListenError struct {
	Addr string
	Key  string // of the configuration
	Err  error
}

// Error names the port, the key and what to do.
func (e *ListenError) Error() string {
	switch {
	case errors.Is(e.Err, syscall.EADDRINUSE):
		return fmt.Sprintf("port of %s is in use by another program: stop it, or set %s to another address", e.Addr, e.Key)
	case errors.Is(e.Err, syscall.EACCES):
		return fmt.Sprintf("not allowed to use the port of %s: set %s to a port above 1023", e.Addr, e.Key)
	}
	return fmt.Sprintf("cannot listen on %s: check %s: %v", e.Addr, e.Key, e.Err)
}

// Unwrap returns the cause.
func (e *ListenError) Unwrap() error { return e.Err }

// Words is the error for a person, in "zh" or "en".
func (e *ListenError) Words(lang string) string {
	if lang != "zh" {
		return e.Error()
	}
	switch {
	case errors.Is(e.Err, syscall.EADDRINUSE):
		return fmt.Sprintf("地址 %s 的端口已被别的程序占用：请停掉它，或把配置项 %s 改成另一个地址。", e.Addr, e.Key)
	case errors.Is(e.Err, syscall.EACCES):
		return fmt.Sprintf("没有权限使用地址 %s 的端口：请把配置项 %s 改成 1023 以上的端口。", e.Addr, e.Key)
	}
	return fmt.Sprintf("无法监听 %s：请检查配置项 %s（%v）。", e.Addr, e.Key, e.Err)
}

// ExitCode maps an error of Run to the exit code of the process.
func ExitCode(err error) int {
	var le *ListenError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &le):
		return ExitAddress
	case errors.Is(err, ErrBusy):
		return ExitBusy
	}
	return 1
}

func listenTCP(addr, key string) (net.Listener, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, &ListenError{Addr: addr, Key: key, Err: err}
	}
	return l, nil
}

// listenUnix replaces the socket a door before left behind. The lock on
// door.db, taken first, says that no other door is alive.
func listenUnix(path string, mode os.FileMode, group int) (net.Listener, error) {
	if len(path) > 107 {
		return nil, fmt.Errorf("socket %s: path is longer than the 107 bytes the system allows; choose a shorter data folder", path)
	}
	if fi, err := os.Lstat(path); err == nil {
		if fi.Mode()&os.ModeSocket == 0 {
			return nil, fmt.Errorf("socket %s: there is a file of that name; move it away", path)
		}
		if err := os.Remove(path); err != nil {
			return nil, fmt.Errorf("socket: %w", err)
		}
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, fmt.Errorf("socket: %w", err)
	}
	err = os.Chmod(path, mode.Perm())
	if err == nil && group > 0 {
		err = os.Chown(path, -1, group)
	}
	if err != nil {
		l.Close()
		return nil, fmt.Errorf("socket: %w", err)
	}
	return l, nil
}

type peerKey struct{}

// peer is who stands at the other end of a connection.
type peer struct {
	uid  int    // of a unix socket's peer, -1 elsewhere
	addr string // the address without the port
}

// withPeer asks the kernel once a connection who the peer is.
func withPeer(ctx context.Context, c net.Conn) context.Context {
	p := peer{uid: -1}
	if u, ok := c.(*net.UnixConn); ok {
		p.addr = "unix"
		if raw, err := u.SyscallConn(); err == nil {
			_ = raw.Control(func(fd uintptr) {
				if cred, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED); err == nil {
					p.uid = int(cred.Uid)
				}
			})
		}
	} else {
		p.addr = addrIP(c.RemoteAddr())
	}
	return context.WithValue(ctx, peerKey{}, p)
}

func peerOf(ctx context.Context) peer {
	p, ok := ctx.Value(peerKey{}).(peer)
	if !ok {
		return peer{uid: -1}
	}
	return p
}

// addrIP is the address of a peer without port and zone.
func addrIP(a net.Addr) string {
	t, ok := a.(*net.TCPAddr)
	if !ok {
		return a.String()
	}
	return t.AddrPort().Addr().Unmap().WithZone("").String()
}

// boundedListener closes connections above the bounds at once: a full house
// says no instead of letting everybody wait.
type boundedListener struct {
	net.Listener
	max, perPeer int

	mu   sync.Mutex
	all  int
	each map[string]int
}

func newBoundedListener(l net.Listener, lim Limits) *boundedListener {
	return &boundedListener{Listener: l, max: lim.Conns, perPeer: lim.ConnsPerPeer, each: map[string]int{}}
}

// Accept returns the next connection within the bounds.
func (l *boundedListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		who := addrIP(c.RemoteAddr())
		l.mu.Lock()
		ok := l.all < l.max && l.each[who] < l.perPeer
		if ok {
			l.all++
			l.each[who]++
		}
		l.mu.Unlock()
		if ok {
			return &boundedConn{Conn: c, done: sync.OnceFunc(func() { l.release(who) })}, nil
		}
		c.Close()
	}
}

func (l *boundedListener) release(who string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all--
	if l.each[who]--; l.each[who] <= 0 {
		delete(l.each, who)
	}
}

type boundedConn struct {
	net.Conn
	done func()
}

func (c *boundedConn) Close() error {
	defer c.done()
	return c.Conn.Close()
}
