package intent

import (
	"errors"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"homeagent/agent/home"
)

func TestLoadNamesLineAndIntent(t *testing.T) {
	say := "  say: {en: [go home]}\n"
	for _, row := range []struct {
		name, text string
		line       int
		intent     string
		want       string
	}{
		{"not yaml", "intents: [", 0, "", "not valid YAML"},
		{"a list", "- a", 1, "", "must be a list of `key: value`"},
		{"unknown key", "intent: []", 1, "", `unknown key "intent"`},
		{"unknown key of an intent", "intents:\n- name: a\n  says: {}\n" + say, 3, "", `unknown key "says"`},
		{"key twice", "intents: []\nintents: []", 2, "", "stands twice"},
		{"no name", "intents:\n- tool: x\n" + say, 2, "", "needs a name"},
		{"name twice", "intents:\n- name: a\n" + say + "- name: a\n" + say, 4, "a", "two intents"},
		{"odd tool", "intents:\n- name: a\n  tool: X y\n" + say, 3, "a", "tool must be"},
		{"no sentence", "intents:\n- name: a\n", 2, "a", "say is missing"},
		{"other language", "intents:\n- name: a\n  say: {de: [los]}", 3, "a", `unknown key "de"`},
		{"sentences are text", "intents:\n- name: a\n  say: {en: go}", 3, "a", "must be a list"},
		{"a sentence is a list", "intents:\n- name: a\n  say:\n    en:\n    - [go]", 5, "a", "quotation marks"},
		{"unknown slot", "intents:\n- name: a\n  say:\n    en:\n    - go {place}", 5, "a", "{place} is no slot"},
		{"device without slot", "intents:\n- name: a\n  tool: device\n" + say, 2, "a", "no sentence has the slot {device}"},
		{"argument without slot", "intents:\n- name: a\n  args: {x: '{number}'}\n" + say, 2, "a", "an argument takes {number}"},
		{"argument that is no JSON", "intents:\n- name: a\n  args: {x: .nan}\n" + say, 3, "a", "args"},
		{"group open", "intents:\n- name: a\n  say: {en: ['go (a|b']}", 3, "a", `")" is missing`},
		{"slot of an unknown kind", "slots:\n  x: colour", 2, "", "unknown kind"},
		{"slot that is built in", "slots:\n  device: text", 2, "", "built in"},
		{"slot with an odd name", "slots:\n  X-y: text", 2, "", "needs a name"},
		{"value missing", "slots:\n  x:\n    en:\n    - words: [a]", 4, "", "value is missing"},
		{"value without a word", "slots:\n  x:\n    en:\n    - {value: '!!'}", 4, "", "is no word"},
		{"aside with a fault", "asides:\n  en:\n  - 'a )'", 3, "", "closes or divides nothing"},
	} {
		t.Run(row.name, func(t *testing.T) {
			s, err := Load([]byte(row.text), nil)
			var e *Error
			if s != nil || !errors.As(err, &e) {
				t.Fatalf("got %v, %v", s, err)
			}
			if row.line != 0 && e.Line != row.line || e.Intent != row.intent || !strings.Contains(err.Error(), row.want) {
				t.Errorf("line %d, intent %q: %v", e.Line, e.Intent, err)
			}
			if zh := e.Text("zh"); !strings.ContainsFunc(zh, func(r rune) bool { return unicode.Is(unicode.Han, r) }) || strings.Contains(zh, "%!") || strings.Contains(e.Error(), "%!") {
				t.Errorf("in Chinese it says %q", zh)
			}
		})
	}
}

func TestTemplateFaults(t *testing.T) {
	for _, row := range []struct{ text, want string }{
		{"", "nothing stands"}, {"[a]", "can be empty"}, {"(a|)", "nothing stands"}, {"a | b", "closes or divides nothing"}, {"a]", "closes or divides"}, {"{", "is missing"},
		{"{Big}", "is no slot"}, {"a }", "closes nothing"}, {"()", "nothing stands"}, {"!!", "is no word"}, {"\"a\"", "is no word"}, {strings.Repeat("(", 20) + "a", "more than"},
		{strings.Repeat("a ", 400), "longer than"},
	} {
		if n, err := parseTemplate(row.text); err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%q gives %v, %v, want %q", row.text, n, err, row.want)
		}
	}
}

func TestEmptyFileUnderstandsNothing(t *testing.T) {
	for _, text := range []string{"", "# nothing", "intents:", "intents: []"} {
		s, err := Load([]byte(text), home.Default())
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if m, ok := s.Parse("turn on the living room lamp", "en"); ok || m.Intent != "" || s.Grammar("en") != "" {
			t.Errorf("%q understands %+v", text, m)
		}
	}
}

