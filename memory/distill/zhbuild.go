package distill

import (
	"strings"

	"homeagent/agent/pattern"
)

var (
	zhNotName = pattern.New(`^(?:你|我|他|她|外卖|车|他们|什么|人|大家|个|一|不|醒|好|起来)`)
	zhCount   = pattern.New(`^(?:一名|一个|一位|个|位|名)`)
	zhFuture  = pattern.New(`明|后天|下个?[周星礼月]|下下|要|会|打算|准备|计划|约`)
)

// clause finds the facts of one clause.
func (g *zhGrammar) clause(text string) []Fact {
	text = strings.TrimRight(text, "啊呀呢哦吧嘛啦哈喔")
	for _, rule := range rawRules {
		if m := rule.re.FindStringSubmatch(text); m != nil {
			if facts, ok := rule.f(g, m, ""); ok {
				return facts
			}
		}
	}
	t := past
	if zhFuture.MatchString(text) {
		t = future
	}
	d := zhWhen(g.lead+text, g.event.Time, t)
	if d.found && d.text == "" {
		g.lead = text
		return nil
	}
	g.lead = ""
	clean := d.text
	if d.found {
		clean = strings.TrimLeft(clean, "的在，")
	}
	clean = zhLead.ReplaceAllString(clean, "")
	for _, rule := range zhRules {
		m := rule.re.FindStringSubmatch(clean)
		if m == nil {
			continue
		}
		if facts, ok := rule.f(g, m, d.result()); ok {
			return facts
		}
	}
	// The subject goes on: "我叫李明，小名明明" and "我女儿，…".
	if s, ok := g.person(clean); ok && s != nil {
		g.subject = s
		return s.take()
	}
	// What is not understood may still have said who is spoken of.
	g.subject = nil
	if m := zhWho.FindString(clean); m != "" {
		g.subject = g.findSubject(m)
	}
	return nil
}

// zhWho is a person at the beginning of a clause.
var zhWho = pattern.New(`^我(?:们家|家)?的?` + zhKin)

// zhIdle is done for an hour and forgotten.
var zhIdle = pattern.New(`^(?:电视|手机|书|电影|视频|剧|报纸|新闻|病|医生|什么|直播|比赛|球|作业|饭|菜)$|^(?:不|没)`)

func (s *zhSubject) take() []Fact {
	facts := s.facts
	s.facts = nil
	return facts
}

// simple makes the fact of a subject's text, a relation and an object's text.
func (g *zhGrammar) simple(subject, relation, object, kind string) []Fact {
	s := g.findSubject(subject)
	if s == nil {
		return nil
	}
	g.subject = s
	facts := s.take()
	o, ok := zhObject(object)
	if kind == "number" || kind == "date" {
		o, ok = strings.TrimSpace(object), true
	}
	if !ok {
		return facts
	}
	return append(facts, fact(s.name, relation, o, s.kind, kind))
}

// relative says that name is owner's role.
func (g *zhGrammar) relative(name, owner, role string) []Fact {
	role = strings.TrimPrefix(strings.TrimPrefix(role, "那只"), "这只")
	o := g.findSubject(strings.TrimSuffix(owner, "家"))
	if o == nil || zhPronoun[name] || zhNotName.MatchString(name) || zhNoName[name] || strings.HasSuffix(name, "了") {
		return nil
	}
	if m := zhKinsRole.FindStringSubmatch(role); m != nil { // 儿子的老师
		o = &zhSubject{name: g.own(o.name, zhRoleName(m[1]))}
		role = m[2]
	}
	role = zhRoleName(role)
	// A role is no name: 我妈妈是老师.
	if zhIsRole.MatchString(name) || zhJobEnd.MatchString(name) {
		return []Fact{fact(g.own(o.name, role), "是", name, zhKind(role), "")}
	}
	if g.bareNoun(name) {
		return nil
	}
	g.subject = &zhSubject{name: name, kind: zhKind(role)}
	return []Fact{fact(o.name, "的"+role+"是", name, "person", zhKind(role))}
}

