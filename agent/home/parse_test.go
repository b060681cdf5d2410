package home

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

func TestParseTellsWhatIsWrong(t *testing.T) {
	for _, tc := range []struct {
		name, yaml string
		line       int
		en, zh     string
	}{
		{"not yaml", "rooms: [", 0, "not valid YAML", "不是有效的 YAML"},
		{"a list at the top", "- a", 1, "must be a list of `key: value`", "键: 值"},
		{"unknown key at the top", "rooms: []\nlamps: []", 2, `unknown key "lamps"`, `不认识的键 "lamps"`},
		{"unknown key in a room", "rooms:\n- name: den\n  alias: x", 3, `unknown key "alias" in room`, "不认识的键"},
		{"unknown key in a device", "devices:\n- name: a\n  tool: t\n  colour: red", 4, `unknown key "colour" in device`, "不认识的键"},
		{"key twice", "rooms: []\nrooms: []", 2, `"rooms" stands twice`, "写了两次"},
		{"rooms is text", "rooms: den", 1, "must be a list whose items begin", "应当是列表"},
		{"room name missing", "rooms:\n- aliases: {en: [den]}", 2, "must begin with a small letter", "小写字母开头"},
		{"room name in capitals", "rooms:\n- name: Den", 2, `"Den"`, "小写字母开头"},
		{"room name twice", "rooms:\n- name: den\n- name: den", 3, "two rooms are named", `有两个 room 叫 "den"`},
		{"device name twice", "devices:\n- {name: a, tool: t}\n- {name: a, tool: t}", 3, "two devices are named", "有两个 device"},
		{"unknown room", "rooms:\n- name: den\ndevices:\n- name: a\n  tool: t\n  room: attic", 6, `"attic", which does not exist; add it to rooms or use one of: den`, "不存在"},
		{"no tool", "devices:\n- name: a", 2, "needs a tool", "缺少 tool"},
		{"odd kind", "devices:\n- {name: a, tool: t, kind: '{{'}", 2, "which is no word", "kind"},
		{"alias of two devices", "devices:\n- {name: a, tool: t, aliases: {en: [Big Lamp]}}\n- {name: b, tool: t, aliases: {en: [big-lamp]}}", 3, "belongs to both device a and device b", "分不清"},
		{"alias of room and device", "rooms:\n- {name: den, aliases: {zh: [书房]}}\ndevices:\n- {name: a, tool: t, aliases: {zh: [书房]}}", 4, "both room den and device a", "分不清"},
		{"alias of signs only", "rooms:\n- {name: den, aliases: {en: ['!!']}}", 2, "it needs letters", "要有字"},
		{"alias too long", "rooms:\n- {name: den, aliases: {en: [" + strings.Repeat("x", 61) + "]}}", 2, "at most 60", "不超过 60"},
		{"alias in an unknown language", "rooms:\n- {name: den, aliases: {de: [Bude]}}", 2, `unknown key "de"`, "不认识的键"},
		{"args nested", "devices:\n- {name: a, tool: t, args: {x: {y: z}}}", 2, "args.x must be text", "应当是文字"},
		{"recursive alias node", "rooms: &a [*a]", 0, "", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			h, errs := Parse([]byte(tc.yaml))
			if len(errs) == 0 || h != nil {
				t.Fatalf("accepted as %+v", h)
			}
			var p *Problem
			if !errors.As(errs[0], &p) {
				t.Fatalf("%T is no *Problem", errs[0])
			}
			if tc.line != 0 && p.Line != tc.line {
				t.Errorf("line %d, want %d: %v", p.Line, tc.line, p)
			}
			if !strings.Contains(p.Error(), tc.en) || !strings.Contains(p.Text("zh"), tc.zh) {
				t.Errorf("got %q and %q, want %q and %q", p.Error(), p.Text("zh"), tc.en, tc.zh)
			}
		})
	}
}

func TestParseReads(t *testing.T) {
	text, err := os.ReadFile("testdata/home.yaml")
	if err != nil {
		t.Fatal(err)
	}
	h, errs := Parse(text)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	want := &Home{
		Rooms: []Room{{Name: "study", Aliases: Names{"zh": {"书房"}, "en": {"study", "office"}}}},
		Devices: []Device{{
			Name: "desk_lamp", Kind: "lamp", Room: "study", Aliases: Names{"zh": {"台灯"}, "en": {"desk lamp"}},
			Tool: "gpio_set", Args: map[string]string{"pin": "17"},
		}, {Name: "fan", Tool: "virtual_set"}},
	}
	if d := cmp.Diff(want, h); d != "" {
		t.Error(d)
	}
	if got := h.Devices[1].Called("zh"); got != "fan" {
		t.Errorf("a device without names is called %q", got)
	}
}

func TestParseEmptyIsEmpty(t *testing.T) {
	for _, text := range []string{"", "# nothing\n", "null", "rooms:\ndevices:\n"} {
		if h, errs := Parse([]byte(text)); len(errs) > 0 || len(h.Rooms)+len(h.Devices) > 0 {
			t.Errorf("%q gave %+v, %v", text, h, errs)
		}
	}
	if h, errs := ParseNode(nil); len(errs) > 0 || h == nil {
		t.Errorf("nil node gave %v, %v", h, errs)
	}
}

// What Default says must be what a person could have written into the file.
func TestDefaultPassesItsOwnChecks(t *testing.T) {
	text, err := yaml.Marshal(Default())
	if err != nil {
		t.Fatal(err)
	}
	h, errs := Parse(text)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	if d := cmp.Diff(Default(), h); d != "" {
		t.Error(d)
	}
	d, ok := h.Device("living_room_lamp")
	if !ok || d.Called("zh") != "客厅灯" || d.Called("en") != "living room lamp" {
		t.Errorf("living room lamp is %+v", d)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("rooms:\n- {name: den, aliases: {en: den}}\ndevices:\n- {name: a, tool: t, room: den}"))
	f.Add([]byte("rooms: &a\n- *a"))
	f.Add([]byte("? {a: b}\n: c"))
	f.Fuzz(func(t *testing.T, text []byte) {
		h, errs := Parse(text)
		if (h == nil) != (len(errs) > 0) {
			t.Fatalf("home %v with errors %v", h, errs)
		}
		for _, e := range errs {
			var p *Problem
			if !errors.As(e, &p) || p.Text("zh") == p.Text("en") {
				t.Fatalf("error %v is not told in two languages", e)
			}
		}
		if h == nil {
			return
		}
		seen := map[string]bool{}
		for _, d := range h.Devices {
			if seen[d.Name] {
				t.Fatalf("two devices %q", d.Name)
			}
			seen[d.Name] = true
			if _, ok := h.Room(d.Room); d.Room != "" && !ok {
				t.Fatalf("device in unknown room %q", d.Room)
			}
		}
	})
}
