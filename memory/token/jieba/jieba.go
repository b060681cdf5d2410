package jieba

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/yanyiwu/gojieba"

	"homeagent/memory/token"
	"homeagent/memory/token/jieba/dict"
)

// ErrClosed is returned after Close.
var ErrClosed = errors.New("the dictionary is closed")

// MaxText is how much of a text is looked at, in bytes; the rest is left out.
const MaxText = 64 << 10

// Cutter is an open dictionary.
type Cutter struct {
	mu sync.RWMutex // closing waits for those who cut
	j  *gojieba.Jieba
}

var _ token.Cutter = (*Cutter)(nil)

// Open checks and loads the dictionary of a folder. Every error about its files
// is a *dict.Error; it wraps dict.ErrMissing where one is not there.
func Open(dir string) (*Cutter, error) {
	if err := dict.Check(dir); err != nil {
		return nil, err
	}
	var paths []string
	for _, name := range dict.Files() {
		paths = append(paths, filepath.Join(dir, name))
	}
	return &Cutter{j: gojieba.NewJieba(paths...)}, nil
}

// Close frees the dictionary. Closing twice is harmless.
func (c *Cutter) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.j != nil {
		c.j.Free()
		c.j = nil
	}
	return nil
}

// with runs f on what can be cut of a text.
func (c *Cutter) with(ctx context.Context, text string, f func(j *gojieba.Jieba, text string)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	if c.j == nil {
		return ErrClosed
	}
	if text = clean(text); text != "" {
		f(c.j, text)
	}
	return nil
}

// clean makes what C takes: no zero byte, only UTF-8, an end that is a sign's.
func clean(text string) string {
	if len(text) > MaxText {
		n := MaxText
		for n > 0 && !utf8.RuneStart(text[n]) {
			n--
		}
		text = text[:n]
	}
	return strings.Map(func(r rune) rune {
		if r == utf8.RuneError || unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
}

// Cut returns the words of text; what is blank is left out.
func (c *Cutter) Cut(ctx context.Context, text string) (words []string, err error) {
	err = c.with(ctx, text, func(j *gojieba.Jieba, text string) {
		for _, w := range j.Cut(text, true) {
			if strings.TrimSpace(w) != "" {
				words = append(words, w)
			}
		}
	})
	return words, err
}

// Tag returns the words of text with their tags; what is blank is left out.
func (c *Cutter) Tag(ctx context.Context, text string) (words []token.Word, err error) {
	err = c.with(ctx, text, func(j *gojieba.Jieba, text string) {
		for _, w := range j.Tag(text) {
			// A word may hold a stroke itself, a tag does not.
			i := strings.LastIndexByte(w, '/')
			if i < 0 || strings.TrimSpace(w[:i]) == "" {
				continue
			}
			words = append(words, token.Word{Text: w[:i], Tag: w[i+1:]})
		}
	})
	return words, err
}

// Keywords returns at most n words, those first that are said often here and
// seldom elsewhere.
func (c *Cutter) Keywords(ctx context.Context, text string, n int) (words []token.Word, err error) {
	if n <= 0 {
		return nil, ctx.Err()
	}
	err = c.with(ctx, text, func(j *gojieba.Jieba, text string) {
		for _, w := range j.ExtractWithWeight(text, n) {
			words = append(words, token.Word{Text: w.Word, Weight: w.Weight})
		}
	})
	return words, err
}
