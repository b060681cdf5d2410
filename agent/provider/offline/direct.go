package offline

import (
	"strconv"

	"homeagent/agent/intent"
)

// direct answers an intent that needs no tool.
func (p *Provider) direct(m intent.Match, lang, text string) string {
	now := p.opt.Now()
	switch m.Intent {
	case "time":
		return both(lang, "现在是"+clockWords(now, lang)+"。", "It is "+clockWords(now, lang)+".")
	case "date":
		return dateAnswer(p, m, lang)
	case "stop":
		return both(lang, "好。", "OK.")
	case "status":
		return p.status(lang)
	case "help":
		return p.help(lang)
	case "control":
		return both(lang, "现在没有等着确认或取消的事。", "Nothing is waiting to be confirmed or cancelled.")
	case "reminder_when":
		return both(lang, "什么时候提醒？请连时间一起说，例如“十分钟后提醒我关火”。", `When? Please say it with the time, such as "remind me in ten minutes to check the oven".`)
	case "timer_how_long":
		return both(lang, "计时多久？请连时间一起说，例如“计时十分钟”。", `For how long? Please say it with the time, such as "set a timer for ten minutes".`)
	}
	return both(lang, "听懂了，不过这句话没有配置要做的事。", "I understood, but nothing is configured to be done for that.")
}

func dateAnswer(p *Provider, m intent.Match, lang string) string {
	days, err := strconv.Atoi(m.Slots["day"])
	if err != nil {
		days = 0
	}
	date := dateWords(p.opt.Now().AddDate(0, 0, days), lang)
	en := "It is "
	zh := "今天是"
	switch {
	case days == 1:
		zh, en = "明天是", "Tomorrow is "
	case days == 2:
		zh, en = "后天是", "The day after tomorrow is "
	case days == 3:
		zh, en = "大后天是", "In three days it is "
	case days == -1:
		zh, en = "昨天是", "Yesterday was "
	case days == -2:
		zh, en = "前天是", "The day before yesterday was "
	case days == 0:
		en = "Today is "
	}
	return both(lang, zh+date+"。", en+date+".")
}

func (p *Provider) status(lang string) string {
	s := ""
	if p.opt.Status != nil {
		s = p.opt.Status(lang)
	}
	if s == "" {
		s = both(lang, "我在正常运行。", "I am up and running.")
	}
	return ended(s, lang) + both(lang, "", " ") + p.modelState(lang)
}

func (p *Provider) help(lang string) string {
	return canDo(lang) + both(lang, "", " ") + p.modelState(lang)
}
