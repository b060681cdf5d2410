package intent

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"homeagent/agent/control"
	"homeagent/agent/home"
)

// jsgf reads a grammar in the notation that JSGF writes: enough to check that
// it is well formed and to say sentences of it.
type jsgf struct {
	rules map[string]node
}

func readJSGF(text string) (*jsgf, error) {
	head, body, ok := strings.Cut(text, "\n")
	if head != "#JSGF V1.0;" || !ok {
		return nil, fmt.Errorf("head is %q", head)
	}
	g := &jsgf{rules: map[string]node{}}
	stmts := strings.Split(strings.TrimSpace(body), ";")
	if strings.TrimSpace(stmts[0]) != "grammar homeagent" {
		return nil, fmt.Errorf("no grammar name: %q", stmts[0])
	}
	for _, st := range stmts[1:] {
		if st = strings.TrimSpace(st); st == "" {
			continue
		}
		name, expr, ok := strings.Cut(strings.TrimPrefix(st, "public "), " = ")
		if !ok || g.rules[name] != nil {
			return nil, fmt.Errorf("rule %q is none or stands twice", st)
		}
		// With rules written as slots the notation is that of a template.
		expr = strings.NewReplacer("<", "{", ">", "}", "\n", " ").Replace(expr)
		n, err := parseTemplate("(" + expr + ")")
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		g.rules[name] = n
	}
	for name, n := range g.rules {
		var missing []string
		slotsOf(n, func(ref string) {
			if g.rules["<"+ref+">"] == nil {
				missing = append(missing, ref)
			}
		})
		if len(missing) > 0 {
			return nil, fmt.Errorf("%s refers to %v", name, missing)
		}
	}
	if g.rules["<command>"] == nil {
		return nil, fmt.Errorf("no command")
	}
	return g, nil
}

func (g *jsgf) say(rng *rand.Rand, n node) string {
	switch n := n.(type) {
	case wordNode:
		return n.written
	case slotNode:
		return g.say(rng, g.rules["<"+n.name+">"])
	case optNode:
		if rng.IntN(2) == 0 {
			return ""
		}
		return g.say(rng, n.body)
	case altNode:
		return g.say(rng, n[rng.IntN(len(n))])
	case seqNode:
		var parts []string
		for _, c := range n {
			if s := g.say(rng, c); s != "" {
				parts = append(parts, s)
			}
		}
		return strings.Join(parts, " ")
	}
	return ""
}

// The law of the grammar: what it lets through is understood, by the intents or
// as one of the words of control.
func TestWhatTheGrammarHearsIsUnderstood(t *testing.T) {
	tearoom, err := os.ReadFile("testdata/tearoom.yaml")
	if err != nil {
		t.Fatal(err)
	}
	other, err := Load(tearoom, home.Default())
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		name string
		set  *Set
	}{{"built in", defaultSet(t)}, {"tea room", other}} {
		t.Run(row.name, func(t *testing.T) {
			text := row.set.Grammar("en")
			if text != row.set.Grammar("en") {
				t.Fatal("two grammars of one set differ")
			}
			g, err := readJSGF(text)
			if err != nil {
				t.Fatalf("%v in\n%s", err, text)
			}
			rng := rand.New(rand.NewPCG(7, 7))
			for range 3000 {
				s := g.say(rng, g.rules["<command>"])
				if strings.ContainsAny(s, "0123456789{}<>%") || s != strings.ToLower(s) {
					t.Fatalf("%q is not in words", s)
				}
				m, ok := row.set.Parse(s, "en")
				if _, isControl := control.Recognise(s); !ok && !isControl {
					t.Errorf("%q is heard and not understood (%q %s)", s, m.Intent, m.Problem)
				}
			}
		})
	}
}

