package ledger_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"homeagent/tools/powercut/ledger"
)

// step is a note: a try, and unless it failed its acknowledgement.
type step struct {
	w      ledger.Write
	at     uint64
	failed bool
}

func write(k ledger.Kind, name, value string, at uint64) step {
	return step{ledger.Write{Kind: k, Name: name, Value: value}, at, false}
}

func keep(t *testing.T, steps ...step) *ledger.Ledger {
	t.Helper()
	var b bytes.Buffer
	l := ledger.New(&b)
	for _, s := range steps {
		op, err := l.Tried(s.w)
		if err == nil && !s.failed {
			err = l.Acked(op, s.w, s.at)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	back, err := ledger.Read(&b)
	if err != nil {
		t.Fatal(err)
	}
	return back
}

func TestJudge(t *testing.T) {
	yes, no := true, false
	some := func(names ...string) map[string]bool {
		m := map[string]bool{}
		for _, n := range names {
			m[n] = true
		}
		return m
	}
	failed := func(s step) step { s.failed = true; return s }
	type text = map[string]string
	for _, row := range []struct {
		name    string
		steps   []step
		entries uint64
		found   ledger.Found
		want    []string
	}{
		{"all there", []step{write(ledger.Input, "a", "hello", 1), write(ledger.Answer, "a", "hi", 2), write(ledger.Fact, "Tom", "likes tea", 3),
			write(ledger.Timer, "egg", ledger.Present, 4), write(ledger.Secret, "llm", "s1", 5), write(ledger.Config, "memory.keep", "31", 6),
			write(ledger.Token, "t", ledger.Present, 7), write(ledger.Claim, "owner", "", 8), write(ledger.Given, "llm_key", "k", 0)},
			ledger.All, ledger.Found{Inputs: text{"a": "hello"}, Answers: text{"a": "hi"}, Facts: some("Tom likes tea"), Timers: some("egg"),
				Secrets: text{"llm": "s1"}, Config: text{"memory.keep": "31"}, Tokens: some("t"), Claimed: &yes, Given: text{"llm_key": "k"}}, nil},
		{"nothing there", []step{write(ledger.Input, "a", "hello", 1), write(ledger.Answer, "a", "hi", 2), write(ledger.Fact, "Tom", "likes tea", 3),
			write(ledger.Timer, "egg", ledger.Present, 4), write(ledger.Secret, "llm", "s1", 5), write(ledger.Config, "memory.keep", "31", 6),
			write(ledger.Token, "t", ledger.Present, 7), write(ledger.Claim, "owner", "", 8), write(ledger.Given, "llm_key", "k", 0)},
			ledger.All, ledger.Found{Inputs: text{}, Answers: text{}, Facts: some(), Timers: some(), Secrets: text{}, Config: text{}, Tokens: some(),
				Claimed: &no, Given: text{}, Damage: []string{"queue.log: no log"}},
			[]string{"damaged: queue.log: no log", "input a is missing", "answer a is missing", "fact Tom likes tea is missing", `timer "egg" is missing`,
				"secret llm is missing", "config memory.keep is missing", `token "t" is missing`, "the owner's account is missing", "given llm_key is missing"}},
		{"acknowledged behind the cut", []step{write(ledger.Input, "a", "hello", 5)}, 4, ledger.Found{Inputs: text{}}, nil},
		{"acknowledged at the cut", []step{write(ledger.Input, "a", "hello", 5)}, 5, ledger.Found{Inputs: text{}}, []string{"input a is missing"}},
		{"never acknowledged", []step{failed(write(ledger.Input, "a", "hello", 0))}, ledger.All, ledger.Found{Inputs: text{}}, nil},
		{"another text", []step{write(ledger.Input, "a", "hello", 1)}, ledger.All, ledger.Found{Inputs: text{"a": "hell"}}, []string{`input a is "hell", want "hello"`}},
		{"the newer value", []step{write(ledger.Secret, "llm", "s1", 1), write(ledger.Secret, "llm", "s2", 2)}, ledger.All, ledger.Found{Secrets: text{"llm": "s2"}}, nil},
		{"the older value", []step{write(ledger.Secret, "llm", "s1", 1), write(ledger.Secret, "llm", "s2", 2)}, ledger.All, ledger.Found{Secrets: text{"llm": "s1"}},
			[]string{"secret llm has another value"}},
		{"the older value before the newer was done", []step{write(ledger.Secret, "llm", "s1", 1), write(ledger.Secret, "llm", "s2", 9)}, 5,
			ledger.Found{Secrets: text{"llm": "s1"}}, nil},
		{"the newer value before it was done", []step{write(ledger.Secret, "llm", "s1", 1), write(ledger.Secret, "llm", "s2", 9)}, 5,
			ledger.Found{Secrets: text{"llm": "s2"}}, nil},
		{"a try that was never done", []step{write(ledger.Config, "a.b", "1", 1), failed(write(ledger.Config, "a.b", "2", 0))}, ledger.All,
			ledger.Found{Config: text{"a.b": "2"}}, nil},
		{"a value nobody wrote", []step{write(ledger.Config, "a.b", "1", 1), failed(write(ledger.Config, "a.b", "2", 0))}, ledger.All,
			ledger.Found{Config: text{"a.b": "3"}}, []string{`config a.b is "3", want "1" or "2"`}},
		{"cancelled", []step{write(ledger.Timer, "egg", ledger.Present, 1), write(ledger.Timer, "egg", "", 2)}, ledger.All, ledger.Found{Timers: some()}, nil},
		{"back from the dead", []step{write(ledger.Timer, "egg", ledger.Present, 1), write(ledger.Timer, "egg", "", 2)}, ledger.All, ledger.Found{Timers: some("egg")},
			[]string{`timer "egg" is there again`}},
		{"perhaps cancelled", []step{write(ledger.Timer, "egg", ledger.Present, 1), write(ledger.Timer, "egg", "", 9)}, 5, ledger.Found{Timers: some()}, nil},
		{"perhaps not cancelled", []step{write(ledger.Timer, "egg", ledger.Present, 1), write(ledger.Timer, "egg", "", 9)}, 5, ledger.Found{Timers: some("egg")}, nil},
		{"not looked at", []step{write(ledger.Input, "a", "hello", 1), write(ledger.Timer, "egg", ledger.Present, 1)}, ledger.All, ledger.Found{}, nil},
		{"unknown kind", []step{write("tune", "a", "b", 1)}, ledger.All, ledger.Found{}, []string{`a write of the kind "tune" cannot be judged`}},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := ledger.Judge(keep(t, row.steps...).Due(row.entries), row.found); !slices.Equal(got, row.want) {
				t.Errorf("got %q, want %q", got, row.want)
			}
		})
	}
}

func TestSettle(t *testing.T) {
	l := keep(t, write(ledger.Input, "a", "hello", 7))
	l.Settle(func(n uint64) uint64 { return n - 3 })
	if len(l.Due(3)) != 0 || len(l.Due(4)) != 1 {
		t.Errorf("%v, %v", l.Due(3), l.Due(4))
	}
	if l.Count() != 1 {
		t.Errorf("%d acknowledged", l.Count())
	}
}

func TestReadNamesTheLine(t *testing.T) {
	for name, text := range map[string]string{
		"no JSON":    `{"op":1,"state":"tried","write":{"kind":"input"}}` + "\nx\n",
		"no state":   `{"op":1,"state":"tried","write":{"kind":"input"}}` + "\n" + `{"op":1,"write":{"kind":"input"}}`,
		"no content": `{"op":1,"state":"tried","write":{"kind":"input"}}` + "\n" + `{"op":1,"state":"acked"}`,
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := ledger.Read(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), "line 2") {
				t.Errorf("got %v", err)
			}
		})
	}
}
