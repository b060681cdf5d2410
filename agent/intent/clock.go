package intent

import (
	"fmt"
	"time"
)

// Clock is a time of day as it was said. Without a half of the day ("at
// seven") Exact is false and Hour is 1 to 12.
type Clock struct {
	Hour, Minute int
	Exact        bool
	// Day counts from today; DaySaid tells whether any was said.
	Day     int
	DaySaid bool
	// Weekday is the day of the week that was said where WeekdaySaid; then Day
	// counts whole weeks to pass over.
	Weekday     time.Weekday
	WeekdaySaid bool
}

// String is the hour and minute as "07:05".
func (c Clock) String() string { return fmt.Sprintf("%02d:%02d", c.Hour, c.Minute) }

// MarshalText gives the form of String, so that an argument holds "07:05".
func (c Clock) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// Next is the first moment after now that c can mean, in now's location. A
// time without a half of the day is the nearer of both; on a day that was
// named, one to six is the afternoon. It is false for a time of today that has passed.
func (c Clock) Next(now time.Time) (time.Time, bool) {
	at := func(day, hour int) time.Time {
		y, m, d := now.Date()
		return time.Date(y, m, d+day, hour, c.Minute, 0, 0, now.Location())
	}
	hours := []int{c.Hour}
	switch {
	case !c.Exact && (c.WeekdaySaid || c.DaySaid && c.Day > 0):
		if c.Hour < 7 {
			hours[0] += 12
		}
	case !c.Exact:
		hours = []int{c.Hour % 12, c.Hour%12 + 12}
	}
	days := []int{c.Day}
	switch {
	case c.WeekdaySaid:
		ahead := (int(c.Weekday-now.Weekday()) + 7) % 7
		if c.Day > 0 { // of the week after this one, which begins on Monday
			ahead = (8-int(now.Weekday()))%7 + (int(c.Weekday)+6)%7
			if now.Weekday() == time.Monday {
				ahead += 7
			}
			days = []int{ahead}
			break
		}
		days = []int{ahead, ahead + 7}
	case !c.DaySaid:
		days = []int{0, 1}
	}
	for _, d := range days {
		for _, h := range hours {
			if t := at(d, h); t.After(now) {
				return t, true
			}
		}
	}
	return time.Time{}, false
}

// half is a part of the day that tells which of two hours is meant.
type half int

const (
	unsaid half = iota
	morning
	noonish
	afternoon
	evening
	night // before dawn
)

// dayWords are days and parts of days, the longest form first.
var dayWords = []struct {
	words []string
	day   int // -1: none said
	part  half
}{
	{[]string{"tomorrow", "morning"}, 1, morning}, {[]string{"tomorrow", "afternoon"}, 1, afternoon},
	{[]string{"tomorrow", "evening"}, 1, evening}, {[]string{"tomorrow", "night"}, 1, evening},
	{[]string{"this", "morning"}, 0, morning}, {[]string{"this", "afternoon"}, 0, afternoon}, {[]string{"this", "evening"}, 0, evening},
	{[]string{"in", "the", "morning"}, -1, morning}, {[]string{"in", "the", "afternoon"}, -1, afternoon},
	{[]string{"in", "the", "evening"}, -1, evening}, {[]string{"at", "night"}, -1, evening},
	{[]string{"day", "after", "tomorrow"}, 2, unsaid},
	{[]string{"tomorrow"}, 1, unsaid}, {[]string{"tonight"}, 0, evening}, {[]string{"today"}, 0, unsaid},
	{[]string{"今", "晚", "上"}, 0, evening}, {[]string{"明", "晚", "上"}, 1, evening},
	{[]string{"今", "晚"}, 0, evening}, {[]string{"明", "晚"}, 1, evening}, {[]string{"今", "早"}, 0, morning}, {[]string{"明", "早"}, 1, morning},
	{[]string{"大", "后", "天"}, 3, unsaid},
	{[]string{"今", "天"}, 0, unsaid}, {[]string{"明", "天"}, 1, unsaid}, {[]string{"后", "天"}, 2, unsaid}, {[]string{"明", "日"}, 1, unsaid},
	{[]string{"早", "上"}, -1, morning}, {[]string{"早", "晨"}, -1, morning}, {[]string{"清", "早"}, -1, morning}, {[]string{"清", "晨"}, -1, morning},
	{[]string{"上", "午"}, -1, morning}, {[]string{"中", "午"}, -1, noonish}, {[]string{"下", "午"}, -1, afternoon}, {[]string{"午", "后"}, -1, afternoon},
	{[]string{"傍", "晚"}, -1, evening}, {[]string{"晚", "上"}, -1, evening}, {[]string{"夜", "里"}, -1, evening}, {[]string{"夜", "晚"}, -1, evening},
	{[]string{"半", "夜"}, -1, night}, {[]string{"凌", "晨"}, -1, night},
}

// partial is what has been understood of a time of day so far.
type partial struct {
	day  int
	part half
	week weekday
}

// weekday is a day of the week, counted from 1 for Monday, 0 for none.
type weekday struct {
	n    int
	next bool // of next week
}

var weekdayNames = ordinalsOf("- monday tuesday wednesday thursday friday saturday sunday")

// zhWeekdays are what follows 周.
var zhWeekdays = map[string]int{"一": 1, "二": 2, "三": 3, "四": 4, "五": 5, "六": 6, "日": 7, "天": 7}

