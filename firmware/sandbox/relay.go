package sandbox

import (
	"os"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// relay stands between the program and its output and counts. It lives in
// process 1, so that a reader who does not read stops only the sandbox.
type relay struct {
	out, err   *os.File // the program's ends
	fromOut    *os.File
	fromErr    *os.File
	left       atomic.Int64
	overflowed atomic.Bool
	done       sync.WaitGroup
}

// openRelay makes the relay if output is limited and goes to no terminal.
func (r *room) openRelay() error {
	if r.Spec.Limits.Output == 0 || r.Terminal != nil {
		return nil
	}
	l := &relay{}
	l.left.Store(r.Spec.Limits.Output)
	var err error
	if l.fromOut, l.out, err = os.Pipe(); err != nil {
		return err
	}
	if l.fromErr, l.err, err = os.Pipe(); err != nil {
		return err
	}
	r.relay = l
	return nil
}

// run starts copying; the program has its ends already.
func (l *relay) run() {
	l.out.Close()
	l.err.Close()
	l.done.Add(2)
	go l.copy(1, l.fromOut)
	go l.copy(2, l.fromErr)
}

// copy passes on what is within the limit and ends the program at the first
// byte beyond.
func (l *relay) copy(to int, from *os.File) {
	defer l.done.Done()
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		pass := int64(n)
		if left := l.left.Add(-pass); left < 0 {
			pass = max(0, pass+left)
			if !l.overflowed.Swap(true) {
				unix.Kill(-1, unix.SIGKILL)
			}
		}
		if writeAll(to, buffer[:pass]) != nil {
			from.Close() // the program gets SIGPIPE, as without the relay
			return
		}
		if err != nil {
			return
		}
	}
}

func writeAll(fd int, b []byte) error {
	for len(b) > 0 {
		n, err := unix.Write(fd, b)
		switch err {
		case nil:
			b = b[n:]
		case unix.EINTR:
		case unix.EAGAIN: // somebody made the reader's pipe non-blocking
			wait := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}
			unix.Poll(wait, -1)
		default:
			return err
		}
	}
	return nil
}

// wait returns when all is copied; too much tells that the limit was passed.
func (l *relay) wait() (tooMuch bool) {
	l.done.Wait()
	return l.overflowed.Load()
}
