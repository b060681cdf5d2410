package note

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

func TestParse(t *testing.T) {
	many := ""
	for i := range MaxNotes + 5 {
		many += fmt.Sprintf("{\"zh\":\"第 %d 条\"}\n", i)
	}
	tests := []struct {
		name, in string
		want     []Note
		skipped  int
	}{
		{"empty", "", nil, 0},
		{"one", `{"zh":"时钟不准","en":"the clock is wrong","say":true}` + "\n", []Note{{"时钟不准", "the clock is wrong", true}}, 0},
		{"no line break at the end", `{"en":"a"}`, []Note{{EN: "a"}}, 0},
		{"blank lines", "\n\r\n  \n{\"zh\":\"a\"}\r\n\n", []Note{{ZH: "a"}}, 0},
		{"garbage between", "\x00\xff\n{\"zh\":\"a\"}\n[1]\n{\n\"x\"\n{\"zh\":3}\n{\"en\":\"b\"}\n", []Note{{ZH: "a"}, {EN: "b"}}, 5},
		{"says nothing", `{"say":true}` + "\n" + `{"zh":"  "}`, nil, 2},
		{"control characters", `{"zh":"a\u001b[31m\nb"}`, []Note{{ZH: "a [31m b"}}, 0},
		{"twice", "{\"zh\":\"a\"}\n{\"zh\":\"a\"}\n", []Note{{ZH: "a"}}, 0},
		{"unknown fields", `{"zh":"a","later":[1,2]}`, []Note{{ZH: "a"}}, 0},
		{"too long", `{"zh":"` + strings.Repeat("长", MaxLine) + "\"}\n{\"zh\":\"b\"}\n", []Note{{ZH: "b"}}, 1},
		{"cut off", "{\"zh\":\"a\"}\n{\"zh\":\"b", []Note{{ZH: "a"}}, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, skipped, err := Parse(strings.NewReader(tt.in))
			if err != nil || skipped != tt.skipped || !slices.Equal(got, tt.want) {
				t.Errorf("got %v, %d skipped, %v", got, skipped, err)
			}
		})
	}
	t.Run("too many", func(t *testing.T) {
		got, skipped, err := Parse(strings.NewReader(many))
		if err != nil || len(got) != MaxNotes || skipped != 5 {
			t.Errorf("%d notes, %d skipped, %v", len(got), skipped, err)
		}
	})
}

func TestIn(t *testing.T) {
	tests := []struct {
		n      Note
		zh, en string
	}{
		{Note{ZH: "甲", EN: "a"}, "甲", "a"},
		{Note{ZH: "甲"}, "甲", "甲"},
		{Note{EN: "a"}, "a", "a"},
	}
	for _, tt := range tests {
		if zh, en := tt.n.In("zh"), tt.n.In("en"); zh != tt.zh || en != tt.en {
			t.Errorf("%+v: %q, %q", tt.n, zh, en)
		}
	}
}

func TestAddAndRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notes.jsonl")
	if got, _, err := Read(path); err != nil || got != nil {
		t.Fatalf("no file: %v, %v", got, err)
	}
	a, b := Note{ZH: "甲\n乙", EN: "a", Say: true}, Note{EN: "b"}
	for _, n := range []Note{a, b, a} {
		if err := Add(path, n); err != nil {
			t.Fatal(err)
		}
	}
	want := []Note{{ZH: "甲 乙", EN: "a", Say: true}, b}
	if got, skipped, err := Read(path); err != nil || skipped != 0 || !slices.Equal(got, want) {
		t.Errorf("got %v, %d skipped, %v", got, skipped, err)
	}
	for name, n := range map[string]Note{"empty": {Say: true}, "too long": {EN: strings.Repeat("x", MaxLine)}} {
		if err := Add(path, n); err == nil {
			t.Errorf("%s: was added", name)
		}
	}
}

// A link or a pipe in the file's place is neither followed nor waited for.
func TestWhatIsNoFile(t *testing.T) {
	for name, put := range map[string]func(path string) error{
		"pipe":   func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"folder": func(path string) error { return os.Mkdir(path, 0o700) },
		"link":   func(path string) error { return os.Symlink("/etc/hostname", path) },
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "notes.jsonl")
			if err := put(path); err != nil {
				t.Fatal(err)
			}
			if _, _, err := Read(path); err == nil {
				t.Error("it was read")
			}
			if err := Add(path, Note{EN: "a"}); err == nil {
				t.Error("it was written")
			}
		})
	}
}

// What was parsed is within its bounds and comes back unchanged.
func FuzzParse(f *testing.F) {
	f.Add("{\"zh\":\"时钟不准\",\"en\":\"the clock is wrong\",\"say\":true}\n")
	f.Add("{\"zh\":\"a\\u001b[0m\"}\n\x00\xff\n{\n")
	f.Add(strings.Repeat("{\"en\":\"x\"}", 600))
	f.Fuzz(func(t *testing.T, in string) {
		notes, skipped, err := Parse(strings.NewReader(in))
		if err != nil || len(notes) > MaxNotes || skipped < 0 {
			t.Fatalf("%d notes, %d skipped, %v", len(notes), skipped, err)
		}
		var out strings.Builder
		enc := json.NewEncoder(&out)
		enc.SetEscapeHTML(false) // the escapes would be longer than what was read
		for _, n := range notes {
			if n.ZH == "" && n.EN == "" || strings.ContainsAny(n.ZH+n.EN, "\n\r\x1b\x00") {
				t.Fatalf("note %v", n)
			}
			if err := enc.Encode(n); err != nil {
				t.Fatal(err)
			}
		}
		for line := range strings.Lines(out.String()) {
			if len(line) > MaxLine { // a field that was left out may make it longer
				return
			}
		}
		again, skipped, err := Parse(strings.NewReader(out.String()))
		if err != nil || skipped != 0 || !slices.Equal(again, notes) {
			t.Fatalf("%v came back as %v, %d skipped, %v", notes, again, skipped, err)
		}
	})
}