func (r reader) weekdayAt(pos int) (weekday, int, bool) {
	w := weekday{}
	from := r.skip(pos, "on")
	from = r.skip(from, "this")
	if r.is(from, "next") {
		w.next, from = true, from+1
	}
	if from < len(r) {
		if n := weekdayNames[r[from].text]; n > 0 {
			w.n = n
			return w, from + 1, true
		}
	}
	from = r.skip(r.skip(pos, "这"), "本")
	if r.is(from, "下") {
		w.next, from = true, r.skip(from+1, "个")
	}
	for _, prefix := range [][]string{{"周"}, {"星", "期"}, {"礼", "拜"}} {
		if to := r.skip(from, prefix...); to > from && to < len(r) {
			if n := zhWeekdays[r[to].text]; n > 0 {
				w.n = n
				return w, to + 1, true
			}
		}
	}
	return w, pos, false
}

func (p partial) at(hour, minute int) (Clock, bool) {
	c := Clock{Hour: hour, Minute: minute, Day: max(p.day, 0), DaySaid: p.day >= 0}
	if p.week.n > 0 {
		c.Weekday, c.WeekdaySaid, c.Day = time.Weekday(p.week.n%7), true, b2i(p.week.next)
	}
	if hour < 0 || hour > 24 || minute < 0 || minute > 59 {
		return c, false
	}
	c.Exact = p.part != unsaid || hour > 12 || hour == 0
	switch p.part {
	case morning:
		if hour == 12 {
			c.Hour = 0
		}
	case noonish:
		if hour >= 1 && hour <= 3 {
			c.Hour += 12
		}
	case afternoon:
		if hour < 12 {
			c.Hour += 12
		}
	case evening:
		switch {
		case hour == 12:
			c.Hour = 24
		case hour >= 5 && hour < 12:
			c.Hour += 12
		case hour >= 1 && hour < 5: // one o'clock at night is the next day's
			c.Day, c.Hour = c.Day+b2i(c.DaySaid), hour
		}
	case night:
		if hour == 12 {
			c.Hour = 0
		}
	}
	if c.Hour == 24 {
		c.Hour = 0
		c.Day += b2i(c.DaySaid)
	}
	return c, true
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// readClock is the slot kind clock, the longest reading first.
func readClock(toks []token, pos int) []candidate {
	r := reader(toks)
	best := map[int]Clock{}
	longest := 0
	for _, w := range r.dayPrefix(pos) {
		for _, h := range r.hours(w.end) {
			for _, s := range r.daySuffix(h.end, w.partial) {
				part := s.partial
				if h.part != unsaid {
					pm := h.part == afternoon && part.part == evening // "nine p.m. tonight"
					if part.part != unsaid && part.part != h.part && !pm {
						continue
					}
					part.part = h.part
				}
				c, ok := part.at(h.hour, h.minute)
				if !ok {
					continue
				}
				if h.exact {
					c.Exact = true
				}
				if _, taken := best[s.end]; !taken {
					best[s.end] = c
				}
				longest = max(longest, s.end)
			}
		}
	}
	var out []candidate
	for end := longest; end > pos; end-- {
		if c, ok := best[end]; ok {
			out = append(out, candidate{end: end, text: c.String(), value: c})
		}
	}
	return out
}

type dayRead struct {
	end int
	partial
}

// dayPrefix reads up to two day words before the hour: 明天下午, "tomorrow at".
func (r reader) dayPrefix(pos int) []dayRead {
	out := []dayRead{{pos, partial{day: -1}}}
	for i := 0; i < len(out) && i < 3; i++ {
		from := out[i]
		if d, ok := r.dayWord(from.end); ok {
			if merged, ok := from.merge(d.partial); ok {
				end := r.skip(d.end, "的")
				out = append(out, dayRead{r.skip(end, "at"), merged})
			}
		}
	}
	for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
		out[i], out[j] = out[j], out[i]
	}
	return out
}

// daySuffix reads up to two day words behind the hour, none included.
func (r reader) daySuffix(pos int, p partial) []dayRead {
	out := []dayRead{{pos, p}}
	for i := 0; i < len(out) && i < 3; i++ {
		if d, ok := r.dayWord(out[i].end); ok && !isHanText(r[out[i].end].text) {
			if merged, ok := out[i].merge(d.partial); ok {
				out = append(out, dayRead{d.end, merged})
			}
		}
	}
	return out
}

func (r reader) dayWord(pos int) (dayRead, bool) {
	if w, end, ok := r.weekdayAt(pos); ok {
		return dayRead{end, partial{day: -1, week: w}}, true
	}
	pos = r.skip(pos, "the")
	for _, w := range dayWords {
		if r.is(pos, w.words...) {
			return dayRead{pos + len(w.words), partial{day: w.day, part: w.part}}, true
		}
	}
	return dayRead{}, false
}

func (p partial) merge(q partial) (partial, bool) {
	if q.week.n > 0 {
		if p.week.n > 0 || p.day >= 0 {
			return p, false
		}
		p.week = q.week
	}
	if q.day >= 0 && p.week.n > 0 || p.day >= 0 && q.day >= 0 || p.part != unsaid && q.part != unsaid {
		return p, false
	}
	if q.day >= 0 {
		p.day = q.day
	}
	if q.part != unsaid {
		p.part = q.part
	}
	return p, true
}
