package mind

import (
	"slices"
	"strings"
)

// maxText bounds the text of an answer, in bytes.
const maxText = 1 << 20

// clean makes text of others fit to be kept: valid UTF-8 without NUL, bounded.
func clean(s string) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "")
	if len(s) > maxText {
		s = strings.ToValidUTF8(s[:maxText], "")
	}
	return s
}

// sameText reports whether two texts say the same but for white space.
func sameText(a, b string) bool {
	return strings.Join(strings.Fields(a), " ") == strings.Join(strings.Fields(b), " ")
}

// short cuts a text to n characters.
func short(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n]) + "…"
}

func unique(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}
