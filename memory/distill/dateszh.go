package distill

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"homeagent/agent/pattern"
)

const zhDigits = "零一二三四五六七八九"

// zhNumber reads "12", "两", "十二", "二十", "三十一"; 0 where it is none.
func zhNumber(s string) int {
	if n, err := strconv.Atoi(s); err == nil {
		return n
	}
	s = strings.ReplaceAll(s, "两", "二")
	total, last := 0, 0
	for _, r := range s {
		switch i := strings.IndexRune(zhDigits, r); {
		case r == '十':
			total += max(last, 1) * 10
			last = 0
		case i >= 0:
			last = last*10 + i/len("零") // signs of three bytes each
		default:
			return 0
		}
	}
	return total + last
}

const reNum = `([0-9]{1,4}|[零一二两三四五六七八九十]{1,4})`

var zhUnits = map[string]string{"天": "day", "周": "week", "个星期": "week", "星期": "week", "个礼拜": "week", "个月": "month", "月": "month", "年": "year"}

// zhWeekday reads 一 to 六, 日, 天 and 末, which is -1.
func zhWeekday(s string) time.Weekday {
	switch s {
	case "日", "天", "7", "七":
		return time.Sunday
	case "末":
		return -1
	}
	return time.Weekday(zhNumber(s))
}

// zhDates are the Chinese forms, the longer before the shorter.
var zhDates = []struct {
	re *pattern.Pattern
	f  func(d *dater, m []string) string
}{
	{pattern.New(`([12][0-9]{3})年` + reNum + `月` + reNum + `[日号]`),
		func(d *dater, m []string) string {
			return d.date(zhNumber(m[1]), time.Month(zhNumber(m[2])), zhNumber(m[3]))
		}},
	{pattern.New(`([12][0-9]{3})年` + reNum + `月(?:份)?`),
		func(_ *dater, m []string) string { return fmt.Sprintf("%s-%02d", m[1], zhNumber(m[2])) }},
	{pattern.New(`([12][0-9]{3})年`), func(_ *dater, m []string) string { return m[1] }},
	{pattern.New(`(前年|去年|今年|明年|后年)` + reNum + `月(?:` + reNum + `[日号]|份)?`),
		func(d *dater, m []string) string {
			y := d.now.Year() + zhYears[m[1]]
			if m[3] == "" {
				return fmt.Sprintf("%04d-%02d", y, zhNumber(m[2]))
			}
			return d.date(y, time.Month(zhNumber(m[2])), zhNumber(m[3]))
		}},
	{pattern.New(reNum + `月` + reNum + `[日号]`),
		func(d *dater, m []string) string { return d.date(0, time.Month(zhNumber(m[1])), zhNumber(m[2])) }},
	{pattern.New(`(上上|上|这|本|下下|下)(?:个)?(?:周|星期|礼拜)([一二三四五六日天末])`),
		func(d *dater, m []string) string {
			if w := zhWeekday(m[2]); w >= 0 {
				return d.weekdayOf(w, zhWeeks[m[1]])
			}
			return d.weekend(zhWeeks[m[1]])
		}},
	{pattern.New(`(上上|上|这|本|下下|下)(?:个)?(?:周|星期|礼拜)`), func(d *dater, m []string) string { return d.week(zhWeeks[m[1]]) }},
	{pattern.New(`(每个?)?(?:周|星期|礼拜)([一二三四五六日天末])`),
		func(d *dater, m []string) string {
			if m[1] != "" {
				return "-" // a habit
			}
			m = m[1:]
			if w := zhWeekday(m[1]); w >= 0 {
				return d.weekday(w)
			}
			if d.tense == past {
				return d.weekend(-1)
			}
			return d.weekend(0)
		}},
	{pattern.New(`(上上|上|这|本|下下|下)个月(?:` + reNum + `[日号])?`),
		func(d *dater, m []string) string {
			t := d.first().AddDate(0, zhWeeks[m[1]], 0)
			if m[2] == "" {
				return t.Format(monthForm)
			}
			return d.date(t.Year(), t.Month(), zhNumber(m[2]))
		}},
	{pattern.New(reNum + `(天|周|个星期|星期|个礼拜|个月|年)(?:之|以)?(前|后)`),
		func(d *dater, m []string) string {
			n := zhNumber(m[1])
			if m[3] == "后" {
				n = -n
			}
			return d.back(n, zhUnits[m[2]])
		}},
	{pattern.New(`(大前天|前天|昨天|昨晚|昨日|今天|今晚|今早|今日|刚才|明天|明早|明晚|明日|大后天|后天)`),
		func(d *dater, m []string) string { return d.day(zhDaysOff[m[1]]) }},
	{pattern.New(`(前年|去年|今年|明年|后年)(?:[春夏秋冬]天|年初|年底)?`), func(d *dater, m []string) string { return d.year(zhYears[m[1]]) }},
	{pattern.New(`(?:前几天|前些天|前阵子|前段时间|前不久|最近|近来|有一次|有一天|小时候|那天)`), func(*dater, []string) string { return "" }},
	{pattern.New(reNum + `月(?:份|初|底)?`), func(d *dater, m []string) string { return d.inMonth(time.Month(zhNumber(m[1]))) }},
	{pattern.New(reNum + `[号日]([楼线店门院机栋])?`),
		func(d *dater, m []string) string {
			if m[2] != "" {
				return "-" // a house, a line of the underground
			}
			n := zhNumber(m[1])
			t := d.first()
			switch {
			case d.tense == past && n > d.now.Day():
				t = t.AddDate(0, -1, 0)
			case d.tense == future && n < d.now.Day():
				t = t.AddDate(0, 1, 0)
			}
			return d.date(t.Year(), t.Month(), n)
		}},
}

