package cut_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"homeagent/memory/document/cut"
)

func TestPieces(t *testing.T) {
	tests := []struct {
		name, text string
		size       int
		want       []string
	}{
		{"nothing", "", 16, nil},
		{"white space only", " \n\n\t ", 16, nil},
		{"short", " one line ", 16, []string{"one line"}},
		{"paragraphs", "aaaa aaaa aaaa\n\nbbbb bbbb", 20, []string{"aaaa aaaa aaaa", "bbbb bbbb"}},
		{"short paragraphs share a piece", "a\n\nb\n\nc", 16, []string{"a\n\nb\n\nc"}},
		{"lines", "aaaa aaaa aaaa\nbbbb bbbb", 20, []string{"aaaa aaaa aaaa", "bbbb bbbb"}},
		{"Chinese sentences", "钥匙在门垫。车在院子里。", 24, []string{"钥匙在门垫。", "车在院子里。"}},
		{"English sentences", "The key is 3.5 m up. It hangs.", 24, []string{"The key is 3.5 m up.", "It hangs."}},
		{"blanks", "aaaaaaaa bbbbbbbb", 16, []string{"aaaaaaaa", "bbbbbbbb"}},
		{"no place at all", strings.Repeat("a", 20), 16, []string{strings.Repeat("a", 16), "aaaa"}},
		{"not inside a sign", strings.Repeat("钥", 6), 16, []string{strings.Repeat("钥", 5), "钥"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := cut.Pieces(tt.text, tt.size); !slices.Equal(got, tt.want) {
				t.Fatalf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// FuzzPieces: parts are bounded and not empty, stand in the text in order, and
// only white space is missing.
func FuzzPieces(f *testing.F) {
	f.Add("钥匙在门垫下面。\n\nThe car. \xff\xfe x", 16)
	f.Add("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80", 16)
	f.Fuzz(func(t *testing.T, text string, size int) {
		if size > 1<<20 {
			size = 1 << 20
		}
		rest := text
		for _, p := range cut.Pieces(text, size) {
			if p == "" || len(p) > max(size, 16) {
				t.Fatalf("a piece of %d bytes", len(p))
			}
			if utf8.ValidString(text) && !utf8.ValidString(p) {
				t.Fatalf("a sign was cut: %q", p)
			}
			i := strings.Index(rest, p)
			if i < 0 || strings.TrimSpace(rest[:i]) != "" {
				t.Fatalf("lost %q before %q", rest, p)
			}
			rest = rest[i+len(p):]
		}
		if strings.TrimSpace(rest) != "" {
			t.Fatalf("lost %q", rest)
		}
	})
}
