package sandbox

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// Stdio is what the program gets of the caller's descriptors. They stay the
// caller's to close; the program has copies.
type Stdio struct {
	// In, Out and Err are the program's standard streams, /dev/null where nil.
	In, Out, Err *os.File
	// Terminal gives the program a terminal of its own in their place, and
	// Process.Terminal the side of the one who sits before it. The view must have a Dev.
	Terminal *Size
	// Extra become the program's descriptors from 3 on. Neither they nor the
	// others may be folders, which lead out.
	Extra []*os.File
}

// files lays out the descriptors of process 1; null is opened where there is nothing.
func (s Stdio) files(reports, order *os.File) (all []*os.File, null *os.File, err error) {
	if null, err = os.OpenFile(os.DevNull, os.O_RDWR, 0); err != nil {
		return nil, nil, err
	}
	for _, f := range []*os.File{s.In, s.Out, s.Err} {
		if f == nil || s.Terminal != nil {
			f = null
		}
		all = append(all, f)
	}
	all = append(append(all, reports, order), s.Extra...)
	for _, f := range all {
		if err := noFolder(f); err != nil {
			null.Close()
			return nil, nil, err
		}
	}
	return all, null, nil
}

func noFolder(f *os.File) error {
	if f == nil {
		return os.ErrInvalid
	}
	return control(f, func(fd int) error {
		var st unix.Stat_t
		if err := unix.Fstat(fd, &st); err != nil {
			return &os.PathError{Op: "stat", Path: f.Name(), Err: err}
		}
		if st.Mode&unix.S_IFMT == unix.S_IFDIR {
			return &os.PathError{Op: "hand over", Path: f.Name(), Err: errors.New("a folder leads out of the sandbox")}
		}
		return nil
	})
}
