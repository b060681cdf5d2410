package distill

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"homeagent/agent/pattern"
)

// tense says whether a bare weekday or month lies behind or ahead.
type tense int

const (
	past tense = iota
	future
)

const (
	dayForm   = "2006-01-02"
	monthForm = "2006-01"
	yearForm  = "2006"
)

// dater finds the dates of a clause and takes them out.
type dater struct {
	now   time.Time
	tense tense
	text  string
	when  string // the first date found
	clock string // "15:00"
	found bool   // a time was named, though perhaps not which
}

// cut takes the first match of re out of the text and gives its groups to f,
// which returns the date.
func (d *dater) cut(re *pattern.Pattern, f func(m []string) string) {
	at := re.FindStringSubmatchIndex(d.text)
	if at == nil {
		return
	}
	m := make([]string, len(at)/2)
	for i := range m {
		if at[2*i] >= 0 {
			m[i] = strings.ToLower(d.text[at[2*i]:at[2*i+1]])
		}
	}
	when := f(m)
	if when == "-" {
		return // no date after all
	}
	d.text = d.text[:at[0]] + " " + d.text[at[1]:]
	d.found = true
	if d.when == "" && !d.now.IsZero() {
		d.when = when
	}
}

// result is the date with the clock, where it is a day's.
func (d *dater) result() string {
	switch {
	case d.clock == "" || d.now.IsZero():
		return d.when
	case d.when == "":
		return d.now.Format(dayForm) + " " + d.clock
	case len(d.when) == len(dayForm):
		return d.when + " " + d.clock
	}
	return d.when
}

func (d *dater) day(n int) string   { return d.now.AddDate(0, 0, n).Format(dayForm) }
func (d *dater) year(n int) string  { return d.now.AddDate(n, 0, 0).Format(yearForm) }
func (d *dater) month(n int) string { return d.first().AddDate(0, n, 0).Format(monthForm) }

// first is the first of the month, from which months can be counted.
func (d *dater) first() time.Time {
	return time.Date(d.now.Year(), d.now.Month(), 1, 12, 0, 0, 0, d.now.Location())
}

// monday is that of the week n weeks on.
func (d *dater) monday(n int) time.Time {
	return d.now.AddDate(0, 0, -(int(d.now.Weekday())+6)%7+7*n)
}

// week is the span from Monday to Sunday, n weeks on.
func (d *dater) week(n int) string {
	m := d.monday(n)
	return m.Format(dayForm) + "/" + m.AddDate(0, 0, 6).Format(dayForm)
}

// weekend is Saturday and Sunday, n weeks on.
func (d *dater) weekend(n int) string {
	m := d.monday(n)
	return m.AddDate(0, 0, 5).Format(dayForm) + "/" + m.AddDate(0, 0, 6).Format(dayForm)
}

// weekday is the nearest one in the direction of the tense; today only counts ahead.
func (d *dater) weekday(w time.Weekday) string {
	n := (int(w) - int(d.now.Weekday()) + 7) % 7
	if d.tense == past {
		n -= 7
	}
	return d.day(n)
}

// weekdayOf is a weekday of the week n weeks on.
func (d *dater) weekdayOf(w time.Weekday, n int) string {
	return d.monday(n).AddDate(0, 0, (int(w)+6)%7).Format(dayForm)
}

// date is a day of a month; without a year (0) the nearest in the direction of
// the tense. An impossible one is "-".
func (d *dater) date(y int, m time.Month, day int) string {
	given := y > 0
	if !given {
		y = d.now.Year()
	}
	t := time.Date(y, m, day, 23, 59, 0, 0, d.now.Location())
	if m < 1 || m > 12 || day < 1 || t.Month() != m {
		return "-"
	}
	if !given {
		switch {
		case d.tense == past && t.AddDate(0, 0, -1).After(d.now):
			t = t.AddDate(-1, 0, 0)
		case d.tense == future && t.Before(d.now):
			t = t.AddDate(1, 0, 0)
		}
	}
	return t.Format(dayForm)
}

// inMonth is a month without a year.
func (d *dater) inMonth(m time.Month) string {
	y := d.now.Year()
	switch {
	case d.tense == past && m > d.now.Month():
		y--
	case d.tense == future && m < d.now.Month():
		y++
	}
	return fmt.Sprintf("%04d-%02d", y, m)
}

// back is a number of units ago (negative: ahead).
func (d *dater) back(n int, unit string) string {
	switch unit {
	case "day":
		return d.day(-n)
	case "week":
		return d.week(-n)
	case "month":
		return d.month(-n)
	case "year":
		return d.year(-n)
	}
	return ""
}

var enMonths = []string{"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}

func enMonth(s string) time.Month {
	for i, m := range enMonths {
		if strings.HasPrefix(s, m) {
			return time.Month(i + 1)
		}
	}
	return 0
}

var enDays = []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}

func enDay(s string) time.Weekday {
	for i, d := range enDays {
		if strings.HasPrefix(s, d) {
			return time.Weekday(i)
		}
	}
	return 0
}

