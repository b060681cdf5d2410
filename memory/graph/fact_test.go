package graph

import (
	"errors"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"homeagent/agent/plugin"
)

func TestJoin(t *testing.T) {
	tests := []struct{ name, s, r, o, want string }{
		{"Chinese", "钥匙", "在", "门垫下面", "钥匙在门垫下面"},
		{"English", "the key", "is under", "the mat", "the key is under the mat"},
		{"mixed", "WiFi", "密码是", "home1234", "WiFi 密码是 home1234"},
		{"no relation", "备忘", "", "买牛奶", "备忘买牛奶"},
		{"no relation, English", "note", "", "buy milk", "note buy milk"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := (Fact{Subject: tt.s, Relation: tt.r, Object: tt.o}).Text(); got != tt.want {
				t.Fatalf("%q, want %q", got, tt.want)
			}
		})
	}
}

// FuzzCleanTriple: any text is refused with a reason, or is harmless once
// cleaned, and cleaning it again changes nothing.
func FuzzCleanTriple(f *testing.F) {
	f.Add("钥匙", "在", "门垫下面")
	f.Add("a\x00b", "\u202e", "")
	f.Add("👨‍👩‍👧", "\xff\xfe", " \t\n")
	f.Add("x", strings.Repeat("y", MaxField+1), "z")
	f.Add("\u0301", "\ufeff", "'; DROP TABLE relations;--")
	f.Fuzz(func(t *testing.T, s, r, o string) {
		c, err := cleanTriple(plugin.Triple{Subject: s, Relation: r, Object: o})
		if err != nil {
			if !errors.Is(err, ErrTooLong) && !errors.Is(err, ErrEmpty) {
				t.Fatalf("error %v", err)
			}
			return
		}
		if c.Subject == "" || c.Object == "" {
			t.Fatalf("%+v says nothing", c)
		}
		for _, text := range []string{c.Subject, c.Relation, c.Object} {
			if !utf8.ValidString(text) || len(text) > MaxField || strings.ContainsFunc(text, unicode.IsControl) ||
				text != strings.TrimSpace(text) {
				t.Fatalf("cleaned to %q", text)
			}
		}
		again, err := cleanTriple(c)
		if err != nil || again != c {
			t.Fatalf("%+v, then %+v, %v", c, again, err)
		}
		for _, term := range factTerms(c.Subject, c.Relation, c.Object) {
			if term == "" {
				t.Fatal("an empty term")
			}
		}
	})
}
