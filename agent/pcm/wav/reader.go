package wav

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"homeagent/agent/pcm"
)

// blockBytes is the size of the one block a Reader holds.
const blockBytes = 16 << 10

// Reader decodes one WAV stream. It is used by one goroutine.
type Reader struct {
	br     *bufio.Reader
	info   Info
	left   int64 // bytes of sound still claimed, -1 if not known
	raw    []byte
	notice *Error
	done   bool
}

// NewReader reads the header of a WAV file from r. Its error is *Error. The
// Reader reads ahead, so r's position is of no use to the caller afterwards; r
// is not closed.
func NewReader(r io.Reader) (*Reader, error) {
	br := bufio.NewReaderSize(r, 4<<10)
	info, size, err := readHeader(br)
	if err != nil {
		return nil, err
	}
	n := blockBytes / info.frameBytes() * info.frameBytes()
	return &Reader{br: br, info: info, left: size, raw: make([]byte, n)}, nil
}

// Info describes the file.
func (r *Reader) Info() Info { return r.info }

// Format is the format of the samples that Read gives.
func (r *Reader) Format() pcm.Format { return r.info.Format }

// Notice is nil, or after the end a remark that the file was shorter than its
// header claims (Truncated). What Read gave until then is good.
func (r *Reader) Notice() *Error { return r.notice }

// Read fills dst with interleaved samples of whole frames and returns their
// number. Less than len(dst) rounded down to whole frames comes only before an
// error: io.EOF at the end, *Error where the stream below failed. A dst that
// holds no whole frame gives io.ErrShortBuffer.
func (r *Reader) Read(dst []int16) (int, error) {
	ch := r.info.Format.Channels
	if len(dst) < ch {
		return 0, io.ErrShortBuffer
	}
	n := 0
	for len(dst)-n >= ch {
		block, err := r.block((len(dst) - n) / ch)
		if err != nil {
			return n, err
		}
		width := r.info.Bits / 8
		for i := 0; i < len(block); i += width {
			dst[n] = toInt16(sample(block[i:i+width], r.info.Float))
			n++
		}
	}
	return n, nil
}

// ReadMono fills dst with the mean of all channels, one sample a frame, under
// the rules of Read. The mean is taken before rounding, so that neither width
// nor loudness is lost twice.
func (r *Reader) ReadMono(dst []int16) (int, error) {
	ch := r.info.Format.Channels
	n := 0
	for n < len(dst) {
		block, err := r.block(len(dst) - n)
		if err != nil {
			return n, err
		}
		width := r.info.Bits / 8
		for i := 0; i < len(block); i += width * ch {
			var sum float64
			for c := range ch {
				sum += sample(block[i+c*width:i+(c+1)*width], r.info.Float)
			}
			dst[n] = toInt16(sum / float64(ch))
			n++
		}
	}
	return n, nil
}

// block returns the bytes of at most frames whole frames, at least one, valid
// until the next call.
func (r *Reader) block(frames int) ([]byte, error) {
	if r.done {
		return nil, io.EOF
	}
	size := r.info.frameBytes()
	want := min(int64(frames)*int64(size), int64(len(r.raw)))
	if r.left >= 0 {
		want = min(want, r.left/int64(size)*int64(size))
	}
	if want == 0 {
		return nil, r.finish(0)
	}
	n, err := io.ReadFull(r.br, r.raw[:want])
	if err != nil && !ended(err) {
		r.done = true
		return nil, &Error{Code: Unreadable, Err: err}
	}
	if r.left >= 0 {
		r.left -= int64(n)
	}
	whole := n / size * size
	if err != nil {
		end := r.finish(n - whole)
		if whole == 0 {
			return nil, end
		}
	}
	return r.raw[:whole], nil
}

// finish notes the end of the sound; rest is the number of bytes of a frame
// that was cut in two.
func (r *Reader) finish(rest int) error {
	r.done = true
	size := int64(r.info.frameBytes())
	switch {
	case r.left >= size || r.left > 0 && rest > 0:
		missing := (r.left + int64(rest) + size - 1) / size
		r.notice = &Error{Code: Truncated, Detail: fmt.Sprintf("%d of %d frames missing", missing, r.info.Frames)}
	case rest > 0 || r.left > 0:
		r.notice = &Error{Code: Truncated, Detail: "the last frame is cut in two"}
	}
	return io.EOF
}

// sample decodes one stored sample to the range -1 to 1. Integers become exact
// fractions, for a float64 holds 32 bits.
func sample(b []byte, float bool) float64 {
	switch {
	case float && len(b) == 4:
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
	case float:
		return math.Float64frombits(binary.LittleEndian.Uint64(b))
	case len(b) == 1: // 8 bits are unsigned around 128
		return float64(int(b[0])-128) / (1 << 7)
	case len(b) == 2:
		return float64(int16(binary.LittleEndian.Uint16(b))) / (1 << 15)
	case len(b) == 3:
		v := int32(uint32(b[0])<<8|uint32(b[1])<<16|uint32(b[2])<<24) >> 8
		return float64(v) / (1 << 23)
	default:
		return float64(int32(binary.LittleEndian.Uint32(b))) / (1 << 31)
	}
}

// toInt16 rounds to the nearest step, halves to even, and clips. NaN, which a
// broken float file may hold, is silence.
func toInt16(v float64) int16 {
	switch v = math.RoundToEven(v * (1 << 15)); {
	case v >= math.MaxInt16:
		return math.MaxInt16
	case v <= math.MinInt16:
		return math.MinInt16
	case v != v:
		return 0
	}
	return int16(v)
}
