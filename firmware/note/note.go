package note

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"homeagent/firmware/words"
)

// The bounds of a file: notes that are kept, and the bytes of one line and of all.
const (
	MaxNotes = 64
	MaxLine  = 4 << 10
	maxFile  = 256 << 10
)

// Note is a sentence or two for the people of the house.
type Note struct {
	ZH string `json:"zh"`
	EN string `json:"en"`
	// Say asks that it is spoken once after this start of the machine.
	Say bool `json:"say"`
}

var _ words.Speaker = Note{}

// In is the note in the language; where it has only one language, in that.
func (n Note) In(lang string) string {
	if lang == words.Chinese && n.ZH != "" || n.EN == "" {
		return n.ZH
	}
	return n.EN
}

// FromText makes a note of a text.
func FromText(t words.Text, say bool) Note { return Note{ZH: t.ZH, EN: t.EN, Say: say} }

// Parse reads notes, one JSON object a line. skipped counts what is no note or
// beyond the bounds. The error is the reader's.
func Parse(r io.Reader) (notes []Note, skipped int, err error) {
	in := bufio.NewReaderSize(io.LimitReader(r, maxFile), MaxLine)
	seen := map[Note]bool{}
	for {
		line, more, err := in.ReadLine()
		whole := !more
		for more && err == nil { // the rest of an overlong line
			_, more, err = in.ReadLine()
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			n, ok := one(line)
			switch {
			case !whole || !ok:
				skipped++
			case seen[n]:
			case len(notes) == MaxNotes:
				skipped++
			default:
				seen[n] = true
				notes = append(notes, n)
			}
		}
		if errors.Is(err, io.EOF) {
			return notes, skipped, nil
		}
		if err != nil {
			return notes, skipped, err
		}
	}
}

// one reads a line. What it says becomes one line of clean text, because it is
// shown in terminals.
func one(line []byte) (Note, bool) {
	var n Note
	if !utf8.Valid(line) || line[0] != '{' || json.Unmarshal(line, &n) != nil {
		return n, false
	}
	n.ZH, n.EN = clean(n.ZH), clean(n.EN)
	return n, n.ZH != "" || n.EN != ""
}

// clean turns control characters into blanks and joins blanks.
func clean(s string) string {
	return strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 || r == utf8.RuneError {
			return ' '
		}
		return r
	}, s)), " ")
}

// Read reads the notes of a file. One that does not exist holds none; a link
// or a pipe in its place is an error.
func Read(path string) (notes []Note, skipped int, err error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, fmt.Errorf("read notes: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, 0, fmt.Errorf("read notes: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, 0, fmt.Errorf("read notes: %s is no regular file", path)
	}
	return Parse(f)
}

// Add appends the note unless the file holds it already. The file is not
// synced: it lies in memory and is made anew at each start of the machine.
func Add(path string, n Note) error {
	n.ZH, n.EN = clean(n.ZH), clean(n.EN)
	line, err := json.Marshal(n)
	if err != nil {
		return fmt.Errorf("add note: %w", err)
	}
	if n.ZH == "" && n.EN == "" || len(line) >= MaxLine {
		return errors.New("add note: it says nothing, or too much for one line")
	}
	if there, _, err := Read(path); err == nil {
		for _, old := range there {
			if old == n {
				return nil
			}
		}
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0o644)
	if err != nil {
		return fmt.Errorf("add note: %w", err)
	}
	_, err = f.Write(append(line, '\n'))
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return fmt.Errorf("add note: %w", err)
	}
	return nil
}
