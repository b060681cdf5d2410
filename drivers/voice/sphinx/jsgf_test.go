package sphinx

import (
	"slices"
	"strings"
	"testing"
)

func TestGrammarWords(t *testing.T) {
	rows := []struct {
		name, grammar, want string
		bad                 bool
	}{
		{name: "alternatives and options", grammar: "#JSGF V1.0;\ngrammar g;\npublic <x> = (turn|switch) [the] <y>* lamp+;\n<y>=big;", want: "big lamp switch the turn"},
		{name: "weights, tags, quotes", grammar: `#JSGF V1.0 UTF-8 en; grammar g; public <x> = /3/ on {state=on} | /0.5/ "off" | o'clock;`, want: "o'clock off on"},
		{name: "comments", grammar: "#JSGF V1.0; // first; = not\ngrammar g; /* public <z> = hidden; */ public <x> = seen; // last", want: "seen"},
		{name: "import has no words", grammar: "#JSGF V1.0; grammar g; import <com.acme.*>; public <x> = a;", want: "a"},
		{name: "special rules", grammar: "#JSGF V1.0; grammar g; public <x> = a [<NULL>] | <VOID>;", want: "a"},
		{name: "no header", grammar: "grammar g; public <x> = a;", bad: true},
		{name: "header without end", grammar: "#JSGF V1.0", bad: true},
		{name: "rule without end", grammar: "#JSGF V1.0; grammar g; public <x> = a", bad: true},
		{name: "name without end", grammar: "#JSGF V1.0; grammar g; public <x = a;", bad: true},
		{name: "tag without end", grammar: "#JSGF V1.0; grammar g; public <x> = a {b;", bad: true},
		{name: "quote without end", grammar: `#JSGF V1.0; grammar g; public <x> = "a;`, bad: true},
		{name: "stray closing", grammar: "#JSGF V1.0; grammar g; public <x> = a } b;", bad: true},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			got, err := GrammarWords(row.grammar)
			if (err != nil) != row.bad {
				t.Fatalf("error %v", err)
			}
			if s := strings.Join(got, " "); s != row.want {
				t.Errorf("words %q, want %q", s, row.want)
			}
		})
	}
}

func FuzzGrammarWords(f *testing.F) {
	f.Add(lampGrammar)
	f.Add("#JSGF V1.0; grammar g; public <x> = /3/ \"a b\" {t} | c*; // d")
	f.Add("#JSGF V1.0; /* /")
	f.Fuzz(func(t *testing.T, s string) {
		words, err := GrammarWords(s)
		if err != nil {
			return
		}
		if !slices.IsSorted(words) || len(slices.Compact(slices.Clone(words))) != len(words) {
			t.Errorf("words %q are not sorted and single", words)
		}
		for _, w := range words {
			if !strings.Contains(s, w) {
				t.Errorf("word %q does not stand in the grammar", w)
			}
		}
	})
}
