package intent

import (
	"strings"
	"sync"
	"testing"

	"homeagent/agent/home"
)

// builtinSet is made once: sets are immutable.
var builtinSet = sync.OnceValues(func() (*Set, error) { return Default(home.Default()) })

func defaultSet(t testing.TB) *Set {
	t.Helper()
	s, err := builtinSet()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSentences(t *testing.T) {
	s := defaultSet(t)
	for _, row := range sentences {
		t.Run(row.text, func(t *testing.T) {
			m, ok := s.Parse(row.text, "")
			if !ok || m.Intent != row.intent {
				t.Fatalf("got %q (%v, problem %q %q), want %q; slots %v", m.Intent, ok, m.Problem, m.Unknown, row.intent, m.Slots)
			}
			for _, want := range strings.Split(row.slots, ";") {
				if held, ok := strings.CutPrefix(want, "~"); ok {
					if !strings.Contains(strings.Join(values(m.Slots), " "), held) {
						t.Errorf("slots %v do not hold %q", m.Slots, held)
					}
				} else if k, v, ok := strings.Cut(want, "="); ok && m.Slots[k] != v {
					t.Errorf("slot %s is %q, want %q (all: %v)", k, m.Slots[k], v, m.Slots)
				}
			}
		})
	}
}

func values(m map[string]string) (out []string) {
	for _, v := range m {
		out = append(out, v)
	}
	return out
}

func TestOtherSentencesDoNothing(t *testing.T) {
	s := defaultSet(t)
	for _, text := range others {
		t.Run(text, func(t *testing.T) {
			m, ok := s.Parse(text, "")
			if !ok {
				if len(m.Actions) > 0 {
					t.Fatalf("no match, yet actions %v", m.Actions)
				}
				return
			}
			for _, a := range m.Actions {
				if !harmless[a.Tool] {
					t.Errorf("%s with %v", m.Intent, m.Slots)
				}
			}
		})
	}
}