var (
	zhYears   = map[string]int{"前年": -2, "去年": -1, "今年": 0, "明年": 1, "后年": 2}
	zhWeeks   = map[string]int{"上上": -2, "上": -1, "下": 1, "下下": 2}
	zhDaysOff = map[string]int{"大前天": -3, "前天": -2, "昨天": -1, "昨晚": -1, "昨日": -1, "明天": 1, "明早": 1, "明晚": 1, "明日": 1, "后天": 2, "大后天": 3}
)

var (
	zhClock = pattern.New(`(凌晨|清晨|早上|上午|中午|下午|傍晚|晚上|夜里)?` + reNum + `(?:[:：]([0-9]{2})|点(?:钟|整)?(半|一刻|三刻|` + reNum + `分?)?)`)
	zhPart  = pattern.New(`(?:凌晨|清晨|早上|上午|中午|下午|傍晚|晚上|夜里|早晨)`)
)

// zhWhen takes the Chinese dates out of a clause.
func zhWhen(text string, now time.Time, t tense) *dater {
	d := &dater{now: now, tense: t, text: text}
	evening := strings.Contains(text, "晚")
	for _, form := range zhDates {
		d.cut(form.re, func(m []string) string { return form.f(d, m) })
	}
	d.cut(zhClock, func(m []string) string {
		h, min := zhNumber(m[2]), zhNumber(m[3])
		if m[1] == "" && m[3] == "" && !d.found && (m[2] == "一" || m[2] == "两") {
			return "-" // a little, two points
		}
		switch m[4] {
		case "":
		case "半":
			min = 30
		case "一刻":
			min = 15
		case "三刻":
			min = 45
		default:
			min = zhNumber(strings.TrimSuffix(m[4], "分"))
		}
		if h < 12 && (m[1] == "下午" || m[1] == "傍晚" || m[1] == "晚上" || m[1] == "" && evening) {
			h += 12
		}
		if h > 23 || min > 59 {
			return "-"
		}
		d.clock = fmt.Sprintf("%02d:%02d", h, min)
		return ""
	})
	d.cut(zhPart, func([]string) string { return "" })
	d.text = strings.Join(strings.Fields(d.text), "")
	return d
}
