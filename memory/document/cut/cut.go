package cut

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Pieces cuts text into parts of at most size bytes, size being at least 16;
// short neighbours share a part. White space at the ends of a part is left out,
// and a text of nothing else has no part.
func Pieces(text string, size int) []string {
	size = max(size, 16)
	var out []string
	for {
		text = strings.TrimSpace(text)
		if text == "" {
			return out
		}
		if len(text) <= size {
			return append(out, text)
		}
		n := end(text, size)
		if piece := strings.TrimSpace(text[:n]); piece != "" {
			out = append(out, piece)
		}
		text = text[n:]
	}
}

// Sentence endings; a full stop of ASCII counts only before white space, as it
// also stands in numbers and names of files.
const (
	stops      = "。！？；…!?"
	asciiStops = ".;"
)

// end is where the first part of a text longer than size ends: at the best
// place in its second half, 1 to size.
func end(text string, size int) int {
	for size > 0 && !utf8.RuneStart(text[size]) {
		size--
	}
	if size == 0 {
		return 1 // no UTF-8 at all
	}
	window, low := text[:size], size/2
	if i := strings.LastIndex(window, "\n\n"); i >= low {
		return i
	}
	if i := strings.LastIndexByte(window, '\n'); i >= low {
		return i
	}
	sentence, blank := 0, 0
	prev := rune(0)
	for i, r := range window {
		if unicode.IsSpace(r) && i > 0 {
			blank = i
			if strings.ContainsRune(asciiStops, prev) {
				sentence = i
			}
		}
		if strings.ContainsRune(stops, r) {
			sentence = i + utf8.RuneLen(r)
		}
		prev = r
	}
	switch {
	case sentence >= low:
		return sentence
	case blank >= low:
		return blank
	}
	return size
}
