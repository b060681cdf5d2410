package knowledge

import (
	"slices"
	"strings"
	"testing"
)

func TestChunks(t *testing.T) {
	long := strings.Repeat("一二三四五六七八九。", 30) // 900 bytes
	tests := []struct {
		name, text string
		want       []chunk
	}{
		{"nothing", " \n\n", nil},
		{"no heading", "one\n\ntwo\n", []chunk{{"", "one\n\ntwo"}}},
		{"headings", "intro\n# A\na\n## B ##\nb\n# C\nc", []chunk{{"", "intro"}, {"A", "a"}, {"A › B", "b"}, {"C", "c"}}},
		{"a level left out", "# A\n### B\nb\n## C\nc", []chunk{{"A › B", "b"}, {"A › C", "c"}}},
		{"heading with nothing below", "# A\n## B\n## C\nc\n# D", []chunk{{"A", "B"}, {"A › C", "c"}, {"", "D"}}},
		{"underlined", "Title\n===\na\n\nPart\n---\nb", []chunk{{"Title", "a"}, {"Title › Part", "b"}}},
		{"a rule is none", "a\n\n---\n\nb", []chunk{{"", "a\n\n---\n\nb"}}},
		{"a list is none", "a\nb\n---\nc", []chunk{{"", "a\nb\n---\nc"}}},
		{"no blank behind the sign", "#tag\nx", []chunk{{"", "#tag\nx"}}},
		{"inside code", "# A\n```sh\n# not a heading\n```\n# B\nb", []chunk{{"A", "```sh\n# not a heading\n```"}, {"B", "b"}}},
		{"other fence inside code", "```\n~~~\n# x\n```\n# B\nb", []chunk{{"", "```\n~~~\n# x\n```"}, {"B", "b"}}},
		{"carriage returns", "# A\r\n\r\na\r\n", []chunk{{"A", "a"}}},
		{"long sections", "# A\n" + long + "\n\n" + long, []chunk{{"A", long}, {"A", long}}},
		{"a heading of nothing", "#\na", []chunk{{"", "a"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := chunks(tt.text); !slices.Equal(got, tt.want) {
				t.Fatalf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

// FuzzChunks: texts are parts of what was given, in order and bounded, and no
// path has a line's end.
func FuzzChunks(f *testing.F) {
	f.Add("# A\n\na\n\n## B\nb\n```\n# c\n```\nT\n===\nx")
	f.Add("#\n######\n####### x\n---\n")
	f.Fuzz(func(t *testing.T, text string) {
		rest := strings.ReplaceAll(text, "\r\n", "\n")
		for _, c := range chunks(text) {
			if c.text == "" || len(c.text) > chunkSize || strings.Contains(c.path, "\n") {
				t.Fatalf("chunk %q under %q", c.text, c.path)
			}
			i := strings.Index(rest, c.text)
			if i < 0 {
				t.Fatalf("%q is not in %q", c.text, rest)
			}
			rest = rest[i+len(c.text):]
		}
	})
}

// FuzzCheckContent: what passes is what was given, less the mark at its start.
func FuzzCheckContent(f *testing.F) {
	f.Add([]byte("\ufeffx"))
	f.Add([]byte{0, 0xff})
	f.Fuzz(func(t *testing.T, data []byte) {
		text, err := checkContent(data)
		if err == nil && text != strings.TrimPrefix(string(data), "\ufeff") {
			t.Fatalf("got %q", text)
		}
	})
}
