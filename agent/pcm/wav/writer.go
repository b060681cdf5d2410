package wav

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"homeagent/agent/pcm"
)

// headerBytes is the length of the header that is written.
const headerBytes = 44

// maxData is the largest data chunk whose length and whose file's length fit
// into 32 bits.
const maxData = math.MaxUint32 - headerBytes

// Writer writes 16-bit PCM. It is used by one goroutine.
type Writer struct {
	w    io.Writer
	f    pcm.Format
	size int64
	buf  []byte
	err  error
}

// NewWriter writes a header to w. The lengths in it say "not known" until Close,
// which fills them in where w is an io.WriteSeeker, so that a file which a power
// cut left behind still plays. w is not closed.
func NewWriter(w io.Writer, f pcm.Format) (*Writer, error) {
	if !f.Valid() {
		return nil, &Error{Code: Unsupported, Detail: f.String()}
	}
	if _, err := w.Write(header(f, -1)); err != nil {
		return nil, &Error{Code: Unreadable, Err: err}
	}
	return &Writer{w: w, f: f}, nil
}

// Format is the format of the samples that Write takes.
func (w *Writer) Format() pcm.Format { return w.f }

// Frames is the number of frames written so far.
func (w *Writer) Frames() int64 { return w.size / int64(2*w.f.Channels) }

// Write appends interleaved samples of whole frames. The error is *Error and
// stays: a file with a hole in it is not continued.
func (w *Writer) Write(samples []int16) error {
	if w.err != nil {
		return w.err
	}
	if len(samples)%w.f.Channels != 0 {
		return &Error{Code: Damaged, Detail: fmt.Sprintf("%d samples are no whole frames of %s", len(samples), w.f)}
	}
	if w.size+2*int64(len(samples)) > maxData {
		w.err = &Error{Code: TooLong}
		return w.err
	}
	w.buf = w.buf[:0]
	for _, s := range samples {
		w.buf = binary.LittleEndian.AppendUint16(w.buf, uint16(s))
	}
	if _, err := w.w.Write(w.buf); err != nil {
		w.err = &Error{Code: Unreadable, Err: err}
		return w.err
	}
	w.size += int64(len(w.buf))
	return nil
}

// Close fills in the lengths where that is possible and leaves the position at
// the end. It neither syncs nor closes what is below.
func (w *Writer) Close() error {
	if w.err != nil {
		return w.err
	}
	ws, ok := w.w.(io.WriteSeeker)
	if !ok {
		return nil
	}
	if _, err := ws.Seek(-w.size-headerBytes, io.SeekCurrent); err != nil {
		return &Error{Code: Unreadable, Err: err}
	}
	if _, err := ws.Write(header(w.f, w.size)); err != nil {
		return &Error{Code: Unreadable, Err: err}
	}
	if _, err := ws.Seek(w.size, io.SeekCurrent); err != nil {
		return &Error{Code: Unreadable, Err: err}
	}
	return nil
}

// Encode returns a whole WAV file with the samples, as an upload needs it.
func Encode(f pcm.Format, samples []int16) ([]byte, error) {
	if int64(len(samples)) > maxData/2 {
		return nil, &Error{Code: TooLong}
	}
	var b bytes.Buffer
	b.Grow(headerBytes + 2*len(samples))
	w, err := NewWriter(&b, f)
	if err != nil {
		return nil, err
	}
	if err := w.Write(samples); err != nil {
		return nil, err
	}
	out := b.Bytes()
	copy(out, header(f, w.size))
	return out, nil
}

// header builds the 44 bytes before the sound; size -1 is "not known".
func header(f pcm.Format, size int64) []byte {
	riff, data := uint32(math.MaxUint32), uint32(math.MaxUint32)
	if size >= 0 {
		riff, data = uint32(size+headerBytes-8), uint32(size)
	}
	le := binary.LittleEndian
	b := make([]byte, 0, headerBytes)
	b = append(b, "RIFF"...)
	b = le.AppendUint32(b, riff)
	b = append(b, "WAVEfmt "...)
	b = le.AppendUint32(b, 16)
	b = le.AppendUint16(b, tagPCM)
	b = le.AppendUint16(b, uint16(f.Channels))
	b = le.AppendUint32(b, uint32(f.Rate))
	b = le.AppendUint32(b, uint32(2*f.Channels*f.Rate))
	b = le.AppendUint16(b, uint16(2*f.Channels))
	b = le.AppendUint16(b, 16)
	b = append(b, "data"...)
	return le.AppendUint32(b, data)
}
