package engine

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"sync"
	"time"
)

// program is a child that runs.
type program struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *os.File
	err *lastLines
}

var _ child = (*program)(nil)

// startProgram runs Options.Command with pipes.
func startProgram(opt Options, log *slog.Logger) (child, error) {
	if len(opt.Command) == 0 {
		return nil, errors.New("no command is set")
	}
	p := &program{cmd: exec.Command(opt.Command[0], opt.Command[1:]...), err: &lastLines{}}
	p.cmd.Env = opt.Env
	p.cmd.Stderr = p.err
	// A grandchild that keeps stderr open must not keep Wait.
	p.cmd.WaitDelay = time.Second
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	// Not StdoutPipe: Wait would close it while the last replies are read.
	out, theirs, err := os.Pipe()
	if err != nil {
		p.in.Close()
		return nil, err
	}
	p.out, p.cmd.Stdout = out, theirs
	err = p.cmd.Start()
	theirs.Close() // the process has its own
	if err != nil {
		p.in.Close()
		p.out.Close()
		return nil, err
	}
	log.Debug("speech engines started", "pid", p.cmd.Process.Pid)
	return p, nil
}

func (p *program) Input() io.WriteCloser { return p.in }
func (p *program) Output() io.Reader     { return p.out }
func (p *program) PID() int              { return p.cmd.Process.Pid }

// Kill ends it and what reads from it, should something else hold its output
// open. That it has ended already is no error.
func (p *program) Kill() {
	p.cmd.Process.Kill()
	p.out.Close()
}

// Wait reaps it. Its last words on stderr become part of the error.
func (p *program) Wait() error {
	err := p.cmd.Wait()
	if words := p.err.String(); err != nil && words != "" {
		err = fmt.Errorf("%w: %s", err, words)
	}
	return err
}

// lastLines keeps the end of what is written to it.
type lastLines struct {
	mu  sync.Mutex
	buf []byte
}

// keep is how many bytes of stderr an error may carry.
const keep = 1000

func (l *lastLines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.buf = append(l.buf, b...)
	if extra := len(l.buf) - keep; extra > 0 {
		l.buf = append(l.buf[:0], l.buf[extra:]...)
	}
	return len(b), nil
}

func (l *lastLines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(bytes.ToValidUTF8(bytes.TrimSpace(l.buf), []byte("?")))
}
