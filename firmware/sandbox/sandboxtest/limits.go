package sandboxtest

import (
	"errors"
	"fmt"
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"homeagent/firmware/sandbox"
)

// LimitAttempts are those that a control group stops. They need House.Cgroup.
func LimitAttempts() []Attempt {
	return []Attempt{
		{Name: "more memory than allowed", AsUser: true, Try: func(t Targets) error { return eat(t.Limit) },
			Spec: func(_ *House, s *sandbox.Spec) { s.Limits.Memory = 48 << 20 }},
		{Name: "more memory by files", AsUser: true, Try: func(t Targets) error { return fill(t.Tmp, t.Limit/2) },
			Spec: func(_ *House, s *sandbox.Spec) { s.Limits.Memory = 24 << 20 }},
		{Name: "more memory by many processes", AsUser: true, Try: func(t Targets) error { return eatTogether(t.Limit) },
			Spec: func(_ *House, s *sandbox.Spec) { s.Limits.Memory = 48 << 20 }},
		{Name: "more processes than allowed", AsUser: true, Try: bomb, Spec: func(_ *House, s *sandbox.Spec) { s.Limits.PIDs = 64 }},
		{Name: "more processor than allowed", AsUser: true, Try: func(Targets) error { return burn() },
			Spec: func(_ *House, s *sandbox.Spec) { s.Limits.CPU = 20 }},
	}
}

// eat takes so many bytes and touches each page.
func eat(size int64) error {
	b, err := unix.Mmap(-1, 0, int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return err
	}
	for i := 0; i < len(b); i += 4096 {
		b[i] = 1
	}
	return unix.Munmap(b)
}

// eatTogether shares the work among children that each stay small: files in
// memory that they hold until the end.
func eatTogether(size int64) error {
	const parts = 8
	var held []int
	defer func() {
		for _, fd := range held {
			unix.Close(fd)
		}
	}()
	block := make([]byte, 1<<20)
	for range parts {
		fd, err := unix.MemfdCreate("part", unix.MFD_CLOEXEC)
		if err != nil {
			return err
		}
		held = append(held, fd)
		for n := int64(0); n < size/parts; n += int64(len(block)) {
			if _, err := unix.Write(fd, block); err != nil {
				return err
			}
		}
	}
	return nil
}

// burn keeps one core busy for a second and looks how much of it it got. More
// than half is more than a fifth, whatever else runs.
func burn() error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var best float64
	for range 5 { // a busy machine may leave little to anybody once
		began, used := time.Now(), threadTime()
		for time.Since(began) < time.Second {
		}
		best = max(best, float64(threadTime()-used)/float64(time.Since(began)))
	}
	if best < 0.3 {
		return errors.New("throttled: " + fmt.Sprintf("%.0f %% of a core", 100*best))
	}
	return nil
}

func threadTime() time.Duration {
	var t unix.Timespec
	unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t)
	return time.Duration(t.Nano())
}
