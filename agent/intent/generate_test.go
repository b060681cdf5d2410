package intent

import (
	"math/rand/v2"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"homeagent/agent/home"
)

// sample is a value of a slot as it may be said, with what must come back.
type sample struct{ said, value string }

// samples of the built-in kinds by language.
var samples = map[string]map[string][]sample{
	"en": {
		"duration":  {{"ten minutes", "600"}, {"an hour and a half", "5400"}, {"90 seconds", "90"}, {"two and a half hours", "9000"}, {"1 hour 20 minutes", "4800"}},
		"number":    {{"30", "30"}, {"forty five percent", "45"}, {"a hundred", "100"}, {"7%", "7"}},
		"clock":     {{"5 pm", "17:00"}, {"half past seven", "07:30"}, {"tomorrow at 8 am", "08:00"}, {"17:45", "17:45"}, {"noon", "12:00"}},
		"text":      {{"walk the dog", "walk the dog"}, {"milk", "milk"}},
		"task":      {{"walk the dog", "walk the dog"}, {"water plants", "water plants"}},
		"thing":     {{"spare key", "spare key"}, {"passport", "passport"}, {"blue bicycle", "blue bicycle"}},
		"clause":    {{"Tom owes Anna money", "Tom owes Anna money"}},
		"statement": {{"Tom likes green tea", "Tom likes green tea"}},
		"fact":      {{"Tom likes green tea", "Tom likes green tea"}},
		"pause":     {{",", ""}},
	},
	"zh": {
		"duration":  {{"十分钟", "600"}, {"一个半小时", "5400"}, {"90秒", "90"}, {"两分半", "150"}, {"一小时二十分钟", "4800"}},
		"number":    {{"百分之三十", "30"}, {"45", "45"}, {"八十", "80"}, {"60%", "60"}},
		"clock":     {{"下午五点", "17:00"}, {"七点半", "07:30"}, {"明天早上八点", "08:00"}, {"晚上九点二十", "21:20"}, {"15:45", "15:45"}},
		"text":      {{"喂猫", "喂猫"}},
		"task":      {{"喂猫", "喂猫"}, {"买牛奶", "买牛奶"}},
		"thing":     {{"备用钥匙", "备用钥匙"}, {"护照", "护照"}, {"蓝色自行车", "蓝色自行车"}},
		"clause":    {{"护照在抽屉里", "护照在抽屉里"}},
		"statement": {{"护照在抽屉里", "护照在抽屉里"}},
		"fact":      {{"护照在抽屉里", "护照在抽屉里"}},
		"pause":     {{"，", ""}},
	},
}

// generator makes sentences of templates.
type generator struct {
	set  *Set
	lang string
	rng  *rand.Rand
	said map[string]string // slot -> value
	ok   bool
}

func (g *generator) sentence(n node) string {
	switch n := n.(type) {
	case wordNode:
		return n.written
	case optNode:
		if g.rng.IntN(3) > 0 {
			return ""
		}
		return g.sentence(n.body)
	case altNode:
		return g.sentence(n[g.rng.IntN(len(n))])
	case seqNode:
		var parts []string
		for _, c := range n {
			if s := g.sentence(c); s != "" {
				parts = append(parts, s)
			}
		}
		if g.lang == "zh" {
			return strings.Join(parts, "")
		}
		return strings.Join(parts, " ")
	case slotNode:
		v, ok := g.value(n.name)
		g.ok = g.ok && ok
		key := n.name
		if g.set.slots[key].kind == "pause" {
			return v.said // no value, only a sign
		}
		if g.set.slots[key].devices {
			key = "device"
		}
		if old, again := g.said[key]; again {
			v.value = old + "," + v.value
		}
		g.said[key] = v.value
		return v.said
	}
	return ""
}

func (g *generator) value(name string) (sample, bool) {
	s := g.set.slots[name]
	if s.phrases == nil {
		list := samples[g.lang][s.kind]
		if len(list) == 0 {
			return sample{}, false
		}
		return list[g.rng.IntN(len(list))], true
	}
	var own []phrase
	for _, p := range s.phrases.list {
		if _, several := p.any.(which); p.lang == g.lang && !several {
			own = append(own, p)
		}
	}
	if len(own) == 0 {
		return sample{}, false
	}
	p := own[g.rng.IntN(len(own))]
	said := p.written
	if said == "" {
		said = p.folded
	}
	return sample{strings.NewReplacer("[the]", "the").Replace(said), p.value}, true
}

