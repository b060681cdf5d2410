package engine

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"homeagent/drivers/voice/engine/wire"
)

// maxPieces bounds how much of a text is cut, in pieces of wire.MaxText; the
// rest is left out.
const maxPieces = 16

// Tag cuts a text into its words, with parts of speech. Of a text longer than
// 128 KiB the beginning is cut. A crash is tried again once. The error wraps
// speech.ErrMissing where the process has no dictionary.
func (c *Client) Tag(ctx context.Context, text string) ([]wire.Word, error) {
	var words []wire.Word
	for _, piece := range pieces(text) {
		rep, err := c.twice(ctx, wire.Request{Op: wire.Tag, Text: piece})
		if err != nil {
			return nil, err
		}
		words = append(words, rep.Words...)
	}
	return words, nil
}

// Keywords gives at most n words that a text is about, the best first; n is at
// most 200. It is as Tag in all else.
func (c *Client) Keywords(ctx context.Context, text string, n int) ([]wire.Word, error) {
	var words []wire.Word
	at := map[string]int{}
	for _, piece := range pieces(text) {
		rep, err := c.twice(ctx, wire.Request{Op: wire.Keywords, Text: piece, Count: n})
		if err != nil {
			return nil, err
		}
		for _, w := range rep.Words {
			if i, ok := at[w.Text]; ok {
				words[i].Weight += w.Weight
				continue
			}
			at[w.Text] = len(words)
			words = append(words, w)
		}
	}
	slices.SortStableFunc(words, func(a, b wire.Word) int { return cmp.Compare(b.Weight, a.Weight) })
	return words[:min(len(words), max(n, 0))], nil
}

// twice asks again after a crash.
func (c *Client) twice(ctx context.Context, req wire.Request) (wire.Reply, error) {
	rep, err := c.ask(ctx, req, nil)
	if errors.Is(err, ErrCrashed) {
		c.log.Warn("engines: trying again", "err", err)
		rep, err = c.ask(ctx, req, nil)
	}
	return rep, err
}

// pieces cuts a text for the protocol, between sentences where it can.
func pieces(text string) []string {
	text = strings.ToValidUTF8(text, " ")
	var out []string
	for text != "" && len(out) < maxPieces {
		n := len(text)
		if n > wire.MaxText {
			n = wire.MaxText
			for !utf8.RuneStart(text[n]) {
				n--
			}
			if i := strings.LastIndexAny(text[:n], "\n。！？；，.!?;, "); i > n/2 {
				_, size := utf8.DecodeRuneInString(text[i:])
				n = i + size
			}
		}
		out = append(out, text[:n])
		text = text[n:]
	}
	return out
}
