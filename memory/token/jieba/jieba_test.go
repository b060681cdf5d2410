package jieba_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"homeagent/memory/token"
	"homeagent/memory/token/jieba"
	"homeagent/memory/token/jieba/dict"
)

// tiny is a dictionary that every machine has.
func tiny(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		dict.WordsFile: "门 500 n\n垫 20 n\n门垫 30 n\n钥匙 90 n\n在 9000 p\n下面 800 f\n上海 4000 ns\n王伟 300 nr\n住 700 v\n",
		dict.ModelFile: "-0.26 -3.14e+100 -3.14e+100 -1.46\n-3.14e+100 -0.51 -0.91 -3.14e+100\n-0.58 -3.14e+100 -3.14e+100 -0.8\n" +
			"-3.14e+100 -0.33 -1.26 -3.14e+100\n-0.72 -3.14e+100 -3.14e+100 -0.66\n门:-4\n垫:-4\n门:-4\n门:-4\n",
		dict.UserFile: "",
		dict.RareFile: "门垫 11.5\n钥匙 7.9\n上海 5.1\n",
		dict.StopFile: "在\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func open(t testing.TB, dir string) *jieba.Cutter {
	t.Helper()
	c, err := jieba.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func TestCutter(t *testing.T) {
	c := open(t, tiny(t))
	cut, err := c.Cut(t.Context(), "钥匙在 门垫下面\x00")
	if err != nil || !slices.Equal(cut, []string{"钥匙", "在", "门垫", "下面"}) {
		t.Errorf("Cut %q, %v", cut, err)
	}
	tagged, err := c.Tag(t.Context(), "王伟住上海 a/b")
	want := []token.Word{{Text: "王伟", Tag: token.TagPerson}, {Text: "住", Tag: "v"}, {Text: "上海", Tag: token.TagPlace}}
	if err != nil || len(tagged) < 3 || !slices.Equal(tagged[:3], want) {
		t.Errorf("Tag %v, %v", tagged, err)
	}
	words, err := c.Keywords(t.Context(), "钥匙在门垫下面，钥匙", 2)
	if err != nil || len(words) != 2 || words[0].Text != "钥匙" || words[0].Weight <= words[1].Weight {
		t.Errorf("Keywords %v, %v", words, err)
	}
	if words, err := c.Keywords(t.Context(), "钥匙", 0); err != nil || len(words) > 0 {
		t.Errorf("%v, %v", words, err)
	}
	long, err := c.Cut(t.Context(), strings.Repeat("钥匙", jieba.MaxText))
	if err != nil || len(long) < jieba.MaxText/8 {
		t.Errorf("%d words of a long text, %v", len(long), err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Cut(ended, "钥匙"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := errors.Join(c.Close(), c.Close()); err != nil {
		t.Error(err)
	}
	if _, err := c.Tag(t.Context(), "钥匙"); !errors.Is(err, jieba.ErrClosed) {
		t.Error(err)
	}
}

// TestDamage: cppjieba would end the process.
func TestDamage(t *testing.T) {
	for _, name := range dict.Files() {
		for what, content := range map[string]string{"garbage": "\x00\x01\xff", "cut": "门 5"} {
			t.Run(name+" "+what, func(t *testing.T) {
				dir := tiny(t)
				if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
				c, err := jieba.Open(dir)
				var de *dict.Error
				if err == nil && (name == dict.UserFile || name == dict.StopFile || name == dict.RareFile) && what == "cut" {
					c.Close() // sound there
				} else if !errors.As(err, &de) {
					t.Errorf("error %v", err)
				}
			})
		}
		t.Run("without "+name, func(t *testing.T) {
			dir := tiny(t)
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
			if _, err := jieba.Open(dir); !errors.Is(err, dict.ErrMissing) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestSeveralAtOnce(t *testing.T) {
	c := open(t, tiny(t))
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 50 {
				if w, err := c.Tag(t.Context(), "王伟住上海"); err != nil || len(w) != 3 {
					t.Errorf("%v, %v", w, err)
				}
			}
		})
	}
	wg.Wait()
}

// FuzzTag: any text is cut into valid words that stand in it.
func FuzzTag(f *testing.F) {
	c := open(f, tiny(f))
	for _, s := range []string{"钥匙在门垫下面", "a/b\x00\xff", "👨‍👩‍👧 שלום", "\u202e门\ufffd垫", strings.Repeat("!", 300)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		words, err := c.Tag(t.Context(), text)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range words {
			if w.Text == "" || w.Tag == "" || !utf8.ValidString(w.Text) || utf8.ValidString(text) && !strings.Contains(text, w.Text) {
				t.Fatalf("%q of %q", w.Text, text)
			}
		}
		if _, err := c.Keywords(t.Context(), text, 5); err != nil {
			t.Fatal(err)
		}
	})
}
