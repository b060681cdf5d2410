package link

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Kind is what a stream carries.
type Kind string

const (
	// API is HTTP/1.1, answered by the agent.
	API Kind = "api"
	// Stream is a protocol named by Header.Name.
	Stream Kind = "stream"
)

// The headers in which the door tells the agent who is asking.
const (
	// HeaderSession is the login's or token's name, "local:<uid>" for the unix socket.
	HeaderSession = "X-Homeagent-Session"
	// HeaderLang is "zh" or "en", the language for the answer.
	HeaderLang = "X-Homeagent-Lang"
	// HeaderPeer is the address that the door saw.
	HeaderPeer = "X-Homeagent-Peer"
)

// maxHeader bounds a header line in bytes, its line break included.
const maxHeader = 4 << 10

// maxName bounds Name and Peer in bytes.
const maxName = 256

// ErrHeader is wrapped by every error about a malformed header line.
var ErrHeader = errors.New("link: bad stream header")

// Header is the first line of a stream.
type Header struct {
	Kind Kind `json:"kind"`
	// Name is the protocol of a "stream".
	Name string `json:"name,omitempty"`
	// Peer is the address that the door saw.
	Peer string `json:"peer,omitempty"`
}

func (h Header) check() error {
	switch {
	case h.Kind != API && h.Kind != Stream:
		return fmt.Errorf("%w: kind %q", ErrHeader, h.Kind)
	case h.Kind == Stream && h.Name == "":
		return fmt.Errorf("%w: a stream without a name", ErrHeader)
	case len(h.Name) > maxName || len(h.Peer) > maxName:
		return fmt.Errorf("%w: name or peer above %d bytes", ErrHeader, maxName)
	case strings.ContainsFunc(h.Name+h.Peer, func(r rune) bool { return r < ' ' || r == 0x7f || r == 0xfffd }):
		return fmt.Errorf("%w: control characters", ErrHeader)
	}
	return nil
}

// WriteHeader writes the line in one Write.
func WriteHeader(w io.Writer, h Header) error {
	if err := h.check(); err != nil {
		return err
	}
	line, err := json.Marshal(h)
	if err != nil {
		return err
	}
	_, err = w.Write(append(line, '\n'))
	return err
}

// ReadHeader reads the line and not a byte more.
func ReadHeader(r io.Reader) (Header, error) {
	var (
		h    Header
		line []byte
		c    [1]byte
	)
	for {
		if _, err := io.ReadFull(r, c[:]); err != nil {
			return h, fmt.Errorf("%w: %w", ErrHeader, err)
		}
		if c[0] == '\n' {
			break
		}
		if len(line) >= maxHeader-1 {
			return h, fmt.Errorf("%w: above %d bytes", ErrHeader, maxHeader)
		}
		line = append(line, c[0])
	}
	if err := json.Unmarshal(line, &h); err != nil {
		return Header{}, fmt.Errorf("%w: %w", ErrHeader, err)
	}
	if err := h.check(); err != nil {
		return Header{}, err
	}
	return h, nil
}
