package wav

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"

	"homeagent/agent/pcm"
)

// Encoding tags of the format chunk (WAVE_FORMAT_*).
const (
	tagPCM        = 0x0001
	tagFloat      = 0x0003
	tagExtensible = 0xFFFE
)

// maxFormatChunk bounds the format chunk; real ones have 16 to 40 bytes, and
// an encoder's private tail a few hundred more.
const maxFormatChunk = 64 << 10

// streamedFrom is the smallest claimed length that is taken for "not known when
// the header was written": 0xFFFFFFFF, 0x7FFFFFFF, and 0x7FFFF000 and the like
// of programs that write to a pipe.
const streamedFrom = 0x7FFF0000

// codecs names the encodings that people meet and that are refused.
var codecs = map[uint16]string{
	0x0002: "Microsoft ADPCM", 0x0006: "A-law", 0x0007: "mu-law", 0x0011: "IMA ADPCM",
	0x0031: "GSM 6.10", 0x0050: "MPEG", 0x0055: "MP3", 0x0092: "Dolby AC-3", 0x00FF: "AAC",
	0x0161: "Windows Media Audio",
}

// trailers are chunks that commonly follow the sound. They tell an empty data
// chunk from one whose length was never filled in.
var trailers = map[string]bool{
	"LIST": true, "fact": true, "cue ": true, "smpl": true, "bext": true, "id3 ": true, "ID3 ": true,
	"PEAK": true, "inst": true, "iXML": true, "JUNK": true, "PAD ": true, "_PMX": true, "afsp": true,
}

// Info is what a header says about the sound.
type Info struct {
	Format pcm.Format
	// Bits is the width of one stored sample: 8, 16, 24, 32 or 64.
	Bits int
	// Float tells IEEE 754 samples from integers.
	Float bool
	// Frames is the claimed length in frames, -1 where it is not known because
	// the file was written to a pipe.
	Frames int64
}

// String names the encoding as "44100 Hz x2, 24 bit".
func (i Info) String() string {
	kind := "bit"
	if i.Float {
		kind = "bit float"
	}
	return fmt.Sprintf("%s, %d %s", i.Format, i.Bits, kind)
}

// frameBytes is the size of one frame in the file.
func (i Info) frameBytes() int { return i.Bits / 8 * i.Format.Channels }

// readHeader follows the chunks up to the first byte of sound. The second value
// is the number of bytes of sound that follow, -1 if not known.
func readHeader(br *bufio.Reader) (Info, int64, error) {
	id, err := readRIFF(br)
	if err != nil {
		return Info{}, 0, err
	}
	var info Info
	var size64 int64 = -1 // from the ds64 chunk of RF64
	known := false
	for {
		var h [8]byte
		if n, err := io.ReadFull(br, h[:]); err != nil {
			if !ended(err) {
				return Info{}, 0, &Error{Code: Unreadable, Err: err}
			}
			return Info{}, 0, &Error{Code: NoSound, Detail: fmt.Sprintf("no data chunk, %d bytes left over", n)}
		}
		name, size := string(h[:4]), int64(binary.LittleEndian.Uint32(h[4:]))
		switch {
		case name == "fmt " && !known:
			if info, err = readFormat(br, size); err != nil {
				return Info{}, 0, err
			}
			known = true
		case name == "ds64" && id == "RF64":
			if size64, err = readDS64(br, size); err != nil {
				return Info{}, 0, err
			}
		case name == "data":
			if !known {
				return Info{}, 0, &Error{Code: Damaged, Detail: "sound before its format"}
			}
			if size == 0xFFFFFFFF && size64 >= 0 {
				size = size64
			} else if size >= streamedFrom && size64 < 0 || size == 0 && !emptyData(br) {
				size = -1
			}
			info.Frames = -1
			if size >= 0 {
				info.Frames = size / int64(info.frameBytes())
			}
			return info, size, nil
		default:
			if err := skip(br, size); err != nil {
				return Info{}, 0, err
			}
		}
	}
}

// readRIFF takes the first twelve bytes and returns the outer chunk's name.
func readRIFF(br *bufio.Reader) (string, error) {
	var h [12]byte
	n, err := io.ReadFull(br, h[:])
	switch {
	case err != nil && !ended(err):
		return "", &Error{Code: Unreadable, Err: err}
	case n == 0:
		return "", &Error{Code: Empty}
	case n >= 4 && string(h[:4]) == "RIFX":
		return "", &Error{Code: Unsupported, Detail: "RIFX, big endian"}
	case n < 12:
		return "", &Error{Code: NotWAV, Detail: fmt.Sprintf("only %d bytes", n)}
	case string(h[:4]) != "RIFF" && string(h[:4]) != "RF64" || string(h[8:]) != "WAVE":
		return "", &Error{Code: NotWAV, Detail: fmt.Sprintf("begins with %q", h[:])}
	}
	return string(h[:4]), nil
}