func TestArguments(t *testing.T) {
	s, err := Load([]byte(`
slots:
  who: {en: [{value: Ann, words: [ann]}, {value: Bob, words: [bob]}]}
intents:
  - name: give
    tool: give_it
    args: {to: "{who}", note: "for {who} at {number|5}", deep: {list: ["{number}", fixed, 3]}, step: "-{number|10}", on: true}
    say: {en: ["give [{number} to] {who} [and {who}]"]}
`), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		text string
		args map[string]any
	}{
		{"give bob", map[string]any{"to": "Bob", "note": "for Bob at 5", "deep": map[string]any{"list": []any{"fixed", 3}}, "step": -10, "on": true}},
		{"give 7 to ann and bob", map[string]any{"to": "Ann,Bob", "note": "for Ann,Bob at 7", "deep": map[string]any{"list": []any{7, "fixed", 3}}, "step": -7, "on": true}},
	} {
		m, ok := s.Parse(row.text, "en")
		if !ok || m.Tool != "give_it" || len(m.Actions) != 1 {
			t.Fatalf("%q: %+v", row.text, m)
		}
		if d := cmp.Diff(row.args, m.Args); d != "" {
			t.Errorf("%q: %s", row.text, d)
		}
	}
}

func TestDeviceArguments(t *testing.T) {
	h, errs := home.Parse([]byte("rooms:\n- {name: den, aliases: {en: den, zh: 书房}}\ndevices:\n" +
		"- {name: a, kind: lamp, room: den, tool: gpio_set, args: {pin: 17}, aliases: {en: desk lamp, zh: 台灯}}\n" +
		"- {name: b, kind: lamp, room: den, tool: virtual_set, args: {name: b, state: weird}, aliases: {en: floor lamp, zh: 落地灯}}\n" +
		"- {name: c, kind: fan, room: den, tool: ha_call, aliases: {en: big fan, zh: 大风扇}}\n" +
		"- {name: d, kind: sensor, room: den, tool: ha_read, aliases: {en: thermometer}}"))
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	s, err := Default(h)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		text    string
		actions []Action
		problem Problem
	}{
		{"turn on the desk lamp", []Action{{"gpio_set", map[string]any{"pin": "17", "state": "on"}, "a"}}, ""},
		{"打开书房的灯", []Action{{"gpio_set", map[string]any{"pin": "17", "state": "on"}, "a"}, {"virtual_set", map[string]any{"name": "b", "state": "on"}, "b"}}, ""},
		{"turn off the lamp in the den", nil, WhichDevice},
		{"turn off the lamps in the den", []Action{{"gpio_set", map[string]any{"pin": "17", "state": "off"}, "a"}, {"virtual_set", map[string]any{"name": "b", "state": "off"}, "b"}}, ""},
		{"switch the fan on", []Action{{"ha_call", map[string]any{"state": "on"}, "c"}}, ""},
		{"关掉风扇", []Action{{"ha_call", map[string]any{"state": "off"}, "c"}}, ""},
		{"turn the desk lamp, the floor lamp and the fan off", []Action{{"gpio_set", map[string]any{"pin": "17", "state": "off"}, "a"}, {"virtual_set", map[string]any{"name": "b", "state": "off"}, "b"}, {"ha_call", map[string]any{"state": "off"}, "c"}}, ""},
		{"turn on the kitchen lamp", nil, NoDevice},
	} {
		m, ok := s.Parse(row.text, "")
		if m.Problem != row.problem || ok != (row.problem == "") {
			t.Errorf("%q: problem %q (%v)", row.text, m.Problem, ok)
		}
		if d := cmp.Diff(row.actions, m.Actions); d != "" {
			t.Errorf("%q: %s", row.text, d)
		}
	}
	m, _ := s.Parse("turn on the kitchen lamp", "en")
	if m.Unknown != "kitchen lamp" {
		t.Errorf("unknown device %q", m.Unknown)
	}
	if m, _ = s.Parse("turn on the lamp", "en"); len(m.Choices) != 2 {
		t.Errorf("choices %v", m.Choices)
	}
}

func TestNames(t *testing.T) {
	s := defaultSet(t).WithNames("Jarvis", "小智", "blue moon")
	for _, row := range []struct {
		text string
		ok   bool
	}{
		{"Jarvis, turn on the kitchen lamp", true}, {"hey jarvis turn on the kitchen lamp", true}, {"turn on the kitchen lamp, jarvis", true},
		{"blue moon turn on the kitchen lamp", true}, {"小智，打开客厅灯", true}, {"小智打开客厅灯", true},
		{"Anna, turn on the kitchen lamp", false}, {"小明，打开客厅灯", false}, {"mom jarvis turn on the kitchen lamp", false},
	} {
		if m, ok := s.Parse(row.text, ""); ok != row.ok {
			t.Errorf("%q: %v %+v", row.text, ok, m)
		}
	}
	if _, ok := defaultSet(t).Parse("blue moon turn on the kitchen lamp", ""); ok {
		t.Error("WithNames changed the set it was called on")
	}
}
