package sandbox

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"homeagent/firmware/words"
)

// Arg is the first argument of the binary that Start executes.
const Arg = "sandbox"

// Descriptors of process 1 as Start lays them out.
const (
	fdReports = 3 // socket of reports
	fdOrder   = 4 // the order
	fdExtra   = 5 // the first of Stdio.Extra
)

// order is what process 1 is told.
type order struct {
	Spec  Spec
	Extra int // how many descriptors follow
	// Terminal asks for one of the size.
	Terminal *Size
}

// Kinds of reports.
const (
	reportReady  = "ready"  // the program runs; its pidfd and perhaps its terminal come along
	reportFailed = "failed" // nothing ran
	reportExit   = "exit"   // the program ended
)

// report is what process 1 tells, one packet each.
type report struct {
	Kind string
	// Said is what failed; Program tells that the program is at fault and not the sandbox.
	Said    words.Text
	Program bool
	Code    int
	Signal  int
	Why     Why
}

// sendReport tells the supervisor, from inside.
func sendReport(r report, fds ...int) error {
	b, err := json.Marshal(r)
	if err != nil {
		return err
	}
	var rights []byte
	if len(fds) > 0 {
		rights = unix.UnixRights(fds...)
	}
	return unix.Sendmsg(fdReports, b, rights, nil, unix.MSG_NOSIGNAL)
}

// maxReport bounds a report's length in bytes.
const maxReport = 16 << 10

// readOrder reads the order from its descriptor.
func readOrder() (order, error) {
	f := os.NewFile(fdOrder, "order")
	defer f.Close()
	var o order
	b, err := io.ReadAll(f)
	if err == nil {
		err = json.Unmarshal(b, &o)
	}
	return o, err
}

// writeOrder puts the order into memory that only the descriptor leads to.
func writeOrder(o order) (*os.File, error) {
	b, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	fd, err := unix.MemfdCreate("sandbox-order", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("memfd: %w", err)
	}
	f := os.NewFile(uintptr(fd), "order")
	if _, err = f.Write(b); err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
