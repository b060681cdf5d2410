package sandbox

import (
	"time"

	"golang.org/x/sys/unix"
)

// fastest is how many bytes a second a program is thought to write at most,
// with what the kernel holds back in memory.
const fastest = 1 << 30

// room of the file systems a sandbox can write.
type reserve struct {
	paths []string
	least int64
}

func newReserve(s *Spec) reserve {
	r := reserve{least: s.Limits.Reserve}
	if r.least == 0 {
		return r
	}
	for _, m := range s.View {
		if m.Kind == Bind && m.Writable {
			r.paths = append(r.paths, m.Source)
		}
	}
	return r
}

// check tells whether there is too little left, and else when to look again:
// the sooner the less there is.
func (r reserve) check() (full bool, again time.Duration) {
	again = 2 * time.Second
	for _, p := range r.paths {
		var st unix.Statfs_t
		if err := unix.Statfs(p, &st); err != nil {
			continue // an overlay that was unmounted
		}
		spare := int64(st.Bavail)*int64(st.Bsize) - r.least
		// A fiftieth of the inodes stays too; some file systems have no number of them.
		if spare < 0 || st.Files > 0 && st.Ffree < st.Files/50 {
			return true, 0
		}
		again = min(again, time.Duration(float64(spare)/fastest*float64(time.Second)))
	}
	return false, max(again, 20*time.Millisecond)
}
