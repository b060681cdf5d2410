package offline

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"homeagent/agent/intent"
)

// both picks the sentence of the language.
func both(lang, zh, en string) string {
	if lang == "zh" {
		return zh
	}
	return en
}

var zhNumerals = []rune("零一二三四五六七八九十")

// zhNumber says 0 to 99 in Chinese.
func zhNumber(n int) string {
	switch {
	case n <= 10:
		return string(zhNumerals[n])
	case n < 20:
		return "十" + string(zhNumerals[n-10])
	case n%10 == 0:
		return string(zhNumerals[n/10]) + "十"
	}
	return string(zhNumerals[n/10]) + "十" + string(zhNumerals[n%10])
}

// clockWords says a time of day: 下午三点二十分, "3:20 PM".
func clockWords(t time.Time, lang string) string {
	if lang != "zh" {
		return t.Format("3:04 PM")
	}
	part := "晚上"
	for _, p := range []struct {
		until int
		name  string
	}{{5, "凌晨"}, {9, "早上"}, {12, "上午"}, {13, "中午"}, {18, "下午"}} {
		if t.Hour() < p.until {
			part = p.name
			break
		}
	}
	hour := t.Hour()
	if hour > 12 {
		hour -= 12
	}
	s := part + zhNumber(hour) + "点"
	if hour == 2 {
		s = part + "两点"
	}
	switch m := t.Minute(); {
	case m == 0:
		return s + "整"
	case m < 10:
		return s + "零" + zhNumber(m) + "分"
	default:
		return s + zhNumber(m) + "分"
	}
}

var zhWeekdays = []string{"星期日", "星期一", "星期二", "星期三", "星期四", "星期五", "星期六"}

func dateWords(t time.Time, lang string) string {
	if lang != "zh" {
		return t.Format("Monday, January 2, 2006")
	}
	return fmt.Sprintf("%d年%d月%d日，%s", t.Year(), t.Month(), t.Day(), zhWeekdays[t.Weekday()])
}

// whenWords says a moment with the day where it is not today.
func whenWords(t, now time.Time, lang string) string {
	clock := strings.TrimSuffix(clockWords(t, lang), "整")
	days := int(midnight(t).Sub(midnight(now)).Hours()+12) / 24
	switch {
	case days == 0:
		return both(lang, "今天"+clock, "at "+clock)
	case days == 1:
		return both(lang, "明天"+clock, "tomorrow at "+clock)
	}
	return both(lang, fmt.Sprintf("%d月%d日%s", t.Month(), t.Day(), clock), t.Format("on Monday, January 2 at ")+clock)
}

func midnight(t time.Time) time.Time {
	y, m, d := t.Date()
	return time.Date(y, m, d, 0, 0, 0, 0, t.Location())
}

// lengthWords says a length of time in seconds.
func lengthWords(seconds int, lang string) string {
	var parts []string
	for _, u := range []struct {
		size       int
		zh, en     string
		skipIfMore bool
	}{{86400, "天", "day", false}, {3600, "小时", "hour", false}, {60, "分钟", "minute", false}, {1, "秒", "second", false}} {
		n := seconds / u.size
		if n == 0 {
			continue
		}
		seconds %= u.size
		en := fmt.Sprintf("%d %s", n, u.en)
		if n > 1 {
			en += "s"
		}
		parts = append(parts, both(lang, fmt.Sprintf("%d%s", n, u.zh), en))
	}
	if lang == "zh" {
		return strings.Join(parts, "")
	}
	return joinNames(parts, "en")
}

// joinNames says a list: 甲、乙和丙; "a, b and c".
func joinNames(names []string, lang string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	head, last := names[:len(names)-1], names[len(names)-1]
	return strings.Join(head, both(lang, "、", ", ")) + both(lang, "和", " and ") + last
}

// upper makes the first letter of an English sentence large.
func upper(s string) string {
	if s == "" {
		return s
	}
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + s[n:]
}

// ended closes a text that came from elsewhere with a full stop.
func ended(s, lang string) string {
	s = strings.TrimSpace(s)
	if s == "" || strings.ContainsRune("。.!！?？…", []rune(s)[len([]rune(s))-1]) {
		return s
	}
	return s + both(lang, "。", ".")
}

func timePassed(c intent.Clock, lang string) string {
	return both(lang,
		fmt.Sprintf("今天的%s已经过了，没有设提醒。要是明天，请说“明天”。", c),
		fmt.Sprintf("%s today has already passed, so no reminder was set. If you mean tomorrow, please say so.", c))
}