func TestTeaRoom(t *testing.T) {
	text, err := os.ReadFile("testdata/tearoom.yaml")
	if err != nil {
		t.Fatal(err)
	}
	s, err := Load(text, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		said string
		args map[string]any // nil: not understood
	}{
		{"pour a green tea", map[string]any{"tea": "green"}},
		{"can i get a large strong chai with milk", map[string]any{"tea": "chai", "size": "large", "strength": "strong", "with": "milk"}},
		{"I'd like an extra strong, double brew, eight ounce iced green tea with lots of brown sugar and a little bit of oat milk",
			map[string]any{"tea": "iced green", "size": "8 oz", "strength": "strong", "brew": "two", "with": "sugar,oat milk"}},
		{"make me a double brew small black tea", map[string]any{"tea": "black", "size": "small", "brew": "two"}},
		{"can i get a large", nil},
		{"i spilled a green tea", nil},
		{"can i get a green tea with pepper", nil},
	} {
		m, ok := s.Parse(row.said, "en")
		if ok != (row.args != nil) {
			t.Errorf("%q: %v %+v", row.said, ok, m)
		} else if ok {
			if d := cmp.Diff(row.args, m.Args); d != "" {
				t.Errorf("%q: %s", row.said, d)
			}
		}
	}
}

func TestPronunciation(t *testing.T) {
	h, errs := home.Parse([]byte("rooms:\n- {name: den, aliases: {en: [den]}}\ndevices:\n" +
		"- {name: a, kind: lamp, room: den, tool: t, aliases: {en: [Quibbleflux lamp, reading lamp 2], zh: [台灯]}}\n" +
		"- {name: b, tool: t, aliases: {en: [лампа]}}"))
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	s, err := Default(h)
	if err != nil {
		t.Fatal(err)
	}
	known := func(w string) bool { return w != "quibbleflux" }
	got := s.CheckPronunciation("en", known)
	if len(got) != 1 || got[0].Word != "quibbleflux" || got[0].Where != "device a" || !strings.Contains(got[0].String(), "Quibbleflux lamp") {
		t.Errorf("missing words: %v", got)
	}
	g, _ := s.JSGF("en", GrammarOptions{Known: known, Extra: []string{"Never mind!", "open sesame"}})
	for _, want := range []string{"reading lamp two", "<extra> = never mind\n  | open sesame;"} {
		if !strings.Contains(g, want) {
			t.Errorf("%q is not in the grammar", want)
		}
	}
	if strings.Contains(g, "quibbleflux") {
		t.Error("a word without pronunciation stands in the grammar")
	}
	if _, err := readJSGF(g); err != nil {
		t.Error(err)
	}
	if s.Grammar("zh") != "" {
		t.Error("there is a Chinese grammar")
	}
}

// Where Debian's dictionary is installed, the built-in sentences must be in it.
func TestBuiltInWordsHaveAPronunciation(t *testing.T) {
	f, err := os.Open("/usr/share/pocketsphinx/model/en-us/cmudict-en-us.dict")
	if err != nil {
		t.Skipf("the package pocketsphinx-en-us is not installed: %v", err)
	}
	defer f.Close()
	words := map[string]bool{}
	for sc := bufio.NewScanner(f); sc.Scan(); {
		w, _, _ := strings.Cut(sc.Text(), " ")
		words[w] = true
	}
	if len(words) < 1000 {
		t.Fatalf("a dictionary of %d words", len(words))
	}
	if got := defaultSet(t).CheckPronunciation("en", func(w string) bool { return words[w] }); len(got) > 0 {
		t.Errorf("no pronunciation: %v", got)
	}
}

func TestGrammarStaysSmall(t *testing.T) {
	h := &home.Home{}
	for i := range 60 {
		room := fmt.Sprintf("room_%c%c", 'a'+i/26, 'a'+i%26)
		h.Rooms = append(h.Rooms, home.Room{Name: room})
		for j := range 5 {
			h.Devices = append(h.Devices, home.Device{Name: fmt.Sprintf("%s_lamp_%c", room, 'a'+j), Kind: "lamp", Room: room, Tool: "t"})
		}
	}
	s, err := Default(h)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(s.Grammar("en")); n > 200_000 {
		t.Errorf("the grammar of 300 devices has %d bytes", n)
	}
	if m, ok := s.Parse("turn on the room ab lamp c", "en"); !ok || m.Slots["device"] != "room_ab_lamp_c" {
		t.Errorf("%+v", m)
	}
}
