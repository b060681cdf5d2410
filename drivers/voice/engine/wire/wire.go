package wire

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Bounds in bytes: of a frame's two parts, and of the text of one request about
// words, whose answer fits a header however short the words are. MaxSound is 60 s.
const (
	MaxHeader = 256 << 10
	MaxSound  = 60 * 16000 * 2
	MaxText   = 8 << 10
)

// Op is what is asked for.
type Op string

// The operations. Every one but Cancel is answered.
const (
	// Warm loads everything, and the grammar if there is one.
	Warm Op = "warm"
	// Recognize writes down the sound; with a grammar as one of its sentences
	// where both recognizers agree.
	Recognize Op = "recognize"
	// Open begins an endpointer; its id is the Stream of the next two.
	Open Op = "open"
	// Feed gives the endpointer more sound.
	Feed Op = "feed"
	// Close ends the endpointer.
	Close Op = "close"
	// Tag cuts Text into words with their parts of speech.
	Tag Op = "tag"
	// Keywords gives the Count words that Text is about.
	Keywords Op = "keywords"
	// Cancel gives up the request with the id Target.
	Cancel Op = "cancel"
)

// Request is the header of a frame to the engines process.
type Request struct {
	ID      uint64 `json:"id"`
	Op      Op     `json:"op"`
	Grammar string `json:"grammar,omitempty"`
	Stream  uint64 `json:"stream,omitempty"`
	Target  uint64 `json:"target,omitempty"`
	// Text and Count are for Tag and Keywords.
	Text  string `json:"text,omitempty"`
	Count int    `json:"count,omitempty"`
	// TrailingMS is the silence that ends speech, in milliseconds, for Open.
	TrailingMS int `json:"trailing_ms,omitempty"`
	// Speech makes Open go on where an earlier process was lost.
	Speech *Speech `json:"speech,omitempty"`
}

// Speech is an endpointer's finding, in samples since it was opened.
type Speech struct {
	Started bool  `json:"started"`
	Ended   bool  `json:"ended"`
	Start   int64 `json:"start"`
	End     int64 `json:"end"`
	// Heard is how many samples it has been given.
	Heard int64 `json:"heard"`
}

// Reply is the header of a frame from the engines process. It has no sound.
type Reply struct {
	ID     uint64  `json:"id"`
	Fault  *Fault  `json:"fault,omitempty"`
	Text   string  `json:"text,omitempty"`
	Engine string  `json:"engine,omitempty"`
	Speech *Speech `json:"speech,omitempty"`
	// Command is set where Text is a sentence of the grammar.
	Command bool `json:"command,omitempty"`
	// Words are in the order of the text, or the best first.
	Words []Word `json:"words,omitempty"`
	// Note is something to log: the request was answered, but with less.
	Note string `json:"note,omitempty"`
}

// Word is a word of a text with its part of speech, or its weight as a keyword.
type Word struct {
	Text   string  `json:"t"`
	Tag    string  `json:"p,omitempty"`
	Weight float64 `json:"w,omitempty"`
}

// Kind tells what a fault is about.
type Kind string

// The kinds of fault.
const (
	Failed   Kind = "failed"   // an engine could not
	Missing  Kind = "missing"  // something is not installed
	Canceled Kind = "canceled" // by Cancel
	Busy     Kind = "busy"     // too many requests at once
	Invalid  Kind = "invalid"  // the request makes no sense
)

// Fault is why a request was not answered.
type Fault struct {
	Kind Kind   `json:"kind"`
	Text string `json:"text"`
}

// ErrFrame is wrapped by Read where the bytes are no frame: after it the
// stream cannot be trusted any more.
var ErrFrame = errors.New("not a frame of the engines' protocol")

// Append adds a frame to buf.
func Append(buf []byte, header any, sound []int16) ([]byte, error) {
	h, err := json.Marshal(header)
	if err != nil {
		return nil, fmt.Errorf("write frame: %w", err)
	}
	if len(h) > MaxHeader {
		return nil, fmt.Errorf("write frame: a header of %d bytes is over %d", len(h), MaxHeader)
	}
	if 2*len(sound) > MaxSound {
		return nil, fmt.Errorf("write frame: %d samples are over %d", len(sound), MaxSound/2)
	}
	buf = binary.BigEndian.AppendUint32(buf, uint32(len(h)))
	buf = binary.BigEndian.AppendUint32(buf, uint32(2*len(sound)))
	buf = append(buf, h...)
	for _, x := range sound {
		buf = binary.LittleEndian.AppendUint16(buf, uint16(x))
	}
	return buf, nil
}

// Read takes one frame from r: its header into header, a pointer, and its
// sound. io.EOF means that r ended between frames; an end inside one is
// io.ErrUnexpectedEOF.
func Read(r io.Reader, header any) ([]int16, error) {
	var prefix [8]byte
	if _, err := io.ReadFull(r, prefix[:]); err != nil {
		return nil, err
	}
	h, s := binary.BigEndian.Uint32(prefix[:4]), binary.BigEndian.Uint32(prefix[4:])
	if h > MaxHeader || s > MaxSound || s%2 != 0 {
		return nil, fmt.Errorf("%w: lengths %d and %d", ErrFrame, h, s)
	}
	body := make([]byte, h+s)
	if _, err := io.ReadFull(r, body); err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	if err := json.Unmarshal(body[:h], header); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFrame, err)
	}
	if s == 0 {
		return nil, nil
	}
	sound := make([]int16, s/2)
	for i := range sound {
		sound[i] = int16(binary.LittleEndian.Uint16(body[h+2*uint32(i):]))
	}
	return sound, nil
}
