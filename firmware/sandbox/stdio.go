package sandbox

import (
	"os"
)

// Stdio is what the program gets of the caller's descriptors. They stay the
// caller's to close; the program has copies.
type Stdio struct {
	// In, Out and Err are the program's standard streams, /dev/null where nil.
	In, Out, Err *os.File
	// Terminal gives the program a terminal of its own in their place, and
	// Process.Terminal the side of the one who sits before it. The view must have a Dev.
	Terminal *Size
	// Extra become the program's descriptors from 3 on.
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
	return append(append(all, reports, order), s.Extra...), null, nil
}