// readDS64 takes the 64-bit length of the data chunk out of an RF64 header.
func readDS64(br *bufio.Reader, size int64) (int64, error) {
	if size < 16 {
		return 0, &Error{Code: Damaged, Detail: "ds64 chunk too short"}
	}
	var b [16]byte
	if _, err := io.ReadFull(br, b[:]); err != nil {
		return 0, cut(err, "inside the ds64 chunk")
	}
	n := int64(binary.LittleEndian.Uint64(b[8:]))
	if n < 0 {
		n = -1
	}
	return n, skip(br, size-16)
}

// readFormat takes a format chunk.
func readFormat(br *bufio.Reader, size int64) (Info, error) {
	if size < 16 || size > maxFormatChunk {
		return Info{}, &Error{Code: Damaged, Detail: fmt.Sprintf("format chunk of %d bytes", size)}
	}
	b := make([]byte, min(size, 40))
	if _, err := io.ReadFull(br, b); err != nil {
		return Info{}, cut(err, "inside the format chunk")
	}
	if err := skip(br, size-int64(len(b))); err != nil {
		return Info{}, err
	}
	tag := binary.LittleEndian.Uint16(b)
	channels := int(binary.LittleEndian.Uint16(b[2:]))
	rate := binary.LittleEndian.Uint32(b[4:])
	align := int(binary.LittleEndian.Uint16(b[12:]))
	bits := int(binary.LittleEndian.Uint16(b[14:]))
	if tag == tagExtensible {
		if len(b) < 40 {
			return Info{}, &Error{Code: Damaged, Detail: "extensible format chunk too short"}
		}
		tag = binary.LittleEndian.Uint16(b[24:]) // first field of the sub-format's GUID
	}
	if tag != tagPCM && tag != tagFloat {
		name := codecs[tag]
		if name == "" {
			name = "unknown"
		}
		return Info{}, &Error{Code: Unsupported, Detail: fmt.Sprintf("codec 0x%04X, %s", tag, name)}
	}
	f := pcm.Format{Rate: int(min(rate, 1<<30)), Channels: channels}
	if !f.Valid() {
		return Info{}, &Error{Code: Unsupported, Detail: fmt.Sprintf("%d Hz, %d channels", rate, channels)}
	}
	// The container decides how bytes are laid out: 12 bits stand in two bytes,
	// left-justified. A wrong block length is overruled by the width.
	bytes := (bits + 7) / 8
	if align%channels == 0 && align/channels > bytes && align/channels <= 8 {
		bytes = align / channels
	}
	info := Info{Format: f, Bits: bytes * 8, Float: tag == tagFloat, Frames: -1}
	if ok := !info.Float && bytes >= 1 && bytes <= 4 || info.Float && (bytes == 4 || bytes == 8); !ok {
		return Info{}, &Error{Code: Unsupported, Detail: info.String()}
	}
	return info, nil
}

// emptyData tells a data chunk that is really empty, followed by nothing or by
// another chunk, from one whose length was never filled in.
func emptyData(br *bufio.Reader) bool {
	next, err := br.Peek(4)
	return err != nil && len(next) == 0 || len(next) == 4 && trailers[string(next)]
}

// skip passes over a chunk and over the byte that pads an odd one. Some writers
// forget that byte; no chunk's name begins with a NUL, so it can be told.
func skip(br *bufio.Reader, size int64) error {
	if _, err := io.CopyN(io.Discard, br, size); err != nil {
		return cut(err, "inside a chunk before the sound")
	}
	if size%2 == 1 {
		if b, err := br.Peek(1); err == nil && b[0] == 0 {
			br.Discard(1) // cannot fail: the byte is in the buffer
		}
	}
	return nil
}

// cut turns the end of the stream into a Damaged and anything else into an Unreadable.
func cut(err error, where string) error {
	if ended(err) {
		return &Error{Code: Damaged, Detail: "ends " + where}
	}
	return &Error{Code: Unreadable, Err: err}
}

// ended reports whether err is a stream's plain end.
func ended(err error) bool { return err == io.EOF || err == io.ErrUnexpectedEOF }
