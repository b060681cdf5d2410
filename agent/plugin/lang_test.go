package plugin

import "testing"

func TestLangOf(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "12:30 ?!": "", "hello": "en", "你好": "zh", "打开 living room 灯": "zh", "ÜBER": "en", "\xff": "",
	} {
		if got := LangOf(text); got != want {
			t.Errorf("LangOf(%q) = %q, want %q", text, got, want)
		}
	}
}