var (
	zhKinsRole = pattern.New(`^(` + zhKin + `)的?(` + zhRole + `)$`)
	zhIsRole   = pattern.New(`^(?:` + zhRole + `|护士|工程师|程序员|厨师|警察|教师|公务员|警官|设计师|歌手|演员|军人|农民|工人)$`)
	zhJobEnd   = pattern.New(`^[\p{Han}]{2,4}(?:老师|教师|医生|护士|工程师|律师|司机|师|员|学生|教授)$`)
	zhAdj      = pattern.New(`^(?:很|最|特别|非常|真|太|个|一个|好|真正|全|第一|谁|怎)|(?:的|人|了|着)$`)
)

// bareNoun tells whether what stands where a name should is none.
func (g *zhGrammar) bareNoun(s string) bool { return zhAdj.MatchString(s) || zhDigitsIn(s) }

func zhDigitsIn(s string) bool { return strings.ContainsAny(s, "0123456789") }

func zhSame(g *zhGrammar, m []string, _ string) ([]Fact, bool) {
	b := m[3]
	if m[2] != "" {
		b = m[2]
	}
	whole := m[0]
	nick := strings.Contains(whole, "小名") || strings.Contains(whole, "外号") || strings.Contains(whole, "昵称") ||
		strings.Contains(whole, "英文名") || strings.Contains(whole, "大名") || strings.Contains(whole, "又叫") || strings.Contains(whole, "也叫")
	if strings.TrimSpace(b) == "" || zhPronoun[b] || zhNotName.MatchString(b) {
		return nil, false
	}
	if !nick && (!zhNameLike(m[1]) || !zhNameLike(b)) {
		return nil, false // 那就是…, 问题就是…
	}
	s := g.findSubject(m[1])
	if s == nil || g.bareNoun(b) {
		return nil, false
	}
	g.subject = s
	relation := "就是"
	for _, word := range []string{"小名", "外号", "昵称", "英文名", "大名"} {
		if strings.Contains(whole, word) {
			relation = "的" + word + "是"
		}
	}
	return append(s.take(), fact(s.name, relation, b, "person", "person")), true
}

func zhNoLonger(g *zhGrammar, m []string, _ string) ([]Fact, bool) {
	facts := g.simple(m[1], "不再"+m[2], m[3], "")
	for i := range facts {
		facts[i].Ends = m[2]
	}
	return facts, true
}

// zhThing reads the name of a thing and whose it is.
func (g *zhGrammar) zhThing(text string) (string, bool) {
	text = zhTrail.ReplaceAllString(text, "")
	for _, who := range []string{"我们", "我"} { // 发票我都收在…
		if rest, ok := strings.CutSuffix(text, who); ok && rest != "" {
			text = rest
		}
	}
	if text == "我" || strings.HasPrefix(text, "他") || strings.HasPrefix(text, "她") || strings.HasPrefix(text, "它") || strings.HasPrefix(text, "你") {
		return "", false
	}
	for _, own := range []string{"我们家的", "我们的", "我家的", "我家", "我的", "我们家", "咱家的", "家里的", "咱们的"} {
		if rest, ok := strings.CutPrefix(text, own); ok && rest != "" {
			if !g.speaks() {
				return "", false
			}
			text = rest
			if own == "我的" && g.event.Speaker != "" {
				text = g.own(g.first(), rest)
			}
			break
		}
	}
	if s, ok := g.person(text); ok || s != nil {
		return "", false // where somebody is now is nothing to keep
	}
	object, ok := zhObject(text)
	return object, ok && !strings.HasPrefix(object, "我") && !zhPlaceNoun.MatchString(object)
}

var zhPlaceNoun = pattern.New(`^(?:现在|目前|人|时间|重点|问题|关键|原因|会议|活动|聚会|比赛|考试)$`)

func zhPut(g *zhGrammar, m []string, when string) ([]Fact, bool) {
	if m[1] != "" && g.findSubject(m[1]) == nil && zhTrail.ReplaceAllString(m[1], "") != "" && !zhTheirsPut.MatchString(m[1]) {
		return nil, true
	}
	return g.lies(m[2], m[3]), true
}

