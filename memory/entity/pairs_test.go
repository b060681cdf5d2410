package entity

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// pair is a line of a file of pairs: two names, what is told of them, and what
// a careful reader says.
type pair struct {
	line           int
	a, b           string
	context, label string
	rule           string
}

func readPairs(t *testing.T, path string) []pair {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		if os.IsNotExist(err) {
			t.Skipf("%s is not here", filepath.Base(path))
		}
		t.Fatal(err)
	}
	defer f.Close()
	var out []pair
	s := bufio.NewScanner(f)
	for line := 1; s.Scan(); line++ {
		if strings.HasPrefix(s.Text(), "#") || s.Text() == "" {
			continue
		}
		c := strings.Split(s.Text(), "\t")
		if len(c) != 5 {
			t.Fatalf("%s:%d: %d columns", path, line, len(c))
		}
		out = append(out, pair{line, c[0], c[1], c[2], c[3], c[4]})
	}
	if err := s.Err(); err != nil || len(out) == 0 {
		t.Fatalf("%s: %d pairs, %v", path, len(out), err)
	}
	return out
}

// candidates reads a pair as the program does: names, and a text about both.
func (p pair) candidates() (a, b Candidate) {
	a, b = Candidate{Name: p.a}, Candidate{Name: p.b}
	Observe(p.context, &a, &b)
	return a, b
}

// explicit are the rules by which a "same" has to be decided at once.
func (p pair) explicit() bool {
	for _, word := range []string{"explicit", "stable id", "same conversation"} {
		if strings.Contains(p.rule, word) {
			return true
		}
	}
	return false
}

func checkPairs(t *testing.T, path string) {
	nominated, sames, decided, exact := 0, 0, 0, 0
	pairs := readPairs(t, path)
	for _, p := range pairs {
		a, b := p.candidates()
		d := Compare(a, b)
		if back := Compare(b, a); back != d {
			t.Errorf("%d %s / %s: %v by %s, the other way round %v by %s", p.line, p.a, p.b, d.Verdict, d.Rule, back.Verdict, back.Rule)
		}
		if d.Verdict.String() == p.label || p.label == "diff" && d.Verdict == Unrelated {
			exact++
		} else {
			t.Logf("%d %s / %s (%s): %s said %v by %s; %+v %+v", p.line, p.a, p.b, p.context, p.label, d.Verdict, d.Rule, a, b)
		}
		switch n := Nominated(a, b); {
		case p.label != "same" && d.Verdict == Same:
			t.Errorf("%d %s / %s (%s): falsely the same, by %s", p.line, p.a, p.b, p.context, d.Rule)
		case p.label == "same":
			sames++
			if n {
				nominated++
			} else {
				t.Errorf("%d %s / %s (%s): not nominated", p.line, p.a, p.b, p.context)
			}
			if d.Verdict == Same {
				decided++
			} else if p.explicit() || d.Verdict != Ask {
				t.Errorf("%d %s / %s (%s): %v by %s, but it is explicit or is to be asked",
					p.line, p.a, p.b, p.context, d.Verdict, d.Rule)
			}
		case p.label == "ask" && (d.Verdict != Ask || !n):
			t.Errorf("%d %s / %s (%s): %v by %s, nominated %v; it is to be listed as undecided",
				p.line, p.a, p.b, p.context, d.Verdict, d.Rule, n)
		}
	}
	t.Logf("%s: %d pairs, as labelled %d; same %d, nominated %d, decided %d",
		filepath.Base(path), len(pairs), exact, sames, nominated, decided)
}

func TestChinesePairs(t *testing.T) {
	checkPairs(t, filepath.Join("..", "..", "..", "shared", "bench", "entity_zh", "pairs.tsv"))
}

// TestOwnPairs are pairs in both languages that were written after the rules.
func TestOwnPairs(t *testing.T) { checkPairs(t, filepath.Join("testdata", "pairs.tsv")) }
