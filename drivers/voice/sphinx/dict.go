package sphinx

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"homeagent/drivers/voice/speech"
)

// Debian's places of the English model, used where Config or OpenDict get "".
const (
	DefaultModel = "/usr/share/pocketsphinx/model/en-us/en-us"
	DefaultDict  = "/usr/share/pocketsphinx/model/en-us/cmudict-en-us.dict"
)

// maxPronunciations bounds how many ways to say one word are taken.
const maxPronunciations = 16

// MissingWordsError names words that have no pronunciation.
type MissingWordsError struct {
	Words []string // sorted, each once
}

// Error names the words.
func (e *MissingWordsError) Error() string {
	return "no pronunciation known for: " + strings.Join(e.Words, ", ")
}

// Dict is a pronunciation dictionary. The file is read anew at each look-up
// (some 10 ms), so that none of it stays in memory. A Dict does not change
// after it was made and may be used by several goroutines.
type Dict struct {
	path  string
	extra map[string][]string
}

// OpenDict takes the dictionary at path, "" for Debian's. extra adds or
// replaces words: their phones as in the file, one string a way to say the
// word; nil is none. An absent file gives an error that wraps
// speech.ErrMissing.
func OpenDict(path string, extra map[string][]string) (*Dict, error) {
	if path == "" {
		path = DefaultDict
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, missing("the pronunciation dictionary " + path)
	} else if err != nil {
		return nil, fmt.Errorf("pronunciation dictionary: %w", err)
	}
	return &Dict{path: path, extra: extra}, nil
}

func missing(what string) error {
	return fmt.Errorf("%s: %w; run tools/setup (请运行 tools/setup)", what, speech.ErrMissing)
}

// Lookup gives the pronunciations of words; a word that has none is absent
// from the result. Words are lower case.
func (d *Dict) Lookup(words []string) (map[string][]string, error) {
	want := make(map[string]bool, len(words))
	out := make(map[string][]string, len(words))
	for _, w := range words {
		if p := d.extra[w]; len(p) > 0 {
			out[w] = p
		} else {
			want[w] = true
		}
	}
	if len(want) == 0 {
		return out, nil
	}
	f, err := os.Open(d.path)
	if err != nil {
		return nil, fmt.Errorf("pronunciation dictionary: %w", err)
	}
	defer f.Close()
	sc := bufio.NewScanner(f)
	for sc.Scan() {
		word, phones, ok := strings.Cut(sc.Text(), " ")
		if !ok {
			continue
		}
		if i := strings.IndexByte(word, '('); i > 0 {
			word = word[:i]
		}
		if want[word] && len(out[word]) < maxPronunciations {
			out[word] = append(out[word], strings.TrimSpace(phones))
		}
	}
	if err := sc.Err(); err != nil {
		return nil, fmt.Errorf("pronunciation dictionary: %w", err)
	}
	return out, nil
}

// Missing gives those of words that have no pronunciation, sorted, each once.
func (d *Dict) Missing(words []string) ([]string, error) {
	known, err := d.Lookup(words)
	if err != nil {
		return nil, err
	}
	return lacking(words, known), nil
}

func lacking(words []string, known map[string][]string) []string {
	var out []string
	for _, w := range words {
		if len(known[w]) == 0 {
			out = append(out, w)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
