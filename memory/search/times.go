package search

import (
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// A question for a time is answered by a passage that speaks of times, and a
// time in a question points at passages of that time. Both are read from plain
// lists of words: no calendar of feasts, no grammar.

// askWhen are the words by which a question asks for a time.
var askWhen = []string{"when", "what date", "which date", "what day", "which day", "how long ago", "what year", "which year", "what month", "which month",
	"what time", "什么时候", "何时", "哪天", "哪一天", "几号", "几点", "哪年", "哪一年", "哪个月", "几月", "多久"}

// timeWords are words of times; English ones stand alone or with an s.
var timeWords = words(`yesterday today tonight tomorrow last next ago week weekend month year monday tuesday wednesday thursday friday
saturday sunday january february march april may june july august september october november december recently day morning afternoon
evening night since summer winter spring fall autumn`)

var hanTimes = strings.Fields(`昨天 昨晚 今天 今晚 今早 明天 明早 后天 前天 上周 下周 这周 本周 上个月 下个月 上月 下月 去年 今年 明年 前年 周末
星期 礼拜 早上 晚上 下午 上午 中午 凌晨 周一 周二 周三 周四 周五 周六 周日 刚刚 刚才 春节 暑假 寒假`)

func words(s string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(s) {
		m[w] = true
	}
	return m
}

// asksWhen tells whether a question asks for a time.
func asksWhen(text string) bool {
	padded := " " + strings.Join(strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }), " ") + " "
	for _, w := range askWhen {
		if w[0] < utf8.RuneSelf {
			w = " " + w + " "
		}
		if strings.Contains(padded, w) {
			return true
		}
	}
	return false
}

// speaksOfTime tells whether a text names a time.
func speaksOfTime(text string) bool {
	for w := range latinWords(text) {
		if timeWords[w] || timeWords[strings.TrimSuffix(w, "s")] || len(w) == 4 && (w[:2] == "19" || w[:2] == "20") && digits(w) {
			return true
		}
	}
	for _, w := range hanTimes {
		if strings.Contains(text, w) {
			return true
		}
	}
	prev := ' '
	for _, r := range text {
		if strings.ContainsRune("年月号日点", r) && (prev >= '0' && prev <= '9' || hanDigit(prev) >= 0) {
			return true
		}
		prev = r
	}
	return false
}

// latinWords yields the runs of ASCII letters and digits, in lower case.
func latinWords(text string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for w := range strings.FieldsFuncSeq(text, func(r rune) bool {
			return r >= utf8.RuneSelf || !unicode.IsLetter(r) && !unicode.IsDigit(r)
		}) {
			if !yield(strings.ToLower(w)) {
				return
			}
		}
	}
}

func digits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

func hanDigit(r rune) int {
	for i, d := range []rune("零一二三四五六七八九十") {
		if d == r {
			return i
		}
	}
	return -1
}

// span is a time that a query names. Year and day are 0 where it names none.
type span struct {
	month       time.Month
	year, day   int
	since, till time.Time // in place of the others: "last week"
}

// telling is how long after an event people still speak of it, in days.
const telling = 7

// has tells whether a passage of time t may speak of the span.
func (s span) has(t time.Time) bool {
	if t.IsZero() {
		return false
	}
	if s.month == 0 {
		return !t.Before(s.since) && t.Before(s.till.AddDate(0, 0, telling))
	}
	year := s.year
	if year == 0 {
		year = t.Year()
		if s.month == time.December && t.Month() == time.January {
			year--
		}
	}
	from := time.Date(year, s.month, max(s.day, 1), 0, 0, 0, 0, t.Location())
	till := from.AddDate(0, 1, 0)
	if s.day > 0 {
		till = from.AddDate(0, 0, 3)
	}
	return !t.Before(from) && t.Before(till.AddDate(0, 0, telling))
}

