package timer

import (
	"fmt"
	"strings"
	"time"
)

// ringText is what a due timer says.
func ringText(e *entry) string {
	zh, label := e.Lang == "zh", e.Label
	due := e.Due.Local().Format("15:04")
	switch {
	case e.missed && zh && label != "":
		return fmt.Sprintf("错过了提醒：%s。本应在 %s 响铃，当时我没有运行。", label, due)
	case e.missed && zh:
		return fmt.Sprintf("错过了%s的定时器。本应在 %s 响铃，当时我没有运行。", lasts(e.length(), true), due)
	case e.missed && label != "":
		return fmt.Sprintf("Missed: %s. It was due at %s, when I was not running.", label, due)
	case e.missed:
		return fmt.Sprintf("Missed: your timer of %s. It was due at %s, when I was not running.", lasts(e.length(), false), due)
	case zh && label != "":
		return fmt.Sprintf("时间到：%s。", label)
	case zh:
		return fmt.Sprintf("时间到，%s的定时器响了。", lasts(e.length(), true))
	case label != "":
		return fmt.Sprintf("Time is up: %s.", label)
	}
	return fmt.Sprintf("Time is up. Your timer of %s is done.", lasts(e.length(), false))
}

// setText confirms a new timer.
func setText(e *entry, zh bool) string {
	what := named(e, zh)
	if zh {
		return fmt.Sprintf("%s已设好，%s后（%s）响铃。", what, lasts(e.length(), true), e.Due.Local().Format("15:04"))
	}
	return fmt.Sprintf("%s is set and rings in %s, at %s.", what, lasts(e.length(), false), e.Due.Local().Format("15:04"))
}

// named is how a timer is called in a sentence.
func named(e *entry, zh bool) string {
	switch {
	case zh && e.Label != "":
		return fmt.Sprintf("定时器 %s“%s”", e.ID, e.Label)
	case zh:
		return "定时器 " + e.ID
	case e.Label != "":
		return fmt.Sprintf("Timer %s (%s)", e.ID, e.Label)
	}
	return "Timer " + e.ID
}

// listLine is a timer in a list.
func listLine(e *entry, now time.Time, zh bool) string {
	switch {
	case e.ringing && zh:
		return named(e, zh) + "：正在响"
	case e.ringing:
		return named(e, zh) + ": ringing now"
	case zh:
		return fmt.Sprintf("%s：还有%s", named(e, zh), lasts(max(e.at.Sub(now), time.Second), true))
	}
	return fmt.Sprintf("%s: %s left", named(e, zh), lasts(max(e.at.Sub(now), time.Second), false))
}

// lasts is a duration in words, rounded to seconds: "1 hour 5 minutes".
func lasts(d time.Duration, zh bool) string {
	s := int(d.Round(time.Second) / time.Second)
	var parts []string
	for _, u := range []struct {
		size   int
		zh, en string
	}{{86400, "天", "day"}, {3600, "小时", "hour"}, {60, "分钟", "minute"}, {1, "秒", "second"}} {
		n := s / u.size
		s %= u.size
		switch {
		case n == 0:
		case zh:
			parts = append(parts, fmt.Sprintf("%d%s", n, u.zh))
		case n == 1:
			parts = append(parts, "1 "+u.en)
		default:
			parts = append(parts, fmt.Sprintf("%d %ss", n, u.en))
		}
	}
	switch {
	case len(parts) > 0 && zh:
		return strings.Join(parts, "")
	case len(parts) > 0:
		return strings.Join(parts, " ")
	case zh:
		return "0秒"
	}
	return "0 seconds"
}
