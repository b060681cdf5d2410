package dict

import (
	"bytes"
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"unicode/utf8"
)

// Trim makes a smaller dictionary of the one in a folder: all single signs and
// the most frequent words, at least as many as words says where there are, with
// what belongs to them. It returns the five files by name; the same folder gives
// the same bytes. Errors are those of Check.
func Trim(dir string, words int) (map[string][]byte, error) {
	if err := Check(dir); err != nil {
		return nil, err
	}
	type line struct {
		text, word string
		frequency  float64
	}
	var all []line
	err := lines(filepath.Join(dir, WordsFile), func(text string) error {
		word, frequency, err := entry(text)
		all = append(all, line{text, word, frequency})
		return err
	})
	if err != nil {
		return nil, err
	}
	byFrequency := slices.Clone(all)
	slices.SortFunc(byFrequency, func(a, b line) int {
		return cmp.Or(cmp.Compare(b.frequency, a.frequency), cmp.Compare(a.word, b.word))
	})
	least := 0.0 // words as frequent as the last one stay together
	if words < len(byFrequency) {
		least = byFrequency[max(words-1, 0)].frequency
	}
	kept := map[string]bool{}
	files := map[string][]byte{}
	var out bytes.Buffer
	for _, l := range all { // in the order of the file
		if l.frequency >= least || utf8.RuneCountInString(l.word) == 1 {
			kept[l.word] = true
			fmt.Fprintln(&out, l.text)
		}
	}
	files[WordsFile] = bytes.Clone(out.Bytes())
	out.Reset()
	err = lines(filepath.Join(dir, RareFile), func(text string) error {
		word, _, err := rare(text)
		if kept[word] {
			fmt.Fprintln(&out, text)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	whole := []string{ModelFile, UserFile, StopFile}
	if files[RareFile] = bytes.Clone(out.Bytes()); out.Len() == 0 {
		whole = append(whole, RareFile) // none of the words: an empty file would not be sound
	}
	for _, name := range whole {
		out.Reset()
		if err := lines(filepath.Join(dir, name), func(text string) error {
			_, err := fmt.Fprintln(&out, text)
			return err
		}); err != nil {
			return nil, err
		}
		files[name] = bytes.Clone(out.Bytes())
	}
	return files, nil
}