// zhTheirsPut are others that put things somewhere.
var zhTheirsPut = pattern.New(`^(?:我们|我|他|她|阿姨|[\p{Han}]{2,3})`)

func zhLies(g *zhGrammar, m []string, _ string) ([]Fact, bool) {
	if m[2] == "收" || m[2] == "存" || m[2] == "停" {
		if zhHeadSelf.MatchString(m[1]) {
			return nil, true
		}
	}
	return g.lies(m[1], m[3]), true
}

var zhHeadSelf = pattern.New(`^(?:我|我们|他|她)$`)

func zhLies2(g *zhGrammar, m []string, _ string) ([]Fact, bool) { return g.lies(m[1], m[2]), true }

func (g *zhGrammar) lies(thing, place string) []Fact {
	t, ok := g.zhThing(thing)
	if !ok {
		return nil
	}
	p, ok := zhObject(strings.TrimSuffix(place, "了"))
	if !ok || zhNoPlace.MatchString(p) {
		return nil
	}
	p = strings.TrimPrefix(p, "我们家")
	p = strings.TrimPrefix(p, "了")
	return []Fact{fact(t, "在", p, "thing", "place")}
}

var zhNoPlace = pattern.New(`^(?:一起|心上|心里|第一位|路上|手上|手里|网上|事情上|首位|一边|这里|那里|这儿|那儿|这边|那边|哪)|^路上$`)

func zhMoved(g *zhGrammar, m []string, when string) ([]Fact, bool) {
	facts := g.simple(m[1], "搬到", m[3], "place")
	if m[2] != "" && len(facts) > 0 {
		facts = append(facts, g.simple(m[1], "以前住在", m[2], "place")...)
	}
	return dated(facts, when), true
}

func zhWorks(g *zhGrammar, m []string, when string) ([]Fact, bool) {
	if when != "" && !strings.Contains(m[3], "读") {
		return nil, true // today only
	}
	relation := "在" + m[3] + "于"
	switch {
	case m[3] == "上班" || m[3] == "工作":
		relation = "工作于"
	case m[3] == "上学" || m[3] == "读书" || m[3] == "念书":
		relation = "就读于"
	case strings.HasPrefix(m[3], "当") || strings.HasPrefix(m[3], "做"):
		job := strings.TrimPrefix(strings.TrimPrefix(m[3], "当"), "做")
		if !zhIsRole.MatchString(job) {
			return nil, false
		}
		facts := g.simple(m[1], "工作于", m[2], "place")
		if len(facts) > 0 {
			facts = append(facts, g.simple(m[1], "是", job, "")...)
		}
		return facts, true
	case strings.HasPrefix(m[3], "读"):
		facts := g.simple(m[1], "就读于", m[2], "place")
		if len(facts) > 0 {
			facts = append(facts, g.simple(m[1], "读", strings.TrimPrefix(m[3], "读"), "")...)
		}
		return facts, true
	}
	return g.simple(m[1], relation, m[2], "place"), true
}

func zhLikes(g *zhGrammar, m []string, _ string) ([]Fact, bool) {
	verb := m[2]
	switch verb {
	case "爱", "热爱", "迷上了":
		verb = "喜欢"
	case "不爱", "不太喜欢":
		verb = "不喜欢"
	case "最怕", "害怕":
		verb = "怕"
	}
	if verb == "怕" && zhAfraid.MatchString(m[4]) || m[2] == "爱" && (m[3] == "" && len([]rune(m[4])) < 2 || strings.HasPrefix(m[4], "你")) {
		return nil, true
	}
	// 喜欢吃 with the object behind; 喜欢看书 keeps its verb.
	return g.simple(m[1], verb+m[3], m[4], ""), true
}

// zhAfraid is worry and no fear of a thing.
var zhAfraid = pattern.New(`^(?:来不及|忘|迟到|你|他|她|赶不上|不|没|会|太)`)