// spansOf reads the times that a query names; now is when it is asked, and where that
// is zero only months and dates count.
func spansOf(text string, now time.Time) []span {
	var spans []span
	var fields []string
	for w := range latinWords(text) {
		fields = append(fields, w)
	}
	for i, w := range fields {
		m := monthOf(w)
		// As a word of their own "may" and "march" are seldom months.
		if m == 0 || (w == "may" || w == "march") && !(i > 0 && nearMonth(fields[i-1]) || i+1 < len(fields) && digits(fields[i+1])) {
			continue
		}
		s := span{month: m}
		for _, j := range []int{i - 1, i + 1, i + 2} {
			if j < 0 || j >= len(fields) {
				continue
			}
			n, err := strconv.Atoi(strings.TrimRight(fields[j], "stndrh"))
			switch {
			case err != nil:
			case n >= 1900 && n < 2200:
				s.year = n
			case n >= 1 && n <= 31 && s.day == 0:
				s.day = n
			}
		}
		spans = append(spans, s)
	}
	return append(append(spans, hanSpans(text)...), relative(text, now)...)
}

// nearMonth are the words before a month.
func nearMonth(w string) bool {
	return w == "in" || w == "of" || w == "on" || w == "since" || w == "during" || w == "last" || digits(strings.TrimRight(w, "stndrh"))
}

func monthOf(w string) time.Month {
	for m := time.January; m <= time.December; m++ {
		if strings.EqualFold(w, m.String()) {
			return m
		}
	}
	return 0
}

// hanSpans reads "5月", "五月三号", "2023年12月".
func hanSpans(text string) []span {
	var spans []span
	runes := []rune(text)
	number := func(end int) (n int) { // the number that ends before runes[end]
		begin := end
		for begin > 0 && end-begin < 4 && (runes[begin-1] >= '0' && runes[begin-1] <= '9' || hanDigit(runes[begin-1]) >= 0) {
			begin--
		}
		for _, r := range runes[begin:end] {
			d := hanDigit(r)
			switch {
			case r >= '0' && r <= '9':
				n = n*10 + int(r-'0')
			case d == 10 && n == 0:
				n = 10
			case d == 10 && n < 10:
				n *= 10
			case n >= 10 && n%10 == 0:
				n += d
			default:
				n = n*10 + d
			}
		}
		return n
	}
	year := 0
	for i, r := range runes {
		switch r {
		case '年':
			if n := number(i); n >= 1900 && n < 2200 {
				year = n
			}
		case '月':
			if n := number(i); n >= 1 && n <= 12 {
				spans = append(spans, span{month: time.Month(n), year: year})
			}
		case '号', '日':
			if n := number(i); n >= 1 && n <= 31 && len(spans) > 0 {
				spans[len(spans)-1].day = n
			}
		}
	}
	return spans
}

// relative reads times that are counted from now.
func relative(text string, now time.Time) []span {
	if now.IsZero() {
		return nil
	}
	lower := strings.ToLower(text)
	day := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	monday := day.AddDate(0, 0, -(int(day.Weekday())+6)%7)
	first := day.AddDate(0, 0, 1-day.Day())
	for _, r := range []struct {
		words       []string
		since, till time.Time
	}{
		{[]string{"yesterday", "last night", "昨天", "昨晚"}, day.AddDate(0, 0, -1), day},
		{[]string{"last week", "上周", "上星期", "上个星期", "上礼拜"}, monday.AddDate(0, 0, -7), monday},
		{[]string{"this week", "这周", "本周", "这星期"}, monday, monday.AddDate(0, 0, 7)},
		{[]string{"last month", "上个月", "上月"}, first.AddDate(0, -1, 0), first},
		{[]string{"this morning", "today", "今天", "今早"}, day, day.AddDate(0, 0, 1)},
	} {
		for _, w := range r.words {
			if strings.Contains(lower, w) {
				return []span{{since: r.since, till: r.till}}
			}
		}
	}
	return nil
}
