package supervisor

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"homeagent/firmware/account"
	"homeagent/firmware/config"
	"homeagent/firmware/control"
	"homeagent/firmware/words"
)

// spec says how a child is started.
type spec struct {
	name    string
	command []string
	env     []string
	// user is whom the process runs as, without any privilege; nil is the
	// supervisor's own user.
	user *account.User
	// home is the user's home.
	home string
	// score is how willingly the kernel ends the process; 0 leaves it.
	score int
	// handover makes the document anew for each start, so that a changed
	// configuration reaches the next one.
	handover func() (config.Handover, error)
}

// waits of the supervisor: a child that stayed up for settled starts again
// at once; otherwise the pause doubles from firstPause to maxPause.
const (
	firstPause = 200 * time.Millisecond
	maxPause   = 30 * time.Second
	settled    = 30 * time.Second
	termGrace  = 4 * time.Second
)

// child owns one process and brings it back until its context ends.
type child struct {
	spec
	log  *slog.Logger
	ring *ring

	mu    sync.Mutex
	state control.Process // without LastExit
	ended words.Text      // how it ended last
	kick  chan struct{}   // ends the running process, or the pause before the next
}

func newChild(s spec, log *slog.Logger, r *ring) *child {
	return &child{spec: s, log: log, ring: r, kick: make(chan struct{}, 1), state: control.Process{Name: s.name, State: "stopped"}}
}

func (c *child) status() control.Process {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state
}

func (c *child) set(f func(*control.Process)) {
	c.mu.Lock()
	f(&c.state)
	c.mu.Unlock()
}

// report is the state with how the process ended last in the language.
func (c *child) report(lang string) control.Process {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.state
	p.LastExit = c.ended.In(lang)
	return p
}

// restart ends the process so that it starts anew, or cuts a pause short.
func (c *child) restart() {
	select {
	case c.kick <- struct{}{}:
	default: // one is under way
	}
}

// run keeps the process alive until ctx ends, then ends it.
func (c *child) run(ctx context.Context) {
	// The kernel ties a child's death signal to the thread that started it.
	unlock, err := lockThread(c.user != nil)
	defer unlock()
	if err != nil {
		c.log.Error("privileges cannot be given up; the process is not started", "name", c.name, "err", err)
		c.set(func(p *control.Process) { p.State, c.ended = "stopped", cannotStart(err) })
		return
	}
	pause := firstPause
	for ctx.Err() == nil {
		began := time.Now()
		why, asked := c.once(ctx)
		if ctx.Err() != nil {
			break
		}
		c.set(func(p *control.Process) { p.State, p.PID, c.ended = "waiting", 0, why; p.Restarts++ })
		if asked || time.Since(began) > settled {
			pause = firstPause
		}
		c.log.Warn("process ended", "name", c.name, "why", why.EN, "again_in", pause)
		select {
		case <-ctx.Done():
		case <-c.kick:
		case <-time.After(pause):
		}
		pause = min(2*pause, maxPause)
	}
	c.set(func(p *control.Process) { p.State, p.PID = "stopped", 0 })
}

// once starts the process and waits for its end. asked tells that it was ended on request.
func (c *child) once(ctx context.Context) (why words.Text, asked bool) {
	h, err := c.handover()
	if err != nil {
		return cannotStart(err), false
	}
	hr, hw, err := os.Pipe()
	if err != nil {
		return cannotStart(err), false
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		hr.Close()
		hw.Close()
		return cannotStart(err), false
	}
	cmd := exec.Command(c.command[0], c.command[1:]...)
	cmd.Env = environment(os.Environ(), c.user, c.home, c.env)
	cmd.Stdout, cmd.Stderr = outW, outW
	cmd.ExtraFiles = []*os.File{hr} // becomes config.HandoverFD
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if c.user != nil {
		cmd.SysProcAttr.Credential = credential(c.user)
	}
	err = cmd.Start()
	hr.Close()
	outW.Close()
	if err != nil {
		hw.Close()
		outR.Close()
		return cannotStart(err), false
	}
	c.set(func(p *control.Process) { p.State, p.PID, p.Since = "running", cmd.Process.Pid, time.Now().Unix() })
	if c.score != 0 {
		if err := setScore(cmd.Process.Pid, c.score); err != nil {
			c.log.Debug("memory priority", "name", c.name, "err", err)
		}
	}
	lastWord := make(chan string, 1)
	go func() { lastWord <- c.ring.follow(c.name, outR); outR.Close() }()
	// A child that dies before it reads breaks the pipe, which ends this write.
	go func() { h.Write(hw); hw.Close() }()
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case err = <-done:
	case <-c.kick:
		asked = true
		err = c.end(cmd.Process.Pid, done)
	case <-ctx.Done():
		err = c.end(cmd.Process.Pid, done)
	}
	// What the process started itself ends with it.
	syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	var last string
	select {
	case last = <-lastWord:
	case <-time.After(time.Second): // a grandchild in another group holds the pipe
		outR.Close()
	}
	if asked {
		return words.Text{ZH: "应要求重启", EN: "restarted on request"}, true
	}
	return ending(err, last), false
}

func cannotStart(err error) words.Text {
	return words.Format("不能启动（%v）；正在重试，请检查程序文件是否完整", "cannot be started: %v; trying again, check that the program is whole", err)
}

// ending says how a process ended and what its last line was, which is quoted
// as the process wrote it.
func ending(err error, last string) words.Text {
	why := words.Text{ZH: "自行结束", EN: "ended by itself"}
	var ee *exec.ExitError
	if errors.As(err, &ee) {
		why = words.Text{ZH: ee.String(), EN: ee.String()}
		if status, ok := ee.Sys().(syscall.WaitStatus); ok {
			switch {
			case status.Exited():
				why.ZH = fmt.Sprintf("结束，退出码 %d", status.ExitStatus())
			case status.Signaled():
				why.ZH = fmt.Sprintf("被信号结束（%v）", status.Signal())
			}
		}
	} else if err != nil {
		why = words.Text{ZH: err.Error(), EN: err.Error()}
	}
	if last != "" {
		why = words.Format("%s：%s", "%s: %s", why, last)
	}
	return why
}

func (c *child) end(pid int, done <-chan error) error {
	syscall.Kill(pid, syscall.SIGTERM)
	select {
	case err := <-done:
		return err
	case <-time.After(termGrace):
		syscall.Kill(-pid, syscall.SIGKILL)
		return <-done
	}
}
