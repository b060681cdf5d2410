package dict_test

import (
	"bytes"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"homeagent/memory/token/jieba/dict"
)

// sound are the files of a very small dictionary.
func sound() map[string]string {
	var model strings.Builder
	model.WriteString("# start\n-0.3 -3.14e+100 -3.14e+100 -1.5\n")
	for range 4 {
		model.WriteString("-0.5 -0.5 -0.9 -1.0\n")
	}
	for range 4 {
		model.WriteString("# of a sign\n门:-4.0,垫:-5.1\n")
	}
	return map[string]string{
		dict.WordsFile: "门 500 n\n门垫 3 n\n钥匙 90 n\n上海 4000 ns\nAT&T 3 nz\n",
		dict.ModelFile: model.String(),
		dict.UserFile:  "云计算\n蓝翔 nz\n区块链 10 nz\n\n",
		dict.RareFile:  "门垫 11.5\n钥匙 7.9\n上海 5.1\n",
		dict.StopFile:  "的\n了\n",
	}
}

// folder writes files and returns where.
func folder(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestCheck(t *testing.T) {
	rows := []struct {
		name string
		file string
		text string
		line int // of the error, -1 for none, 0 for the whole file
	}{
		{"sound", dict.UserFile, "云计算\n", -1},
		{"no words of one's own", dict.UserFile, "", -1},
		{"no end of line", dict.StopFile, "的", -1},
		{"words: empty", dict.WordsFile, "", 0},
		{"words: two fields", dict.WordsFile, "门 5 n\n垫 4\n", 2},
		{"words: an empty line", dict.WordsFile, "门 5 n\n\n", 2},
		{"words: frequency 0", dict.WordsFile, "门 0 n\n", 1},
		{"words: negative", dict.WordsFile, "门 -3 n\n", 1},
		{"words: NaN", dict.WordsFile, "门 NaN n\n", 1},
		{"words: no number", dict.WordsFile, "门 viel n\n", 1},
		{"words: not UTF-8", dict.WordsFile, "\xc3\xc5 5 n\n", 1},
		{"words: zero byte", dict.WordsFile, "门\x00 5 n\n", 1},
		{"words: a line without end", dict.WordsFile, strings.Repeat("a", 3<<20), 1},
		{"words: two blanks", dict.WordsFile, "门  5 n\n", 1},
		{"model: empty", dict.ModelFile, "", 0},
		{"model: cut", dict.ModelFile, "-1 -1 -1 -1\n-1 -1 -1 -1\n", 0},
		{"model: three states", dict.ModelFile, "-1 -1 -1\n", 1},
		{"model: words for numbers", dict.ModelFile, "-1 a -1 -1\n", 1},
		{"model: two signs", dict.ModelFile, strings.Replace(sound()[dict.ModelFile], "门:", "门垫:", 1), 8},
		{"model: no probability", dict.ModelFile, strings.Replace(sound()[dict.ModelFile], "门:-4.0", "门", 1), 8},
		{"model: a comma at the end", dict.ModelFile, strings.Replace(sound()[dict.ModelFile], "-5.1", "-5.1,", 1), 8},
		{"user: four fields", dict.UserFile, "a 1 n n\n", 1},
		{"user: no number", dict.UserFile, "a viel n\n", 1},
		{"rare: empty", dict.RareFile, "", 0},
		{"rare: negative", dict.RareFile, "门 -1\n", 1},
		{"rare: three fields", dict.RareFile, "门 1 1\n", 1},
		{"stop: empty", dict.StopFile, "", 0},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			files := sound()
			files[r.file] = r.text
			err := dict.Check(folder(t, files))
			if r.line < 0 {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			var de *dict.Error
			if !errors.As(err, &de) || filepath.Base(de.Path) != r.file || de.Line != r.line {
				t.Fatalf("%v, want one of %s, line %d", err, r.file, r.line)
			}
		})
	}
	for _, name := range dict.Files() {
		t.Run("without "+name, func(t *testing.T) {
			files := sound()
			delete(files, name)
			if err := dict.Check(folder(t, files)); !errors.Is(err, dict.ErrMissing) {
				t.Fatal(err)
			}
		})
		t.Run("a folder for "+name, func(t *testing.T) {
			files := sound()
			delete(files, name)
			dir := folder(t, files)
			if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
				t.Fatal(err)
			}
			var de *dict.Error
			if err := dict.Check(dir); !errors.As(err, &de) {
				t.Fatal(err)
			}
		})
	}
}

func TestTrim(t *testing.T) {
	dir := folder(t, sound())
	rows := []struct {
		name        string
		words       int
		kept, rares string
	}{
		{"all", 100, "门 500 n\n门垫 3 n\n钥匙 90 n\n上海 4000 ns\nAT&T 3 nz\n", "门垫 11.5\n钥匙 7.9\n上海 5.1\n"},
		{"the most frequent, in the file's order", 3, "门 500 n\n钥匙 90 n\n上海 4000 ns\n", "钥匙 7.9\n上海 5.1\n"},
		{"equally frequent ones stay together", 4, "门 500 n\n门垫 3 n\n钥匙 90 n\n上海 4000 ns\nAT&T 3 nz\n", "门垫 11.5\n钥匙 7.9\n上海 5.1\n"},
		{"single signs stay", 1, "门 500 n\n上海 4000 ns\n", "上海 5.1\n"},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			got, err := dict.Trim(dir, r.words)
			if err != nil {
				t.Fatal(err)
			}
			if string(got[dict.WordsFile]) != r.kept || string(got[dict.RareFile]) != r.rares {
				t.Fatalf("%q and %q", got[dict.WordsFile], got[dict.RareFile])
			}
			again, err := dict.Trim(dir, r.words)
			if err != nil || !maps.EqualFunc(got, again, bytes.Equal) {
				t.Fatalf("the second time differs; %v", err)
			}
			small := map[string]string{}
			for name, b := range got {
				small[name] = string(b)
			}
			if err := dict.Check(folder(t, small)); err != nil {
				t.Fatalf("the trimmed one: %v", err)
			}
		})
	}
	if _, err := dict.Trim(t.TempDir(), 5); !errors.Is(err, dict.ErrMissing) {
		t.Fatal(err)
	}
}

// FuzzCheck: any file is sound or an *Error, and what is sound is so when trimmed.
func FuzzCheck(f *testing.F) {
	for i, name := range dict.Files() {
		f.Add(uint8(i), []byte(sound()[name]))
	}
	f.Add(uint8(0), []byte("a 1e400 n\n"))
	f.Add(uint8(0), []byte("a 5 n\n"))
	f.Add(uint8(1), []byte("-1 -1 -1 -1\n,:"))
	f.Fuzz(func(t *testing.T, which uint8, text []byte) {
		files := sound()
		files[dict.Files()[int(which)%len(dict.Files())]] = string(text)
		dir := folder(t, files)
		if err := dict.Check(dir); err != nil {
			var de *dict.Error
			if !errors.As(err, &de) {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		got, err := dict.Trim(dir, 3)
		if err != nil {
			t.Fatal(err)
		}
		small := map[string]string{}
		for name, b := range got {
			small[name] = string(b)
		}
		if err := dict.Check(folder(t, small)); err != nil {
			t.Fatal(err)
		}
	})
}