var enNumbers = map[string]int{"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
	"nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "couple of": 2, "a couple of": 2, "a couple": 2}

func enNumber(s string) int {
	if n, err := strconv.Atoi(s); err == nil {
		return n
	}
	return enNumbers[s]
}

// parts of the patterns below.
const (
	reDay   = `(sunday|monday|tuesday|wednesday|thursday|friday|saturday)`
	reMonth = `(january|february|march|april|may|june|july|august|september|october|november|december|jan|feb|mar|apr|jun|jul|aug|sept|sep|oct|nov|dec)\.?`
	reCount = `(\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|a couple(?: of)?)`
	reUnit  = `(day|week|month|year)s?`
)

// enDates are the English forms, the longer before the shorter.
var enDates = []struct {
	re *pattern.Pattern
	f  func(d *dater, m []string) string
}{
	{pattern.New(`(?i)\b(?:on |since )?(?:the )?(\d{1,2})(?:st|nd|rd|th)? (?:of )?` + reMonth + `(?:,? (\d{4}))?\b`),
		func(d *dater, m []string) string { return d.date(enNumber(m[3]), enMonth(m[2]), enNumber(m[1])) }},
	{pattern.New(`(?i)\b(?:on |since )?` + reMonth + ` (?:the )?(\d{1,2})(?:st|nd|rd|th)?(?:,? (\d{4}))?\b`),
		func(d *dater, m []string) string { return d.date(enNumber(m[3]), enMonth(m[1]), enNumber(m[2])) }},
	{pattern.New(`\b(?:on )?(\d{4})-(\d{2})-(\d{2})\b`),
		func(d *dater, m []string) string {
			return d.date(enNumber(m[1]), time.Month(enNumber(m[2])), enNumber(m[3]))
		}},
	{pattern.New(`(?i)\b(?:in |since |during )?(?:early |late |mid-?)?` + reMonth + `,? (\d{4})\b`),
		func(d *dater, m []string) string { return m[2] + fmt.Sprintf("-%02d", enMonth(m[1])) }},
	{pattern.New(`(?i)\b` + reCount + ` ` + reUnit + ` ago\b`),
		func(d *dater, m []string) string { return d.back(enNumber(m[1]), m[2]) }},
	{pattern.New(`(?i)\bin ` + reCount + ` ` + reUnit + `(?:' time)?\b`),
		func(d *dater, m []string) string {
			if d.tense == past {
				return "-" // "I read it in two days"
			}
			return d.back(-enNumber(m[1]), m[2])
		}},
	{pattern.New(`(?i)\b(?:a few|several|some|many) ` + reUnit + ` ago\b|\b(?:a while|ages|long) (?:ago|back)\b|\bthe other (?:day|week|night)\b|\brecently\b|\blately\b`),
		func(*dater, []string) string { return "" }},
	{pattern.New(`(?i)\b(?:the )?day before yesterday\b`), func(d *dater, _ []string) string { return d.day(-2) }},
	{pattern.New(`(?i)\b(?:the )?day after tomorrow\b`), func(d *dater, _ []string) string { return d.day(2) }},
	{pattern.New(`(?i)\byesterday(?: (?:morning|afternoon|evening|night))?\b|\blast night\b`), func(d *dater, _ []string) string { return d.day(-1) }},
	{pattern.New(`(?i)\btomorrow(?: (?:morning|afternoon|evening|night))?\b`), func(d *dater, _ []string) string { return d.day(1) }},
	{pattern.New(`(?i)\b(?:today|tonight|this (?:morning|afternoon|evening))\b`), func(d *dater, _ []string) string { return d.day(0) }},
	{pattern.New(`(?i)\b(?:on |since )?last ` + reDay + `(?: (?:morning|afternoon|evening|night))?\b`),
		func(d *dater, m []string) string { d.tense = past; return d.weekday(enDay(m[1])) }},
	{pattern.New(`(?i)\b(?:on )?next ` + reDay + `(?: (?:morning|afternoon|evening|night))?\b`),
		func(d *dater, m []string) string { return d.weekdayOf(enDay(m[1]), 1) }},
	{pattern.New(`(?i)\b(?:(?:on|this|coming) )` + reDay + `(?: (?:morning|afternoon|evening|night))?\b`),
		func(d *dater, m []string) string { return d.weekday(enDay(m[1])) }},
	{pattern.New(`(?i)\b(?:over |during )?(last|this past|past|this|next) (weekend|week|month|year|summer|winter|spring|fall|autumn)\b`), enSpan},
	{pattern.New(`(?i)\b(?:in|since|during) ` + reMonth + `\b`), func(d *dater, m []string) string { return d.inMonth(enMonth(m[1])) }},
	{pattern.New(`(?i)\b(?:in|since|during|back in) ((?:19|20)\d\d)\b`), func(_ *dater, m []string) string { return m[1] }},
}

// enSpan is "last week" and its kin; a season stays without a date.
func enSpan(d *dater, m []string) string {
	n := map[string]int{"last": -1, "this past": -1, "past": -1, "next": 1}[m[1]]
	switch m[2] {
	case "week":
		return d.week(n)
	case "weekend":
		// Said from Monday on, "last" and "this past" are the one before.
		return d.weekend(n)
	case "month":
		return d.month(n)
	case "year":
		return d.year(n)
	}
	return ""
}

var enClock = pattern.New(`(?i)\b(?:at|around) (\d{1,2})(?::(\d{2}))?(?: ?([ap])\.?m\b\.?| o'clock)?|\bat (noon|midnight)\b`)

// enWhen takes the English dates out of a clause.
func enWhen(text string, now time.Time, t tense) *dater {
	d := &dater{now: now, tense: t, text: text}
	for _, form := range enDates {
		d.cut(form.re, func(m []string) string { return form.f(d, m) })
	}
	d.cut(enClock, func(m []string) string {
		h, min := enNumber(m[1]), enNumber(m[2])
		switch {
		case m[4] == "noon":
			h = 12
		case m[4] == "midnight":
			h = 0
		case m[3] == "p" && h < 12, m[3] == "" && m[2] == "" && h < 7 && d.tense == future:
			h += 12 // nobody meets at three in the night
		case m[3] == "a" && h == 12:
			h = 0
		}
		if h > 23 || min > 59 {
			return "-"
		}
		d.clock = fmt.Sprintf("%02d:%02d", h, min)
		return ""
	})
	d.text = strings.Join(strings.Fields(d.text), " ")
	return d
}
