package sentence

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestPlain(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"plain stays", "The lamp is on.", "The lamp is on."},
		{"chinese stays", "客厅的灯开了，温度 23.5 度。", "客厅的灯开了，温度 23.5 度。"},
		{"bold and code marks", "**Done**, see `lamp`.", "Done, see lamp."},
		{"heading and list", "# Lamps\n- kitchen\n- bedroom", "Lamps. kitchen. bedroom"},
		{"chinese lines end", "第一\n第二", "第一。 第二"},
		{"link keeps its words", "see [the page](http://x.y/z) now", "see the page now"},
		{"bare address goes", "打开 https://example.org/a?b=c 看看", "打开 看看"},
		{"code block goes", "run:\n```\nrm -rf /\n```\ndone", "run: done"},
		{"open code block goes", "run:\n```\nrm", "run:"},
		{"emoji goes", "好的 😀👍🏽!", "好的!"},
		{"phoneme brackets go", "[[h@l'oU]] there", "h@l'oU there"},
		{"control characters go", "a\x00b\x1b[31mc", "ab31mc"},
		{"invalid bytes go", "ab\xffcd", "abcd"},
		{"nothing to say", "*** ... 😀", ""},
		{"rule goes", "a\n---\nb", "a. b"},
		{"empty", "", ""},
		{"minus stays in numbers", "it is -5 degrees", "it is -5 degrees"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Plain(c.in); got != c.want {
				t.Errorf("Plain(%q) = %q, want %q", c.in, got, c.want)
			}
		})
	}
}

func TestSplit(t *testing.T) {
	for _, c := range []struct {
		name, in string
		max      int
		want     []string
	}{
		{"english", "It is on. And now? Yes!", 100, []string{"It is on.", "And now?", "Yes!"}},
		{"chinese", "好的。灯开了！还有吗？", 100, []string{"好的。", "灯开了！", "还有吗？"}},
		{"numbers stay whole", "It is 23.5 degrees at 7:30, 1,000 m up.", 100, []string{"It is 23.5 degrees at 7:30, 1,000 m up."}},
		{"quote closes", "他说：“好。”然后走了。", 100, []string{"他说：“好。”", "然后走了。"}},
		{"cut at a comma", "one two, three four five", 12, []string{"one two,", "three four", "five"}},
		{"cut hard", "一二三四五六七", 3, []string{"一二三", "四五六", "七"}},
		{"dots", "well... fine.", 100, []string{"well...", "fine."}},
		{"empty", " \n ", 10, nil},
		{"max of nothing", "ab", 0, []string{"a", "b"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := slices.Collect(Split(c.in, c.max)); !slices.Equal(got, c.want) {
				t.Errorf("Split(%q, %d) = %q, want %q", c.in, c.max, got, c.want)
			}
		})
	}
}

func TestCut(t *testing.T) {
	for _, c := range []struct {
		name, in string
		max      int
		want     string
		more     bool
	}{
		{"short", "好的。", 10, "好的。", false},
		{"whole sentences", "One. Two. Three.", 10, "One. Two.", true},
		{"first too long", "abcdefgh", 3, "abc", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, more := Cut(c.in, c.max); got != c.want || more != c.more {
				t.Errorf("Cut = %q, %v", got, more)
			}
		})
	}
}

func TestParts(t *testing.T) {
	for _, c := range []struct {
		name, in, lang string
		want           []Part
	}{
		{"one script", "打开客厅的灯。", "zh", []Part{{"打开客厅的灯。", "zh"}}},
		{"english in chinese", "打开 living room lamp，好吗？", "zh", []Part{{"打开 ", "zh"}, {"living room lamp，", "en"}, {"好吗？", "zh"}}},
		{"digits follow", "现在 23:15", "zh", []Part{{"现在 23:15", "zh"}}},
		{"digits lead", "23 度", "zh", []Part{{"23 度", "zh"}}},
		{"unit letter stays", "25°C 左右", "zh", []Part{{"25°C 左右", "zh"}}},
		{"no letters", "23:15", "en", []Part{{"23:15", "en"}}},
		{"words of one letter", "I have a lamp", "en", []Part{{"I have a lamp", "en"}}},
		{"empty", "", "zh", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Parts(c.in, c.lang); !slices.Equal(got, c.want) {
				t.Errorf("Parts(%q) = %q, want %q", c.in, got, c.want)
			}
		})
	}
}

// FuzzText holds the laws of all functions together.
func FuzzText(f *testing.F) {
	f.Add("打开 the lamp。\n- a\n```x", 5)
	f.Add("\xff\xfe1.5 [a](b) ...", 1)
	f.Add("a.b? “好。”", 300)
	f.Fuzz(func(t *testing.T, text string, max int) {
		max = max%500 + 1
		plain := Plain(text)
		if !utf8.ValidString(plain) || strings.ContainsAny(plain, "\x00\n[]`") || strings.Contains(plain, "  ") {
			t.Errorf("Plain gives %q", plain)
		}
		var joined strings.Builder
		for p := range Split(text, max) {
			if n := utf8.RuneCountInString(p); n == 0 || n > max && max > 0 {
				t.Errorf("a piece of %d characters for max %d", n, max)
			}
			joined.WriteString(p)
		}
		squeeze := func(s string) string { return strings.Join(strings.Fields(strings.ToValidUTF8(s, "")), "") }
		if squeeze(joined.String()) != squeeze(text) {
			t.Errorf("Split loses text: %q of %q", joined.String(), text)
		}
		all := ""
		for _, p := range Parts(text, "zh") {
			all += p.Text
		}
		if all != strings.ToValidUTF8(text, "") {
			t.Errorf("Parts loses text: %q of %q", all, text)
		}
		if head, more := Cut(text, max); max > 0 && (utf8.RuneCountInString(head) > max || !more && head != strings.ToValidUTF8(text, "")) {
			t.Errorf("Cut gives %q, %v", head, more)
		}
	})
}
