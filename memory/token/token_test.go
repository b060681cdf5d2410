package token_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"homeagent/memory/token"
)

func TestTerms(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string
	}{
		{"nothing", "", nil},
		{"only grammar", "what is the", nil},
		{"English, case and punctuation", "The KEY, under-the mat!", []string{"key", "under", "mat"}},
		{"apostrophes", "what's Bob’s code? don't", []string{"bob", "code"}},
		{"numbers", "call 555-0199 at 12:30", []string{"call", "555", "0199", "12", "30"}},
		{"Han: signs and pairs", "门垫下", []string{"门", "门垫", "垫", "垫下", "下"}},
		{"Han: a pair of grammar is dropped", "钥匙在哪", []string{"钥", "钥匙", "匙", "匙在"}},
		{"Han beside Latin", "WiFi密码abc", []string{"wifi", "密", "密码", "码", "abc"}},
		{"full width", "ＡＢＣ１", []string{"abc1"}},
		{"accents", "Café CAFÉ café", []string{"cafe", "cafe", "cafe"}},
		{"Cyrillic", "Ключ ПОД", []string{"ключ", "под"}},
		{"kana", "カギ", []string{"カ", "カギ", "ギ"}},
		{"emoji", "🐶dog👨‍👩‍👧", []string{"🐶", "dog", "👨", "👩", "👧"}},
		{"NUL and direction marks", "a\x00key\u202e\u200fmat", []string{"key", "mat"}},
		{"invalid UTF-8", "key\xff\xfemat", []string{"key", "mat"}},
		{"SQL", `'; DROP TABLE x;-- "y" NEAR(z)`, []string{"drop", "tabl", "x", "y", "near", "z"}},
		{"a very long word", strings.Repeat("a", 1000), []string{strings.Repeat("a", 48)}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := token.Terms(tt.text); !slices.Equal(got, tt.want) {
				t.Fatalf("Terms(%q) = %q, want %q", tt.text, got, tt.want)
			}
		})
	}
}

// TestFormsOfAWordMeet: what a person would call the same word is one term.
func TestFormsOfAWordMeet(t *testing.T) {
	for _, forms := range []string{
		"key keys", "battery batteries", "box boxes", "dish dishes", "glass glasses",
		"buy bought buys", "child children", "park parks parked parking", "live lives lived living", "run running runs", "stop stopped stopping",
		"like likes liked", "bus buses", "quick quickly", "code codes", "bake bakes baked baking", "call called calls calling",
	} {
		t.Run(forms, func(t *testing.T) {
			got := token.Set(forms, 10)
			if len(got) != 1 {
				t.Fatalf("%q", got)
			}
		})
	}
	for _, pair := range []string{"red ring", "king kin", "sing sin", "bed bee", "this thing", "feed fee"} {
		t.Run("apart: "+pair, func(t *testing.T) {
			if got := token.Terms(pair); len(slices.Compact(slices.Clone(got))) < 2 && len(got) > 1 {
				t.Fatalf("%q", got)
			}
		})
	}
}

func TestSetAndFold(t *testing.T) {
	if got := token.Set("key mat key door", 2); !slices.Equal(got, []string{"key", "mat"}) {
		t.Fatalf("Set = %q", got)
	}
	tests := []struct{ name, in, want string }{
		{"case and space", "  Living\t Room ", "living room"},
		{"full width", "ＡＢ　Ｃ", "ab c"},
		{"Han", "小明", "小明"},
		{"empty", " \n", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := token.Fold(tt.in); got != tt.want {
				t.Fatalf("Fold(%q) = %q", tt.in, got)
			}
		})
	}
	if !token.HasHan("a门") || token.HasHan("カギ abc") {
		t.Fatal("HasHan")
	}
}

// FuzzTerms: any text gives short valid terms, the same each time, and terms
// of English words give themselves again.
func FuzzTerms(f *testing.F) {
	for _, s := range []string{"钥匙在门垫下面", "What's under the mat?", "a\x00\xff", "👨‍👩‍👧 שלום", "ＡＢＣ", "e\u0301\u0301", "'t 't"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		terms := token.Terms(s)
		for _, w := range terms {
			if w == "" || len(w) > 60 || !utf8.ValidString(w) && utf8.ValidString(s) || strings.ContainsAny(w, " \x00'\"") {
				t.Fatalf("term %q of %q", w, s)
			}
		}
		if !slices.Equal(terms, token.Terms(s)) {
			t.Fatal("not the same twice")
		}
	})
}

func BenchmarkTerms(b *testing.B) {
	for b.Loop() {
		token.Terms("妈妈把备用钥匙放在门垫下面了，the spare key is under the mat")
	}
}
