package offline

import (
	"strings"

	"homeagent/agent/intent"
	"homeagent/agent/tool"
)

// outcome tells how the steps ended. Steps that ended alike share a sentence.
func (p *Provider) outcome(m intent.Match, steps []*step, text, lang string) string {
	groups := map[tool.Status][]*step{}
	for _, s := range steps {
		st := s.made.status
		switch st {
		case tool.Done, tool.Failed, tool.Denied, tool.NotRun:
		default:
			st = tool.Unknown
		}
		groups[st] = append(groups[st], s)
	}
	var out []string
	for _, st := range []tool.Status{tool.Done, tool.Failed, tool.Denied, tool.NotRun, tool.Unknown} {
		if g := groups[st]; len(g) > 0 {
			out = append(out, p.group(m, st, g, text, lang))
		}
	}
	return strings.Join(out, both(lang, "", " "))
}

func (p *Provider) group(m intent.Match, st tool.Status, g []*step, text, lang string) string {
	what := p.deed(m, g, lang)
	why := reasons(g)
	with := func(zh, en string) string {
		if why == "" {
			return both(lang, zh+"。", en+".")
		}
		return ended(both(lang, zh+"："+why, en+": "+why), lang)
	}
	switch st {
	case tool.Done:
		return p.done(m, g, text, lang)
	case tool.Failed:
		return with("没能"+what, "I could not "+what)
	case tool.Denied:
		return with("没有得到允许"+what, "I was not allowed to "+what)
	case tool.NotRun:
		return both(lang, "没有"+what+"，因为这一轮先结束了。", "I did not "+what+", because the turn ended first.")
	}
	return both(lang, "不确定有没有"+what+"，请看一下再说。", "I do not know whether I did "+what+"; please check.")
}

// reasons are the different texts of results that did not succeed.
func reasons(g []*step) string {
	var out []string
	seen := map[string]bool{}
	for _, s := range g {
		if t := strings.TrimSpace(s.made.text); t != "" && !seen[t] {
			seen[t] = true
			out = append(out, t)
		}
	}
	return strings.Join(out, "; ")
}

// deed says what was asked for, to stand after "没能" and "I could not".
func (p *Provider) deed(m intent.Match, g []*step, lang string) string {
	if state, ok := switched(g); ok {
		names := p.names(g, lang)
		if state == "on" {
			return both(lang, "打开"+names, "turn on "+names)
		}
		return both(lang, "关掉"+names, "turn off "+names)
	}
	switch m.Intent {
	case "timer_set":
		return both(lang, "设好计时", "set the timer")
	case "reminder_set":
		return both(lang, "设好提醒", "set the reminder")
	case "timer_list":
		return both(lang, "查到定时器", "list the timers")
	case "timer_cancel":
		return both(lang, "取消定时器", "cancel the timer")
	case "remember", "told":
		return both(lang, "记下来", "keep that")
	case "recall":
		return both(lang, "查到记忆", "look that up")
	case "forget":
		return both(lang, "删掉那条记忆", "forget that")
	case "volume_set", "volume_up", "volume_down":
		return both(lang, "调整音量", "change the volume")
	}
	return both(lang, "完成", "do it")
}

// switched reports steps that all put devices into one state, unchanged on the way.
func switched(g []*step) (state string, ok bool) {
	for _, s := range g {
		to, _ := s.Args["state"].(string)
		if s.Device == "" || to != "on" && to != "off" || state != "" && to != state || len(s.made.Args) > 0 && !sameJSON(s.made.Args, s.args) {
			return "", false
		}
		state = to
	}
	return state, state != ""
}

func (p *Provider) names(g []*step, lang string) string {
	var names []string
	for _, s := range g {
		name := s.Device
		if d, ok := p.opt.Home.Device(s.Device); ok {
			name = d.Called(lang)
		}
		names = append(names, both(lang, name, "the "+name))
	}
	return joinNames(names, lang)
}

// done tells what has been done.
func (p *Provider) done(m intent.Match, g []*step, text, lang string) string {
	if state, ok := switched(g); ok {
		names := p.names(g, lang)
		are := " is "
		all := ""
		if len(g) > 1 {
			are, all = " are ", "都"
		}
		if state == "on" {
			return both(lang, names+all+"打开了。", upper(names)+are+"on.")
		}
		return both(lang, names+all+"关掉了。", upper(names)+are+"off.")
	}
	first := g[0]
	unchanged := first.same(first.made.Args)
	switch m.Intent {
	case "timer_set", "reminder_set":
		if unchanged {
			return p.timerDone(m, first, lang)
		}
	case "remember":
		if unchanged {
			return p.remembered(m, lang)
		}
	case "told":
		if unchanged {
			return both(lang, "好，记下了。", "OK, noted.")
		}
	case "recall":
		return recalled(m, first.made.text, text, lang)
	case "forget":
		return forgotten(first.made.text, lang)
	}
	return toldBy(first.made.text, lang)
}

// toldBy passes a tool's own words on, in whatever language they are.
func toldBy(text, lang string) string {
	if text = strings.TrimSpace(text); text == "" {
		return both(lang, "好了。", "Done.")
	}
	return ended(text, lang)
}

func (p *Provider) timerDone(m intent.Match, s *step, lang string) string {
	seconds, _ := s.Args["seconds"].(int)
	label, _ := s.Args["label"].(string)
	now := p.opt.Now()
	if m.Intent == "timer_set" {
		length := lengthWords(seconds, lang)
		if label != "" {
			return both(lang, "开始计时"+length+"（"+label+"）。", "The "+label+" timer is set for "+length+".")
		}
		return both(lang, "开始计时"+length+"。", "The timer is set for "+length+".")
	}
	task := turned(label, lang)
	if c, ok := s.Args["seconds"].(intent.Clock); ok {
		at, _ := c.Next(now)
		when := whenWords(at, now, lang)
		if task == "" {
			return both(lang, "好，"+when+"叫你。", "OK, I will call you "+when+".")
		}
		return both(lang, "好，"+when+"提醒你"+task+"。", "OK, I will remind you "+when+": "+task+".")
	}
	length := lengthWords(seconds, lang)
	if task == "" {
		return both(lang, "好，"+length+"后叫你。", "OK, I will call you in "+length+".")
	}
	return both(lang, "好，"+length+"后提醒你"+task+"。", "OK, I will remind you in "+length+": "+task+".")
}

func (p *Provider) remembered(m intent.Match, lang string) string {
	for _, slot := range []string{"fact", "clause", "statement"} {
		if s := strings.TrimRight(m.Slots[slot], ".。!！ "); s != "" {
			return both(lang, "记住了："+turned(s, lang)+"。", "I will remember that "+turned(s, lang)+".")
		}
	}
	return both(lang, "记住了。", "I will remember that.")
}
