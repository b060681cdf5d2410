package sandbox

import (
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	defaultFiles = 1024
	// ownThreads is how many threads process 1 may need beside the program's.
	ownThreads = 16
	// ownMemory is what process 1 may need beside the program.
	ownMemory = 8 << 20
)

// setLimits sets what each process of the sandbox inherits.
func setLimits(s *Spec) error {
	l := s.Limits
	files := uint64(defaultFiles)
	if l.Files > 0 {
		files = uint64(l.Files)
	}
	set := []struct {
		name     string
		resource int
		value    uint64
		do       bool
	}{
		// Not 0: a machine's handler of crashes, which is root, would still be
		// given the dump. It is not at this value (core(5), fs/coredump.c).
		{"core", unix.RLIMIT_CORE, 1, true},
		{"real-time priority", unix.RLIMIT_RTPRIO, 0, true},
		{"nice", unix.RLIMIT_NICE, 0, true},
		{"file size", unix.RLIMIT_FSIZE, uint64(l.FileSize), l.FileSize > 0},
		// A control group counts better.
		{"processes", unix.RLIMIT_NPROC, uint64(l.PIDs + ownThreads), l.PIDs > 0 && s.Cgroup == ""},
		{"files", unix.RLIMIT_NOFILE, files, true},
	}
	for _, r := range set {
		if !r.do {
			continue
		}
		// The standard library's call, so that it does not put its own limit
		// of files back when it starts the program.
		if err := syscall.Setrlimit(r.resource, &syscall.Rlimit{Cur: r.value, Max: r.value}); err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
	}
	return nil
}
