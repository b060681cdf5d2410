package dict

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The files of a dictionary folder.
const (
	WordsFile = "jieba.dict.utf8"
	ModelFile = "hmm_model.utf8"
	UserFile  = "user.dict.utf8"
	RareFile  = "idf.utf8"
	StopFile  = "stop_words.utf8"
)

// The folders below the models folder that tools/jiebadict fills.
const (
	Folder      = "jieba"
	SmallFolder = "jieba-small"
)

// Files are the names of the five files.
func Files() []string { return []string{WordsFile, ModelFile, UserFile, RareFile, StopFile} }

// ErrMissing is wrapped by a Error where a file is not there.
var ErrMissing = errors.New("the dictionary is not installed")

// Error tells what is wrong with a file of a dictionary.
type Error struct {
	Path string
	// Line counts from 1, 0 for the file as a whole.
	Line int
	Err  error
}

func (e *Error) Error() string {
	if e.Line > 0 {
		return fmt.Sprintf("dictionary %s, line %d: %v", e.Path, e.Line, e.Err)
	}
	return fmt.Sprintf("dictionary %s: %v", e.Path, e.Err)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Bounds of a file and of one of its lines, in bytes. The model's lines hold
// all signs there are.
const (
	maxFile = 64 << 20
	maxLine = 2 << 20
)

// Check reads the five files of a folder by the rules that cppjieba asserts. Every
// error is an *Error; it wraps ErrMissing where a file is not there.
func Check(dir string) error {
	for _, f := range []struct {
		name string
		does func(path string) error
	}{{WordsFile, checkWords}, {ModelFile, checkModel}, {UserFile, checkUser}, {RareFile, checkRare}, {StopFile, checkStop}} {
		if err := f.does(filepath.Join(dir, f.name)); err != nil {
			return err
		}
	}
	return nil
}

var (
	errEmpty  = errors.New("it is empty")
	errUTF8   = errors.New("it is not UTF-8")
	errFields = errors.New("it has another number of fields")
	errNumber = errors.New("a number is out of its range")
)

// checkWords: word, frequency and tag.
func checkWords(path string) error {
	return atLeastOne(path, func(line string) error {
		_, _, err := entry(line)
		return err
	})
}

// entry reads a line of the words.
func entry(line string) (word string, frequency float64, err error) {
	f := strings.Split(line, " ")
	if len(f) != 3 || f[0] == "" || f[2] == "" {
		return "", 0, errFields
	}
	frequency, err = strconv.ParseFloat(f[1], 64)
	if err != nil || !(frequency > 0 && frequency < 1e12) {
		return "", 0, errNumber
	}
	return f[0], frequency, nil
}

// rare reads a line of how rare words are.
func rare(line string) (word string, idf float64, err error) {
	f := strings.Split(line, " ")
	if len(f) != 2 || f[0] == "" {
		return "", 0, errFields
	}
	idf, err = strconv.ParseFloat(f[1], 64)
	if err != nil || !(idf > 0 && idf < 1000) {
		return "", 0, errNumber
	}
	return f[0], idf, nil
}

// checkUser: one to three fields, or an empty line.
func checkUser(path string) error {
	return lines(path, func(line string) error {
		f := strings.Split(line, " ")
		if line != "" && (len(f) > 3 || f[0] == "") {
			return errFields
		}
		if len(f) == 3 {
			if n, err := strconv.Atoi(f[1]); err != nil || n <= 0 {
				return errNumber
			}
		}
		return nil
	})
}

// checkRare: word and idf.
func checkRare(path string) error {
	return atLeastOne(path, func(line string) error {
		_, _, err := rare(line)
		return err
	})
}

func checkStop(path string) error { return atLeastOne(path, func(string) error { return nil }) }

// atLeastOne is lines for a file that may not be empty.
func atLeastOne(path string, f func(line string) error) error {
	n := 0
	err := lines(path, func(line string) error { n++; return f(line) })
	if err == nil && n == 0 {
		err = &Error{Path: path, Err: errEmpty}
	}
	return err
}

// The lines of the model that are no comment: five of four probabilities, four
// of a probability for each sign.
const (
	modelStates = 4
	modelLines  = 1 + 2*modelStates
)

func checkModel(path string) error {
	n := 0
	err := lines(path, func(line string) error {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			return nil
		}
		n++
		switch {
		case n <= 1+modelStates:
			f := strings.Split(line, " ")
			if len(f) != modelStates {
				return errFields
			}
			for _, p := range f {
				if _, err := strconv.ParseFloat(p, 64); err != nil {
					return errNumber
				}
			}
		case n <= modelLines:
			for item := range strings.SplitSeq(line, ",") {
				s, p, ok := strings.Cut(item, ":")
				if !ok || utf8.RuneCountInString(s) != 1 || strings.Contains(p, ":") {
					return errFields
				}
				if _, err := strconv.ParseFloat(p, 64); err != nil {
					return errNumber
				}
			}
		}
		return nil
	})
	if err == nil && n < modelLines {
		err = &Error{Path: path, Err: fmt.Errorf("%d of %d lines are there", n, modelLines)}
	}
	return err
}

// lines calls f with each line of a file, without its end.
func lines(path string, f func(line string) error) error {
	file, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return &Error{Path: path, Err: fmt.Errorf("%w; run tools/setup", ErrMissing)}
	}
	if err != nil {
		return &Error{Path: path, Err: err}
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() || info.Size() > maxFile {
		return &Error{Path: path, Err: errors.Join(err, errors.New("it is no file of a dictionary"))}
	}
	s := bufio.NewScanner(io.LimitReader(file, maxFile))
	s.Buffer(make([]byte, 64<<10), maxLine)
	n := 0
	for s.Scan() {
		n++
		line := s.Text()
		if !utf8.ValidString(line) || strings.ContainsRune(line, 0) {
			return &Error{Path: path, Line: n, Err: errUTF8}
		}
		if err := f(line); err != nil {
			return &Error{Path: path, Line: n, Err: err}
		}
	}
	if err := s.Err(); err != nil {
		return &Error{Path: path, Line: n + 1, Err: err}
	}
	return nil
}
