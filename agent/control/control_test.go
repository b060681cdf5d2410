package control

import (
	"strings"
	"testing"
)

func TestRecognise(t *testing.T) {
	rows := []struct {
		name, text string
		want       Intent // "" is no intent
	}{
		{"plain stop", "stop", Stop},
		{"shouted", "STOP!!!", Stop},
		{"polite", "Please stop now, thank you.", Stop},
		{"three times", "stop stop stop", Stop},
		{"talking", "could you please stop talking?", Stop},
		{"quiet", "be quiet", Stop},
		{"zh stop", "停", Stop},
		{"zh thrice", "停停停！", Stop},
		{"zh stop down", "请停下来。", Stop},
		{"zh don't talk", "别说了", Stop},
		{"zh hurry", "快停下吧", Stop},
		{"full width", "ＳＴＯＰ！", Stop},
		{"never mind", "Oh, never mind.", Cancel},
		{"cancel", "cancel that please", Cancel},
		{"zh cancel", "取消吧", Cancel},
		{"zh forget it", "那算了", Cancel},
		{"mute", "Mute.", Mute},
		{"zh mute", "请静音", Mute},
		{"louder", "a bit louder, please", Louder},
		{"zh louder", "再大声一点", Louder},
		{"zh louder polite", "麻烦你把音量调大一点，谢谢", Louder},
		{"softer", "turn it down", Softer},
		{"zh softer northern", "小声点儿", Softer},
		{"zh softer plain", "小声点", Softer},
		{"ring", "stop ringing", RingOff},
		{"zh ring", "好了别响了", RingOff},
		{"yes", "Yes.", Confirm},
		{"zh yes", "好的", Confirm},
		{"zh yes twice", "好的好的", Confirm},
		{"zh certain", "嗯，确认", Confirm},
		{"ok please", "ok please", Confirm},
		{"no", "no, thanks", Deny},
		{"don't", "Don’t!", Deny},
		{"zh no", "不要", Deny},
		{"zh no way", "不行不行", Deny},

		{"negated stop", "don't stop", ""},
		{"zh negated stop", "不要停", ""},
		{"zh negated stop 2", "别停", ""},
		{"stop in a sentence", "stop the music at nine", ""},
		{"the word in a word", "stopwatch", ""},
		{"nonstop", "nonstop", ""},
		{"question about it", "why did you stop", ""},
		{"zh in a sentence", "取消明天的闹钟", ""},
		{"zh bus stop", "公交车停在哪里", ""},
		{"louder than", "is it louder than a car", ""},
		{"zh ok then", "好的，打开客厅灯", ""},
		{"alarm for later", "turn off the alarm", ""},
		{"fillers alone", "please now", ""},
		{"zh fillers alone", "请吧", ""},
		{"empty", "", ""},
		{"punctuation", "...!?", ""},
		{"long", strings.Repeat("stop ", 500), ""},
		{"garbage", "\xff\xfe\x00", ""},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			got, ok := Recognise(r.text)
			if got != r.want || ok != (r.want != "") {
				t.Errorf("Recognise(%q) = %q, %v, want %q", r.text, got, ok, r.want)
			}
		})
	}
}

func TestRecogniseAfterName(t *testing.T) {
	if i, ok := Recognise("Hey Jarvis, stop!", "hey jarvis", "小管家"); i != Stop || !ok {
		t.Errorf("English name: %q, %v", i, ok)
	}
	if i, ok := Recognise("小管家，别说了", "hey jarvis", "小管家"); i != Stop || !ok {
		t.Errorf("Chinese name: %q, %v", i, ok)
	}
	if i, ok := Recognise("小管家", "小管家"); ok {
		t.Errorf("the name alone is no intent, got %q", i)
	}
}

// TestEveryUtterance holds the table: an utterance is found as written, stands
// under one intent only, and each intent can be said and answered in both languages.
func TestEveryUtterance(t *testing.T) {
	said := map[Intent]map[bool]int{}
	for u, want := range utterances {
		if got, ok := Recognise(u); !ok || got != want {
			t.Errorf("%q gives %q, want %q", u, got, want)
		}
		if n := len([]rune(u)); n > maxRunes/2 {
			t.Errorf("%q is %d runes long", u, n)
		}
		if said[want] == nil {
			said[want] = map[bool]int{}
		}
		said[want][isHan([]rune(u)[0])]++
	}
	for _, i := range All() {
		if said[i][true] == 0 || said[i][false] == 0 {
			t.Errorf("%s: %d Chinese and %d English utterances", i, said[i][true], said[i][false])
		}
		if Answer(i, "zh") == "" || Answer(i, "en") == "" || Answer(i, "zh") == Answer(i, "en") {
			t.Errorf("%s lacks an answer", i)
		}
	}
}

func TestIntentProperties(t *testing.T) {
	for _, i := range All() {
		if i.EndsTurn() != (i == Stop || i == Cancel) {
			t.Errorf("%s: EndsTurn is %v", i, i.EndsTurn())
		}
		if i.NeedsPending() != (i == Confirm || i == Deny) {
			t.Errorf("%s: NeedsPending is %v", i, i.NeedsPending())
		}
	}
}

func FuzzRecognise(f *testing.F) {
	for _, s := range []string{"stop", "请停下吧", "hey jarvis stop", "ＳＴＯＰ", "don't", "\x80", "好好好"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		i, ok := Recognise(s, "hey jarvis")
		if again, ok2 := Recognise(strings.ToUpper(normalise(s)), "hey jarvis"); ok && (!ok2 || again != i) {
			t.Errorf("%q gives %q, its normal form %q", s, i, again)
		}
		if ok && Answer(i, "zh") == "" {
			t.Errorf("%q gives an intent outside the list: %q", s, i)
		}
	})
}