func tooLong(lang string) string {
	return both(lang, "这段话太长了，没有记。请用一句话说。", "That is too long, so I did not keep it. Please say it in one sentence.")
}

func cannotAsk(lang string) string {
	return both(lang, "这句话我听懂了，但没能转成操作，什么也没做。", "I understood that but could not make a request of it; nothing was done.")
}

func noTool(name, lang string) string {
	return both(lang,
		fmt.Sprintf("这件事要用工具 %s，现在没有它，所以什么也没做。请检查对应的插件是不是启用了（homectl status 能看到）。", name),
		fmt.Sprintf("That needs the tool %s, which is not there now, so nothing was done. Check that its plugin is on (homectl status shows it).", name))
}

func (p *Provider) nothingAsked(lang string) string {
	return both(lang, "我在，请说。", "I am here. What can I do?")
}

// canDo is what the box does without a model, by examples.
func canDo(lang string) string {
	return both(lang,
		"我能做这些：报时间和日期，定时和提醒（“十分钟后提醒我关火”），开关设备（“打开客厅灯”），记事（“记住钥匙在门垫下面”“钥匙在哪”），调音量，报告状态。",
		`I can tell the time and date, set timers and reminders ("remind me in ten minutes to check the oven"), switch devices ("turn on the living room lamp"), remember things ("remember that the key is under the mat", "where is the key"), change the volume and report my status.`)
}

// modelState says why there is no model behind the answer.
func (p *Provider) modelState(lang string) string {
	if p.opt.Unreachable != nil {
		if why := p.opt.Unreachable(lang); why != "" {
			return why
		}
	}
	return both(lang,
		"还没有接大语言模型；要接上，请运行 homectl llm set deepseek（它会问你要密钥）。",
		"No language model is configured; to add one, run `homectl llm set deepseek` (it asks for the key).")
}

// notUnderstood answers what is no intent. Calls that somebody else made in
// this turn are told, because nobody else will.
func (p *Provider) notUnderstood(lang string, made []*madeCall) string {
	if len(made) == 0 {
		return both(lang, "这个我自己答不了。", "I cannot answer that by myself. ") + p.modelState(lang) + both(lang, "", " ") + canDo(lang)
	}
	var lines []string
	for _, c := range made {
		lines = append(lines, fmt.Sprintf("%s: %s", c.Name, statusWord(c, lang)))
	}
	return both(lang, "答到一半，", "The answer broke off in the middle. ") + p.modelState(lang) +
		both(lang, "这次已经调用过的工具：", " Tools that were called so far: ") + strings.Join(lines, both(lang, "；", "; ")) + both(lang, "。", ".")
}

func statusWord(c *madeCall, lang string) string {
	switch c.status {
	case "done":
		return both(lang, "已完成", "done")
	case "failed":
		return both(lang, "失败", "failed")
	case "denied":
		return both(lang, "没有得到允许", "not allowed")
	case "not_run":
		return both(lang, "没有执行", "not run")
	}
	return both(lang, "不确定有没有执行", "it may or may not have happened")
}

// problem tells why an understood command was not carried out.
func (p *Provider) problem(m intent.Match, lang string) string {
	var names []string
	ids := m.Choices
	if m.Problem == intent.NoDevice {
		ids = nil
		for _, d := range p.opt.Home.Devices {
			ids = append(ids, d.Name)
		}
	}
	for _, id := range ids[:min(len(ids), 8)] {
		if d, ok := p.opt.Home.Device(id); ok {
			names = append(names, d.Called(lang))
		}
	}
	if m.Problem == intent.WhichDevice {
		return both(lang,
			"不止一个设备合适，请说清楚是哪一个："+joinNames(names, lang)+"。",
			"Several devices fit. Which one do you mean: "+joinNames(names, lang)+"?")
	}
	if len(names) == 0 {
		return both(lang, "家里还没有设备。请在 config.yaml 的 home 里添加。", "There are no devices yet. Add some to the section home of config.yaml.")
	}
	return both(lang,
		fmt.Sprintf("家里没有“%s”这个设备，什么也没做。现有：%s。要添加，请写进 config.yaml 的 home。", m.Unknown, strings.Join(names, "、")),
		fmt.Sprintf("There is no device called %q here, so nothing was done. There are: %s. To add one, write it into the section home of config.yaml.", m.Unknown, strings.Join(names, ", ")))
}
