package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"homeagent/agent/mind"
	"homeagent/agent/provider"
)

// Line is one line of a file: a turn and its number. Numbers grow; they have
// gaps where turns were not journaled.
type Line struct {
	Seq uint64 `json:"seq"`
	mind.Turn
}

// ErrLine is wrapped by errors about a line that is no journal line.
var ErrLine = errors.New("not a line of a journal")

// Encode returns the line with its newline. Contents of media are left out.
func Encode(l Line) ([]byte, error) {
	l.Input.Media = bare(l.Input.Media)
	l.Messages = slices.Clone(l.Messages)
	for i := range l.Messages {
		l.Messages[i].Media = bare(l.Messages[i].Media)
	}
	b, err := json.Marshal(l)
	if err != nil {
		return nil, fmt.Errorf("journal turn %q: %w", l.ID, err)
	}
	return append(b, '\n'), nil
}

// bare returns media without content.
func bare(media []provider.Media) []provider.Media {
	media = slices.Clone(media)
	for i := range media {
		media[i].Data = nil
	}
	return media
}

// Decode reads one line, with or without its newline. Unknown fields are
// skipped, so that an older program reads what a newer one has written.
func Decode(line []byte) (Line, error) {
	line = bytes.TrimRight(line, "\r\n")
	var l Line
	if err := json.Unmarshal(line, &l); err != nil {
		return Line{}, fmt.Errorf("%w: %w", ErrLine, err)
	}
	if l.ID == "" {
		return Line{}, fmt.Errorf("%w: no turn id", ErrLine)
	}
	return l, nil
}