func zhPlan(g *zhGrammar, m []string, when string) ([]Fact, bool) {
	if when == "" || len(when) == 4 || zhFeel.MatchString(m[2]) {
		return nil, true
	}
	s := g.findSubject(m[1])
	if s == nil {
		return nil, true
	}
	g.subject = s
	facts := s.take()
	what := zhObjectEnd.ReplaceAllString(m[2], "")
	relation, object := "要", what
	if v := zhPlanVerb.FindString(what); v != "" && len(v) < len(what) {
		relation, object = "要"+v, what[len(v):]
	}
	o, ok := zhObject(object)
	if !ok {
		return facts, true
	}
	return dated(append(facts, fact(s.name, relation, o, s.kind, "event")), when), true
}

var (
	zhPlanVerb = pattern.New(`^(?:去看|去参加|去接|去|参加|看|见|来|接|送|做|开|买|飞|回|考|交|上)`)
	zhFeel     = pattern.New(`^(?:好|是|有点|下雨|不|没|很|热|冷|累|死|命|了|点|人)`)
)

func zhWent(g *zhGrammar, m []string, when string) ([]Fact, bool) {
	if did := zhWentDid.FindStringSubmatch(m[4]); m[3] == "去" && did != nil {
		return dated(g.simple(m[1], did[1]+"了", did[2], ""), when), true
	}
	if m[3] == "去" && (when == "" || !strings.HasSuffix(m[4], "了")) && !zhTrip.MatchString(m[4]) {
		return nil, true
	}
	place, did := strings.TrimSuffix(m[4], "了"), ""
	if at := zhThere.FindStringSubmatchIndex(place); at != nil {
		did = place[at[4]:at[5]]
		place = place[at[2]:at[3]]
	}
	s := g.findSubject(m[1])
	if s == nil {
		return nil, true
	}
	g.subject = s
	facts := s.take()
	if o, ok := zhObject(place); ok {
		verb := "去了"
		if m[3] == "去过" || m[3] == "到过" || m[3] == "来过" {
			verb = "去过"
		}
		facts = append(facts, fact(s.name, verb, o, s.kind, "place"))
	}
	if did != "" {
		if d := zhRuleDid.FindStringSubmatch(did); d != nil {
			if o, ok := zhObject(d[2]); ok {
				facts = append(facts, fact(s.name, d[1]+"了", o, s.kind, ""))
			}
		}
	}
	return dated(facts, when), true
}

var (
	// zhTrip is where one goes without 了: 昨天去爬山.
	zhTrip = pattern.New(`^(?:爬山|旅游|医院|体检|出差|露营|钓鱼|滑雪).{0,6}$`)
	// zhWentDid is 去 with what was done: 去打了疫苗.
	zhWentDid = pattern.New(`^(买|看|吃|参加|做|打|学|拍|见|接|取|拿|办|修)了(.{1,14})$`)
	// zhThere cuts 超市买了牛奶 in two.
	zhThere   = pattern.New(`^(.{1,8}?)((?:买|看|吃|喝|参加|做|打|学|拍|见|接|玩|取|拿|办|修).{1,14})$`)
	zhRuleDid = pattern.New(`^(买|看|吃|喝|参加|做|打|学|拍|见|接|玩|取|拿|办|修)(?:了)?(.{1,14})$`)
)

func zhDid(g *zhGrammar, m []string, when string) ([]Fact, bool) {
	facts := g.simple(m[1], m[3]+m[4], m[5], "")
	return dated(facts, when), len(facts) > 0
}

func zhOwns(g *zhGrammar, m []string, _ string) ([]Fact, bool) {
	s := g.findSubject(m[1])
	if s == nil {
		return nil, true
	}
	g.subject = s
	object := zhObjectEnd.ReplaceAllString(m[2], "")
	if zhAbstract.MatchString(object) {
		return nil, true
	}
	g.pet = ""
	if pet := zhPetEnd.FindString(object); pet != "" {
		g.pet = zhRoleName(pet)
	}
	return append(s.take(), fact(s.name, "有", object, s.kind, "")), true
}

var zhPetEnd = pattern.New(zhPet + `$`)

var zhAbstract = pattern.New(`问题|想法|办法|建议|请求|疑问|消息|事$|主意|要求|会议|约会|梦|计划|感觉|地方|机会|小时|月|星期|好处|坏处|优点|缺点|任务`)
