package sandbox

import (
	"context"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"homeagent/firmware/words"
)

// Why a sandbox ended before its program did by itself.
type Why string

// The reasons. WhyProgram is the usual end; then Code or Signal tells more.
const (
	WhyProgram   Why = ""
	WhyKilled    Why = "killed"    // Kill was called
	WhyCancelled Why = "cancelled" // the context ended
	WhyTime      Why = "time"      // Limits.Time
	WhyOutput    Why = "output"    // Limits.Output
	WhyMemory    Why = "memory"    // Limits.Memory; by a control group only
	WhyDisk      Why = "disk"      // Limits.Reserve
	WhyLost      Why = "lost"      // process 1 vanished
)

// Exit is how a sandbox ended.
type Exit struct {
	// Code is the program's exit status, -1 if it did not exit by itself.
	Code int
	// Signal ended the program, 0 if none did.
	Signal syscall.Signal
	Why    Why
}

var _ words.Speaker = Exit{}

// In tells the end in Chinese for "zh" and in English for anything else.
func (e Exit) In(lang string) string {
	switch e.Why {
	case WhyKilled, WhyCancelled:
		return words.Text{ZH: "已被停止", EN: "was stopped"}.In(lang)
	case WhyTime:
		return words.Text{ZH: "运行时间超过限制，已被停止；可以放宽时间限制再试", EN: "ran longer than allowed and was stopped; allow it more time and try again"}.In(lang)
	case WhyOutput:
		return words.Text{ZH: "输出超过限制，已被停止；可以把输出写进文件", EN: "wrote more output than allowed and was stopped; write the output to a file instead"}.In(lang)
	case WhyMemory:
		return words.Text{ZH: "内存超过限制，已被停止；可以放宽内存限制或减少数据", EN: "took more memory than allowed and was stopped; allow more, or work on less data"}.In(lang)
	case WhyDisk:
		return words.Text{ZH: "磁盘快满了，已被停止；请先删除不用的文件", EN: "was stopped as the disk is nearly full; delete what is not needed first"}.In(lang)
	case WhyLost:
		return words.Text{ZH: "沙箱意外结束；可以再试一次", EN: "ended with its sandbox, which broke; try again"}.In(lang)
	}
	if e.Signal != 0 {
		return words.Text{ZH: fmt.Sprintf("被信号结束（%v）", e.Signal), EN: fmt.Sprintf("was ended by a signal (%v)", e.Signal)}.In(lang)
	}
	return words.Text{ZH: fmt.Sprintf("结束，退出码 %d", e.Code), EN: fmt.Sprintf("ended with status %d", e.Code)}.In(lang)
}

// Process is a running sandbox. Its methods may be called at any time by anybody.
type Process struct {
	// PID is process 1 of the sandbox as the machine counts.
	PID int

	first    *os.Process
	program  *os.File // pidfd
	terminal *os.File
	group    *group
	done     chan struct{}
	exit     Exit // once done is closed

	mu  sync.Mutex
	why Why
}

// Wait waits for the end. When it returns, no process of the sandbox is left.
func (p *Process) Wait() Exit {
	<-p.done
	return p.exit
}

// Done is closed at the end.
func (p *Process) Done() <-chan struct{} { return p.done }

// Kill ends the sandbox with all that is in it. Once it has ended it does nothing.
func (p *Process) Kill() { p.kill(WhyKilled) }

// kill ends the sandbox; the first reason stays.
func (p *Process) kill(why Why) {
	p.mu.Lock()
	if p.why == WhyProgram {
		p.why = why
	}
	p.mu.Unlock()
	p.first.Kill()
}

// Signal sends the program a signal. os.ErrProcessDone tells that it has ended.
func (p *Process) Signal(sig syscall.Signal) error {
	err := control(p.program, func(fd int) error { return unix.PidfdSendSignal(fd, sig, nil, 0) })
	select {
	case <-p.done: // then the descriptor is closed
		return os.ErrProcessDone
	default:
	}
	if err == unix.ESRCH {
		return os.ErrProcessDone
	}
	if err != nil {
		return fmt.Errorf("signal %v: %w", sig, err)
	}
	return nil
}

// ProgramPID is the program's process as the machine counts, 0 once it has ended.
func (p *Process) ProgramPID() int {
	var info []byte
	err := control(p.program, func(fd int) (err error) {
		info, err = os.ReadFile(fmt.Sprintf("/proc/self/fdinfo/%d", fd))
		return err
	})
	if err != nil {
		return 0
	}
	return max(0, pidOf(string(info)))
}

// control uses a descriptor while nobody can close it.
func control(f *os.File, use func(fd int) error) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var did error
	if err := conn.Control(func(fd uintptr) { did = use(int(fd)) }); err != nil {
		return err
	}
	return did
}

// Terminal is where the program's output is read and its input written, nil if
// Stdio asked for none. The caller closes it; reading fails once the sandbox has ended.
func (p *Process) Terminal() *os.File { return p.terminal }

// Resize tells the program that its terminal has another size.
func (p *Process) Resize(s Size) error {
	if p.terminal == nil {
		return os.ErrInvalid
	}
	return control(p.terminal, func(fd int) error { return setSize(fd, s) })
}

// watch owns the sandbox until it has ended.
func (p *Process) watch(ctx context.Context, reports *reportsEnd, spec *Spec) {
	defer p.program.Close()
	defer close(p.done)
	ended := make(chan report, 1)
	go func() { // ends with process 1, whose socket falls shut
		r, _, err := reports.next(time.Time{})
		if err != nil || r.Kind != reportExit {
			r = report{Kind: reportExit, Code: -1, Why: WhyLost}
		}
		ended <- r
	}()
	var late <-chan time.Time
	if spec.Limits.Time > 0 {
		t := time.NewTimer(spec.Limits.Time)
		defer t.Stop()
		late = t.C
	}
	reserve := newReserve(spec)
	var look <-chan time.Time
	if len(reserve.paths) > 0 {
		look = time.After(0)
	}
	var r report
	for waiting := true; waiting; {
		select {
		case r = <-ended:
			waiting = false
		case <-ctx.Done():
			p.kill(WhyCancelled)
			r, waiting = <-ended, false
		case <-late:
			p.kill(WhyTime)
			r, waiting = <-ended, false
		case <-look:
			full, again := reserve.check()
			if full {
				p.kill(WhyDisk)
				r, waiting = <-ended, false
				break
			}
			look = time.After(again)
		}
	}
	p.first.Wait()
	reports.close()
	p.exit = Exit{Code: r.Code, Signal: syscall.Signal(r.Signal), Why: r.Why}
	p.mu.Lock()
	if p.why != WhyProgram && r.Why != WhyProgram {
		p.exit.Why = p.why // the end was made from outside
	}
	p.mu.Unlock()
	if p.exit.Why == WhyLost || p.exit.Signal == syscall.SIGKILL && p.exit.Why == WhyProgram {
		if p.group.ranOut() {
			p.exit.Why = WhyMemory
		}
	}
	if p.exit.Why != WhyProgram && p.exit.Code < 0 && p.exit.Signal == 0 {
		p.exit.Signal = syscall.SIGKILL
	}
	p.group.remove() // a group that stays is removed by the next PrepareCgroup
}
