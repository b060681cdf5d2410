package intent

import (
	"testing"
	"time"
)

// whole is the first reading of a whole text, "" if none reaches its end.
func whole(read func([]token, int) []candidate, text string) string {
	toks, _ := tokenise(text)
	for _, c := range read(toks, 0) {
		if c.end == len(toks) {
			return c.text
		}
	}
	return ""
}

func TestDurations(t *testing.T) {
	for _, row := range []struct{ text, seconds string }{
		{"ten minutes", "600"}, {"1 minute", "60"}, {"an hour", "3600"}, {"an hour and a half", "5400"}, {"one and a half hours", "5400"},
		{"half an hour", "1800"}, {"a half hour", "1800"}, {"half a minute", "30"}, {"a quarter of an hour", "900"}, {"three quarters of an hour", "2700"},
		{"90 seconds", "90"}, {"ninety secs", "90"}, {"two minutes thirty", "150"}, {"two minutes and thirty seconds", "150"}, {"1h 30", "5400"},
		{"1 hr 5 min", "3900"}, {"forty-five minutes", "2700"}, {"1.5 hours", "5400"}, {"a couple of minutes", "120"}, {"twenty five minutes", "1500"},
		{"a hundred and twenty seconds", "120"}, {"two days", "172800"}, {"five minutes and a half", "330"},
		{"十分钟", "600"}, {"一个半小时", "5400"}, {"两分半", "150"}, {"两分半钟", "150"}, {"半小时", "1800"}, {"半个小时", "1800"}, {"半个钟头", "1800"},
		{"一刻钟", "900"}, {"三刻钟", "2700"}, {"90秒", "90"}, {"九十秒钟", "90"}, {"一小时三十分钟", "5400"}, {"一个小时零五分钟", "3900"},
		{"一分三十秒", "90"}, {"1小时20分", "4800"}, {"一小时半", "5400"}, {"一点五小时", "5400"}, {"1.5个小时", "5400"}, {"两天", "172800"}, {"三分钟半", "210"},
		{"二十五分钟", "1500"}, {"一百二十秒", "120"}, {"一小时三十", "5400"}, {"十五分", "900"}, {"半分钟", "30"},
		{"ten", ""}, {"minutes", ""}, {"zero seconds", ""}, {"ten minutes two hours", ""}, {"几分钟", ""}, {"一会儿", ""}, {"1000 days", ""}, {"十个苹果", ""},
	} {
		if got := whole(readDuration, row.text); got != row.seconds {
			t.Errorf("%s is %q seconds, want %q", row.text, got, row.seconds)
		}
	}
}

func TestPercents(t *testing.T) {
	for _, row := range []struct{ text, want string }{
		{"30", "30"}, {"30%", "30"}, {"thirty five percent", "35"}, {"thirty per cent", "30"}, {"a hundred", "100"}, {"one hundred percent", "100"}, {"zero", "0"},
		{"half", "50"}, {"maximum", "100"}, {"百分之三十", "30"}, {"百分之百", "100"}, {"百分之5", "5"}, {"八十", "80"}, {"三成", "30"}, {"一半", "50"}, {"最大", "100"},
		{"三十五", "35"}, {"一百", "100"}, {"２５％", "25"},
		{"101", ""}, {"two hundred", ""}, {"2.5", ""}, {"minus one", ""}, {"三千", ""},
	} {
		if got := whole(readPercent, row.text); got != row.want {
			t.Errorf("%s is %q, want %q", row.text, got, row.want)
		}
	}
}

