package plugin

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"
)

type service struct {
	BaseURL string `yaml:"base_url"`
	Port    int    `yaml:"port"`
}

type section struct {
	Microphone string             `yaml:"microphone"`
	Wait       time.Duration      `yaml:"wait"`
	On         *bool              `yaml:"on"`
	Service    *service           `yaml:"service"`
	List       []service          `yaml:"list"`
	ByName     map[string]service `yaml:"by_name"`
	Plain      string
	hidden     string
	Left       string `yaml:"-"`
}

func TestDecodeSection(t *testing.T) {
	on := true
	for _, row := range []struct {
		name, text string
		want       section
		errs       []string // every one of them, in order
	}{
		{"nothing", "", section{}, nil},
		{"null", "voice:\n", section{}, nil},
		{"everything", "voice:\n  microphone: usb\n  wait: 5s\n  on: true\n  service: {base_url: a, port: 1}\n  list: [{port: 2}]\n  by_name: {x: {port: 3}}\n  plain: p\n",
			section{Microphone: "usb", Wait: 5 * time.Second, On: &on, Service: &service{"a", 1}, List: []service{{Port: 2}}, ByName: map[string]service{"x": {Port: 3}}, Plain: "p"}, nil},
		{"a mistyped key", "# a comment\n\nvoice:\n  microfone: usb\n", section{}, []string{`voice: line 4: unknown key "microfone"; did you mean "microphone"?`}},
		{"a key like no other", "voice: {colour: red}\n", section{}, []string{`voice: line 1: unknown key "colour"`}},
		{"keys that are not for people", "voice:\n  hidden: x\n  left: y\n", section{}, []string{`line 2: unknown key "hidden"`, `line 3: unknown key "left"`}},
		{"deep inside", "voice:\n  service: {prt: 1}\n  list:\n    - {port: 1}\n    - {pork: 1}\n  by_name:\n    x: {post: 1}\n", section{},
			[]string{`line 2: unknown key "prt"; did you mean "port"?`, `line 5: unknown key "pork"; did you mean "port"?`, `line 7: unknown key "post"; did you mean "port"?`}},
		{"values of the wrong form", "voice:\n  wait: soon\n  on: perhaps\n  microphone: [a]\n  service: {port: many}\n  list: {}\n", section{},
			[]string{"line 2: soon stands where a time such as 500ms or 5s belongs", "line 3: perhaps stands where true or false belongs",
				"line 4: a list stands where a text belongs", "line 5: many stands where a whole number belongs", "line 6: a mapping stands where a list belongs"}},
		{"both", "voice:\n  microfone: usb\n  wait: soon\n", section{}, []string{`line 2: unknown key "microfone"`, "line 3: soon stands"}},
		{"a word instead of a mapping", "voice: loud\n", section{}, []string{"line 1: loud stands where"}},
		{"anchors", "base: &b {base_url: a}\nvoice: {service: *b}\n", section{Service: &service{BaseURL: "a"}}, nil},
		{"a key with a line break", "voice: {\"a\\nb\": 1}\n", section{}, []string{`unknown key "a\nb"`}},
	} {
		t.Run(row.name, func(t *testing.T) {
			var file struct {
				Base  yaml.Node `yaml:"base"`
				Voice yaml.Node `yaml:"voice"`
			}
			if err := yaml.Unmarshal([]byte(row.text), &file); err != nil {
				t.Fatal(err)
			}
			var got section
			err := DecodeSection("voice", &file.Voice, &got)
			if len(row.errs) == 0 {
				if err != nil || !reflect.DeepEqual(got, row.want) {
					t.Errorf("%+v, %v", got, err)
				}
				return
			}
			if err == nil {
				t.Fatalf("taken as %+v", got)
			}
			lines := strings.Split(err.Error(), "\n")
			if len(lines) != len(row.errs) {
				t.Fatalf("%d complaints, want %d: %v", len(lines), len(row.errs), err)
			}
			for i, want := range row.errs {
				if !strings.Contains(lines[i], want) || !strings.HasPrefix(lines[i], "voice: ") {
					t.Errorf("complaint %q, want %q", lines[i], want)
				}
				if strings.Contains(lines[i], "plugin.") || strings.Contains(lines[i], "yaml:") {
					t.Errorf("%q speaks of the program", lines[i])
				}
			}
		})
	}
	if err := DecodeSection("voice", nil, &section{}); err != nil {
		t.Error(err)
	}
	_ = section{}.hidden // is read by nobody, as the row above wants it
}
