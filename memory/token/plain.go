package token

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode"
)

// Plain is the Cutter without a dictionary: words of an alphabet as they are,
// runs of Han signs between grammar and punctuation, and no tags. It never
// fails.
type Plain struct{}

var _ Cutter = Plain{}

// Tag returns the words of Cut without tags.
func (p Plain) Tag(ctx context.Context, text string) ([]Word, error) {
	cut, _ := p.Cut(ctx, text)
	words := make([]Word, len(cut))
	for i, w := range cut {
		words[i].Text = w
	}
	return words, nil
}

// Cut returns words and runs of signs.
func (Plain) Cut(_ context.Context, text string) ([]string, error) {
	var out []string
	start, kind := -1, other
	end := func(i int) {
		if start >= 0 {
			out = append(out, text[start:i])
		}
		start = -1
	}
	for i, r := range text {
		k := kindOf(r)
		if k == mark && start >= 0 {
			continue // an accent, or the apostrophe of "don't"
		}
		if k != kind || k == other {
			end(i)
			kind = k
			if k == word || k == sign {
				start = i
			}
		}
	}
	end(len(text))
	for i, w := range out {
		out[i] = strings.TrimRight(w, "'’")
	}
	return out, nil
}

type runKind int

const (
	other runKind = iota
	word
	sign
	mark
)

func kindOf(r rune) runKind {
	switch {
	case r == '\'' || r == '’' || unicode.Is(unicode.Mn, r):
		return mark
	case spaceless(r):
		if stopSigns[r] {
			return other
		}
		return sign
	case r != unicode.ReplacementChar && (unicode.IsLetter(r) || unicode.IsDigit(r)):
		return word
	}
	return other
}

// longRun is the number of signs from which a run is not a word but a clause;
// then its pairs are counted.
const longRun = 4

// Keywords are the words said most often; of two said as often the longer (in
// bytes) wins, then the earlier one. Of a long run of signs the pairs count.
func (p Plain) Keywords(ctx context.Context, text string, n int) ([]Word, error) {
	cut, _ := p.Cut(ctx, text)
	at := map[string]int{}
	var words []Word
	count := func(w string) {
		i, ok := at[w]
		if !ok {
			i = len(words)
			at[w] = i
			words = append(words, Word{Text: w})
		}
		words[i].Weight++
	}
	for _, w := range cut {
		signs := []rune(w)
		switch {
		case !spaceless(signs[0]):
			if len(signs) > 1 && !stopWords[strings.ToLower(w)] {
				count(w)
			}
		case len(signs) > longRun:
			for i := range len(signs) - 1 {
				count(string(signs[i : i+2]))
			}
		case len(signs) > 1:
			count(w)
		}
	}
	slices.SortStableFunc(words, func(a, b Word) int {
		return cmp.Or(cmp.Compare(b.Weight, a.Weight), cmp.Compare(len(b.Text), len(a.Text)))
	})
	return words[:min(max(n, 0), len(words))], nil
}
