package engine

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"homeagent/drivers/voice/engine/wire"
	"homeagent/drivers/voice/speech"
)

// words says back the text's blank-separated words, as keywords with the number
// of their bytes as weight.
func (f *fakeProcess) words(req wire.Request, rep *wire.Reply) {
	if req.Text == "missing" {
		rep.Fault = &wire.Fault{Kind: wire.Missing, Text: "no dictionary; run tools/setup"}
		return
	}
	for w := range strings.FieldsSeq(req.Text) {
		if req.Op == wire.Tag {
			rep.Words = append(rep.Words, wire.Word{Text: w, Tag: "n"})
		} else if len(rep.Words) < req.Count {
			rep.Words = append(rep.Words, wire.Word{Text: w, Weight: float64(len(w))})
		}
	}
}

func TestWords(t *testing.T) {
	c := client(t, command(t, "answers"))
	got, err := c.Tag(t.Context(), "key under mat")
	if want := []wire.Word{{Text: "key", Tag: "n"}, {Text: "under", Tag: "n"}, {Text: "mat", Tag: "n"}}; err != nil || !slices.Equal(got, want) {
		t.Errorf("Tag: %v, %v", got, err)
	}
	got, err = c.Keywords(t.Context(), "key under mat", 2)
	if want := []wire.Word{{Text: "under", Weight: 5}, {Text: "key", Weight: 3}}; err != nil || !slices.Equal(got, want) {
		t.Errorf("Keywords: %v, %v", got, err)
	}
	if got, err := c.Tag(t.Context(), ""); err != nil || len(got) > 0 {
		t.Errorf("of nothing: %v, %v", got, err)
	}
	if _, err := c.Tag(t.Context(), "missing"); !errors.Is(err, speech.ErrMissing) || !strings.Contains(err.Error(), "tools/setup") {
		t.Errorf("without a dictionary: %v", err)
	}
	// A long text comes in pieces whose words are counted together.
	long := strings.Repeat("key mat ", wire.MaxText/4)
	if got, err = c.Tag(t.Context(), long); err != nil || len(got) != wire.MaxText/2 {
		t.Errorf("%d words of a long text, %v", len(got), err)
	}
}

func TestWordsAfterACrash(t *testing.T) {
	for mode, want := range map[string]error{"crashes once": nil, "crashes": ErrCrashed} {
		t.Run(mode, func(t *testing.T) {
			got, err := client(t, command(t, mode)).Tag(t.Context(), "key")
			if !errors.Is(err, want) || want == nil && len(got) != 1 {
				t.Errorf("%v, %v", got, err)
			}
		})
	}
}

func FuzzPieces(f *testing.F) {
	for _, s := range []string{"", "key", strings.Repeat("钥匙，", 4000), "\xff" + strings.Repeat("垫", 5000), strings.Repeat("x", 20000)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := pieces(text)
		for _, p := range got {
			if p == "" || len(p) > wire.MaxText || !utf8.ValidString(p) {
				t.Fatalf("a piece of %d bytes", len(p))
			}
		}
		if all := strings.ToValidUTF8(text, " "); len(got) < maxPieces && strings.Join(got, "") != all {
			t.Fatal("something is lost")
		}
	})
}
