package voice

// ring keeps the last samples of a stream under their positions.
type ring struct {
	buf []int16
	end int64 // position behind the newest sample
}

func newRing(n int) *ring { return &ring{buf: make([]int16, n)} }

// write appends samples.
func (r *ring) write(s []int16) {
	r.end += int64(len(s))
	if len(s) > len(r.buf) {
		s = s[len(s)-len(r.buf):]
	}
	at := int((r.end - int64(len(s))) % int64(len(r.buf)))
	n := copy(r.buf[at:], s)
	copy(r.buf, s[n:])
}

// start is the position of the oldest sample kept.
func (r *ring) start() int64 { return max(0, r.end-int64(len(r.buf))) }

// from returns a copy of what is kept from pos on.
func (r *ring) from(pos int64) []int16 {
	pos = min(max(pos, r.start()), r.end)
	out := make([]int16, r.end-pos)
	at := int(pos % int64(len(r.buf)))
	n := copy(out, r.buf[at:])
	copy(out[n:], r.buf)
	return out
}