// sources are the templates of a file as text, which the set does not keep.
type source struct{ intent, lang, text string }

func sourcesOf(t testing.TB, file []byte) (out []source) {
	t.Helper()
	var doc struct {
		Intents []struct {
			Name      string
			Say, Also map[string][]string
		}
	}
	if err := yaml.Unmarshal(file, &doc); err != nil {
		t.Fatal(err)
	}
	for _, in := range doc.Intents {
		for _, by := range []map[string][]string{in.Say, in.Also} {
			for lang, list := range by {
				for _, text := range list {
					out = append(out, source{in.Name, lang, text})
				}
			}
		}
	}
	return out
}

// The law of the built-in file: what a template can say means its intent and
// gives its slots back.
func TestWhatATemplateSaysIsUnderstood(t *testing.T) {
	s := defaultSet(t)
	for i, src := range sourcesOf(t, Builtin()) {
		root, err := parseTemplate(src.text)
		if err != nil {
			t.Fatal(err)
		}
		g := &generator{set: s, lang: src.lang, rng: rand.New(rand.NewPCG(uint64(i), 1))}
		for range 8 {
			g.said, g.ok = map[string]string{}, true
			text := g.sentence(root)
			if !g.ok {
				t.Fatalf("no sample for a slot of %q", src.text)
			}
			m, ok := s.Parse(text, src.lang)
			if !ok || m.Intent != src.intent {
				t.Errorf("%s: %q of %q is %q (%v %s)", src.intent, text, src.text, m.Intent, ok, m.Problem)
				break
			}
			for k, v := range g.said {
				if m.Slots[k] != v && !(k == "room" || k == "lit") {
					t.Errorf("%s: %q of %q: %s is %q, want %q (all %v)", src.intent, text, src.text, k, m.Slots[k], v, m.Slots)
				}
			}
		}
	}
}

func FuzzTemplate(f *testing.F) {
	for _, seed := range []string{"turn on [the] {device}", "(a|b) [c [d]] {duration}", "把{device}打开", "what's (up|new)", "[a]", "((((", "{x", "a|b", "[a] [a] [a] [a] a"} {
		f.Add(seed)
	}
	s, err := Default(home.Default())
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		root, err := parseTemplate(text)
		if err != nil {
			return
		}
		known := true
		slotsOf(root, func(name string) { known = known && (s.slots[name].kind != "" || s.slots[name].phrases != nil) })
		if !known {
			return
		}
		w := newWords()
		prog := compile(root, w)
		g := &generator{set: s, lang: "en", rng: rand.New(rand.NewPCG(uint64(len(text)), 2))}
		for range 4 {
			g.said, g.ok = map[string]string{}, true
			sentence := g.sentence(root)
			toks, _ := tokenise(sentence)
			if !g.ok || len(toks) > maxTokens {
				continue
			}
			r := &run{prog: prog, words: w.list, toks: toks, slot: func(name string, pos int) []candidate {
				if pos >= len(toks) {
					return nil
				}
				return s.slots[name].match(toks, pos, sentence)
			}}
			if !r.match() {
				t.Fatalf("%q says %q and does not match it", text, sentence)
			}
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, row := range sentences {
		f.Add(row.text, "")
	}
	for _, text := range others {
		f.Add(text, "zh")
	}
	f.Add("turn \xff on \x00 the lamp", "en")
	f.Add(strings.Repeat("please ", 200)+"turn on the kitchen lamp", "en")
	s, err := Default(home.Default())
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text, lang string) {
		m, ok := s.Parse(text, lang)
		again, okAgain := s.Parse(text, lang)
		if ok != okAgain || m.Intent != again.Intent {
			t.Fatalf("%q is %q, then %q", text, m.Intent, again.Intent)
		}
		if ok != (m.Intent != "" && m.Problem == "") || !ok && len(m.Actions) > 0 {
			t.Fatalf("%q: %+v (%v)", text, m, ok)
		}
		for _, a := range m.Actions {
			if _, err := a.JSON(); err != nil || a.Tool == "" {
				t.Fatalf("%q: %+v: %v", text, a, err)
			}
		}
	})
}