func TestClocks(t *testing.T) {
	// A Monday, 15:20.
	now := time.Date(2026, 11, 30, 15, 20, 0, 0, time.UTC)
	for _, row := range []struct{ text, clock, next string }{
		{"5 pm", "17:00", "30 17:00"}, {"5 p.m.", "17:00", "30 17:00"}, {"five", "05:00", "30 17:00"}, {"three", "03:00", "1 03:00"}, {"four", "04:00", "30 16:00"},
		{"7:30 am", "07:30", "1 07:30"}, {"half past seven", "07:30", "30 19:30"}, {"a quarter to nine", "08:45", "30 20:45"}, {"ten past six", "06:10", "30 18:10"},
		{"seven thirty", "07:30", "30 19:30"}, {"seven oh five pm", "19:05", "30 19:05"}, {"17:45", "17:45", "30 17:45"}, {"06:15", "06:15", "1 06:15"}, {"noon", "12:00", "1 12:00"},
		{"midnight", "00:00", "1 00:00"}, {"8 o'clock", "08:00", "30 20:00"}, {"tomorrow at 8", "08:00", "1 08:00"}, {"8 tomorrow morning", "08:00", "1 08:00"},
		{"tomorrow at 3", "03:00", "1 15:00"}, {"nine tonight", "21:00", "30 21:00"}, {"tonight at nine pm", "21:00", "30 21:00"}, {"seven in the evening", "19:00", "30 19:00"},
		{"12 am", "00:00", "1 00:00"}, {"12 pm", "12:00", "1 12:00"}, {"today at 3 pm", "15:00", ""}, {"on friday at 9 am", "09:00", "4 09:00"}, {"next monday at 9 am", "09:00", "7 09:00"},
		{"monday at 9 am", "09:00", "7 09:00"}, {"monday at 6 pm", "18:00", "30 18:00"},
		{"下午三点", "15:00", "1 15:00"}, {"三点半", "03:30", "30 15:30"}, {"下午三点半", "15:30", "30 15:30"}, {"晚上八点二十", "20:20", "30 20:20"}, {"晚上八点二十分", "20:20", "30 20:20"},
		{"明天早上七点", "07:00", "1 07:00"}, {"明早七点", "07:00", "1 07:00"}, {"今晚九点", "21:00", "30 21:00"}, {"十五点三十分", "15:30", "30 15:30"}, {"中午十二点", "12:00", "1 12:00"},
		{"中午一点", "13:00", "1 13:00"}, {"凌晨两点", "02:00", "1 02:00"}, {"晚上十二点", "00:00", "1 00:00"}, {"今天晚上十二点", "00:00", "1 00:00"}, {"零点", "00:00", "1 00:00"},
		{"三点一刻", "03:15", "1 03:15"}, {"五点零五分", "05:05", "30 17:05"}, {"六点整", "06:00", "30 18:00"}, {"后天下午两点", "14:00", "2 14:00"}, {"15：45", "15:45", "30 15:45"},
		{"周五下午三点", "15:00", "4 15:00"}, {"下周一早上九点", "09:00", "7 09:00"}, {"星期天晚上八点", "20:00", "6 20:00"}, {"正午", "12:00", "1 12:00"},
		{"25 o'clock", "", ""}, {"13 pm", "", ""}, {"二十五点", "", ""}, {"12:75", "", ""}, {"tomorrow", "", ""}, {"下午", "", ""}, {"三", "", ""},
	} {
		toks, _ := tokenise(row.text)
		var got Clock
		found := false
		for _, c := range readClock(toks, 0) {
			if c.end == len(toks) {
				got, found = c.value.(Clock), true
				break
			}
		}
		if !found {
			if row.clock != "" {
				t.Errorf("%s is no time of day", row.text)
			}
			continue
		}
		if got.String() != row.clock {
			t.Errorf("%s is %s, want %q", row.text, got, row.clock)
			continue
		}
		next, ok := got.Next(now)
		if s := next.Format("2 15:04"); ok && s != row.next || !ok && row.next != "" {
			t.Errorf("%s is next on %s (%v), want %q", row.text, s, ok, row.next)
		}
	}
}

func TestTokens(t *testing.T) {
	for _, row := range []struct {
		text, want string
		question   bool
	}{
		{"What's up?", "what is up", true},
		{"DON’T turn it on!", "do not turn it on", false},
		{"5pm, 5 p.m. and 1.5", "5 pm 5 pm and 1.5", false},
		{"把客厅灯打开", "把 客 厅 灯 打 开", false},
		{"打開客廳燈", "打 开 客 厅 灯", false},
		{"ＴＶ　３０％", "tv 30 %", false},
		{"3:20 note: x", "3 : 20 note x", false},
		{"living-room's lamp", "living room 's lamp", false},
		{"a\xffb\x00", "a \ufffd b \ufffd", false},
		{"“hi”", "“ hi ”", false},
		{"", "", false},
	} {
		toks, q := tokenise(row.text)
		s := ""
		for i, tok := range toks {
			if i > 0 {
				s += " "
			}
			s += tok.text
			if tok.start < 0 || tok.end > len(row.text) || tok.start >= tok.end {
				t.Errorf("%q: token %q lies at %d-%d", row.text, tok.text, tok.start, tok.end)
			}
		}
		if s != row.want || q != row.question {
			t.Errorf("%q gives %q (%v), want %q", row.text, s, q, row.want)
		}
	}
}
