package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"homeagent/drivers/voice/engine"
	"homeagent/drivers/voice/engine/server"
	"homeagent/drivers/voice/engine/wire"
	"homeagent/drivers/voice/speech"
	"homeagent/memory/token"
	"homeagent/memory/token/jieba"
	"homeagent/memory/token/jieba/dict"
)

// dictionary is the folder of words in the models folder: the small one on a
// board that is short of memory.
func dictionary(models string, small bool) string {
	if small {
		return filepath.Join(models, dict.SmallFolder)
	}
	return filepath.Join(models, dict.Folder)
}

// newCutter cuts text in the engines process, and without a dictionary where
// that has none or fails.
func newCutter(engines *engine.Client, dir string) token.Cutter {
	return token.Either{First: &farCutter{engines: engines, dir: dir}, Second: token.Plain{}}
}

// farCutter is the engines process as a token.Cutter.
type farCutter struct {
	engines *engine.Client
	dir     string
}

var _ token.Cutter = (*farCutter)(nil)

// there spares starting a process only to hear that nothing is installed.
func (c *farCutter) there() error {
	if _, err := os.Stat(filepath.Join(c.dir, dict.WordsFile)); err != nil {
		return fmt.Errorf("%w: %w", dict.ErrMissing, err)
	}
	return nil
}

// Tag implements token.Tagger.
func (c *farCutter) Tag(ctx context.Context, text string) ([]token.Word, error) {
	if err := c.there(); err != nil {
		return nil, err
	}
	return wordsOf(c.engines.Tag(ctx, text))
}

// Keywords implements token.Keywords.
func (c *farCutter) Keywords(ctx context.Context, text string, n int) ([]token.Word, error) {
	if err := c.there(); err != nil || n <= 0 {
		return nil, err
	}
	return wordsOf(c.engines.Keywords(ctx, text, n))
}

// Cut implements token.Cutter.
func (c *farCutter) Cut(ctx context.Context, text string) ([]string, error) {
	words, err := c.Tag(ctx, text)
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = w.Text
	}
	return out, err
}

func wordsOf(words []wire.Word, err error) ([]token.Word, error) {
	out := make([]token.Word, len(words))
	for i, w := range words {
		out[i] = token.Word(w)
	}
	return out, err
}

// openDictionary loads the dictionary; it is the engines' half.
func openDictionary(dir string) func() (server.Words, error) {
	return func() (server.Words, error) {
		c, err := jieba.Open(dir)
		if errors.Is(err, dict.ErrMissing) {
			return nil, fmt.Errorf("%w: %w", speech.ErrMissing, err)
		}
		if err != nil {
			return nil, err
		}
		return nearCutter{c}, nil
	}
}

// nearCutter is the dictionary as the engines serve it.
type nearCutter struct{ *jieba.Cutter }

func (c nearCutter) Tag(ctx context.Context, text string) ([]wire.Word, error) {
	return wireWords(c.Cutter.Tag(ctx, text))
}

func (c nearCutter) Keywords(ctx context.Context, text string, n int) ([]wire.Word, error) {
	return wireWords(c.Cutter.Keywords(ctx, text, n))
}

func wireWords(words []token.Word, err error) ([]wire.Word, error) {
	out := make([]wire.Word, len(words))
	for i, w := range words {
		out[i] = wire.Word(w)
	}
	return out, err
}
