package distill

import (
	"regexp"
	"strings"
)

// zhRule is one kind of Chinese clause. f is given the groups and returns ok
// where the clause was of that kind, with or without facts.
type zhRule struct {
	name string
	re   *regexp.Regexp
	f    func(g *zhGrammar, m []string, when string) (facts []Fact, ok bool)
}

// rawRules read a clause with its dates in it, the first that fits.
var rawRules = []zhRule{
	{"telephone", regexp.MustCompile(`^(.{0,12}?)的?(?:新)?(?:手机号码|手机号|电话号码|电话|手机|联系方式|座机)(?:号码)?(?:是|改成|换成|为)了?\s*(\+?[0-9][0-9 \-]{4,18}[0-9])$`),
		func(g *zhGrammar, m []string, _ string) ([]Fact, bool) {
			return g.simple(m[1], "的电话是", m[2], "number"), true
		}},
	{"birthday", regexp.MustCompile(`^(.{0,12}?)的?(?:阳历|农历|阴历)?生日(?:是|在)?(?:每年)?((?:[12][0-9]{3}年)?(?:农历|阴历)?[0-9零一二三四五六七八九十正腊冬]{1,3}月(?:初)?[0-9零一二三四五六七八九十廿]{1,3}[日号]?)$`),
		func(g *zhGrammar, m []string, _ string) ([]Fact, bool) {
			return g.simple(m[1], "的生日是", m[2], "date"), true
		}},
	{"born", regexp.MustCompile(`^(.{1,10}?)(?:是)?(?:(?:出生于|生于)(.+)|([12][0-9]{3}年(?:.{1,3}月)?(?:.{1,3}[日号])?)(?:出生|生)的?)$`),
		func(g *zhGrammar, m []string, _ string) ([]Fact, bool) {
			return g.simple(m[1], "出生于", m[2]+m[3], "date"), true
		}},
	{"age", regexp.MustCompile(`^(.{0,10}?)(?:今年|现在|已经|刚|刚满|快)*([0-9]{1,3}|[一二三四五六七八九十]{1,3})岁(?:半)?了?$`),
		func(g *zhGrammar, m []string, _ string) ([]Fact, bool) {
			return g.simple(m[1], "的年龄是", m[2]+"岁", "number"), true
		}},
	{"habit", regexp.MustCompile(`^(.{0,10}?)(每(?:天|个?周|个?星期|个?月|年|晚)[一二三四五六日末]?(?:早上|上午|中午|下午|晚上)?)(?:都|要|会|得|固定)*((?:去|上|学|练|打|跑|吃|收|来|打扫|做|开|游|浇|给).{1,16})$`),
		func(g *zhGrammar, m []string, _ string) ([]Fact, bool) {
			return g.simple(m[1], "的习惯是", m[2]+m[3], "event"), true
		}},
}

// zhRules read a clause without its dates, the first that fits.
var zhRules = []zhRule{
	{"same", regexp.MustCompile(`^(.{0,6}?)(?:其实)?(?:就是|和(.{2,6}?)是同一个人|又叫|也叫|的?小名(?:叫|是)?|的?外号(?:叫|是)?|的?昵称(?:叫|是)?|的?英文名(?:叫|是)?|的?大名(?:叫|是)?)(.{0,6})$`), zhSame},
	{"my teacher", regexp.MustCompile(`^(.{2,6}?)(?:就)?是(我们家|我们|我家|我|咱们|您|你|[\p{Han}]{2,3})(?:的|家的)?(` + zhKin + `的?` + zhRole + `|` + zhKin + `|` + zhRole + `)$`),
		func(g *zhGrammar, m []string, _ string) ([]Fact, bool) {
			facts := g.relative(m[1], m[2], m[3])
			return facts, len(facts) > 0
		}},
	{"teacher is", regexp.MustCompile(`^(我们家|咱们家|我们|我家|我|咱们|咱|您|你|[\p{Han}]{2,3}的)(?:的|家的|家)?((?:那只|这只)?(?:` + zhKin + `的?` + zhRole + `|` + zhKin + `|` + zhRole + `|` + zhPet + `))(?:的名字)?(?:名叫|叫做|叫|名字叫|名字是|是)([\p{Han}]{1,4}|[A-Z][A-Za-z]+(?: [A-Z][a-z]+)?)$`),
		func(g *zhGrammar, m []string, _ string) ([]Fact, bool) {
			return g.relative(m[3], strings.TrimSuffix(m[1], "的"), m[2]), true
		}},
	{"name", regexp.MustCompile(`^(我|本人)(?:的名字)?(?:名叫|叫做|叫|名字叫|名字是|的名字是|姓名是)([\p{Han}]{2,4}|[A-Z][A-Za-z]+(?: [A-Z][a-z]+)?)$`),
		func(g *zhGrammar, m []string, _ string) ([]Fact, bool) {
			if zhNotName.MatchString(m[2]) {
				return nil, true
			}
			return g.simple(m[1], "的名字是", m[2], "person"), true
		}},
	{"its name", regexp.MustCompile(`^(?:它)?(?:的?名字)?叫([\p{Han}]{1,4}|[A-Z][A-Za-z]+)$`),
		func(g *zhGrammar, m []string, _ string) ([]Fact, bool) {
			if g.pet == "" || g.subject == nil || zhNotName.MatchString(m[1]) {
				return nil, false
			}
			return []Fact{fact(g.subject.name, "的"+g.pet+"是", m[1], g.subject.kind, "animal")}, true
		}},
	{"trait", regexp.MustCompile(`^(.{0,8}?)的?(血型|车牌号|车牌|身高|体重|鞋码|邮箱|星座|属相|民族|学号|网名|微信号|QQ号)(?:是|为)(.{1,20})$`),
		func(g *zhGrammar, m []string, _ string) ([]Fact, bool) {
			return g.simple(m[1], "的"+m[2]+"是", m[3], ""), true
		}},
	{"pet", regexp.MustCompile(`^(.{0,6}?)(?:养|有)了?(?:一|两|三)?(?:只|条|个)(.{0,3}?(?:狗|猫|兔子|仓鼠|鹦鹉|乌龟|金鱼|鸟)).{0,2}?(?:名字)?叫([\p{Han}]{1,4}|[A-Z][A-Za-z]+)$`),
		func(g *zhGrammar, m []string, _ string) ([]Fact, bool) {
			return g.simple(m[1], "的"+zhRoleName(m[2])+"是", m[3], "animal"), true
		}},
	{"allergy", regexp.MustCompile(`^(.{0,10}?)对(.{1,10}?)(?:严重|有点|特别|很)?过敏$`),
		func(g *zhGrammar, m []string, _ string) ([]Fact, bool) {
			return g.simple(m[1], "过敏原是", m[2], ""), true
		}},
	{"no longer", regexp.MustCompile(`^(.{0,10}?)(?:再也不|不再)(喜欢吃|喜欢喝|喜欢|爱吃|爱喝|爱|吃|喝|抽|住在|住|去|用|在|养|学|做|玩|打)(.+)$`), zhNoLonger},
	{"not at", regexp.MustCompile(`^(.{1,10}?)(?:已经)?(?:不|没)在(.{1,12}?)(?:上班|工作|干)了$`),
		func(g *zhGrammar, m []string, _ string) ([]Fact, bool) {
			facts := g.simple(m[1], "不再工作于", m[2], "place")
			for i := range facts {
				facts[i].Ends = "工作于"
			}
			return facts, true
		}},
	{"not any more", regexp.MustCompile(`^(.{0,10}?)(?:已经)?不(喜欢吃|喜欢喝|喜欢|爱吃|爱喝|爱|吃|喝|抽|住在|住|用|在|养|学|玩|打)(.{1,14})了$`), zhNoLonger},
	{"given up", regexp.MustCompile(`^(.{0,8}?)戒(?:掉)?了?(烟|酒|糖|咖啡|奶茶|游戏)了?$`),
		func(g *zhGrammar, m []string, when string) ([]Fact, bool) {
			return dated(g.simple(m[1], "戒了", m[2], ""), when), true
		}},
	{"put", regexp.MustCompile(`^(.{0,8}?)(?:把|将)(.{1,12}?)(?:都|给)?(?:放|搁|藏|收|停|挂|存|塞|摆|忘|落)(?:在|到|进|回)了?(.{1,14}?)(?:里)?了?$`), zhPut},
	{"lies", regexp.MustCompile(`^(.{1,12}?)(?:现在|平时|都|就|还|一般|已经)*(?:被)?(放|搁|藏|收|停|挂|存|摆)(?:在|到|进)了?(.{1,14})$`), zhLies},
	{"moved", regexp.MustCompile(`^(.{0,10}?)(?:从(.{1,8}?))?(?:搬家?|调|迁)(?:到|去|来|回)了?(.{1,10})$`), zhMoved},
	{"home", regexp.MustCompile(`^(.{1,10}?)(?:的)?老家(?:是|在)(.{1,10})$|^(.{1,8}?)是(.{1,6}?)人$`),
		func(g *zhGrammar, m []string, _ string) ([]Fact, bool) {
			if m[4] == "好" || strings.HasSuffix(m[4], "个") || strings.ContainsAny(m[4], "女男老好一主本病客商名") {
				return nil, true
			}
			return g.simple(m[1]+m[3], "老家在", m[2]+m[4], "place"), true
		}},
	{"lived", regexp.MustCompile(`^(.{0,10}?)(以前|之前|原来|小时候|曾经|过去)(?:一直)?(?:住在|住)(.{1,12})$`),
		func(g *zhGrammar, m []string, _ string) ([]Fact, bool) {
			return g.simple(m[1], "以前住在", m[3], "place"), true
		}},
	{"lives", regexp.MustCompile(`^(.{0,10}?)(?:一直|都|目前|现在)*(?:住在|家住|住|家在)(.{1,14})$`),
		func(g *zhGrammar, m []string, when string) ([]Fact, bool) {
			if when != "" || strings.HasPrefix(m[2], "院") || strings.HasPrefix(m[2], "酒店") {
				return nil, true // for a night
			}
			return g.simple(m[1], "住在", m[2], "place"), true
		}},
	{"works", regexp.MustCompile(`^(.{0,10}?)在(.{1,14}?)(上班|工作|上学|读书|念书|教书|实习|读(?:研究生|博士|大学|高中|初中|小学|研|博|[一二三四五六]年级)|当.{1,6}|做.{1,6})$`), zhWorks},
	{"job", regexp.MustCompile(`^(.{0,10}?)(?:是(?:一名|一个|一位|个|位|名)?|当|做)((?:[\p{Han}]{0,6})(?:老师|教师|医生|护士|工程师|程序员|律师|会计|司机|厨师|设计师|警察|学生|研究生|大学生|公务员|经理|记者|作家|画家|演员|歌手|农民|工人|快递员|教授|翻译|摄影师|销售|建筑师|药剂师|牙医|兽医|消防员|军人|教练|飞行员|科学家|素食者|素食主义者|左撇子|独生子|独生女|单亲妈妈))$`),
		func(g *zhGrammar, m []string, _ string) ([]Fact, bool) {
			return g.simple(m[1], "是", zhCount.ReplaceAllString(m[2], ""), ""), true
		}},
	{"favorite", regexp.MustCompile(`^(.{0,10}?)最?(?:喜欢|爱)(?:吃|喝|看|听|玩)?的(.{1,6}?)(?:就)?是(.{1,14})$`),
		func(g *zhGrammar, m []string, _ string) ([]Fact, bool) {
			return g.simple(m[1], "最喜欢的"+m[2]+"是", m[3], ""), true
		}},
	{"likes", regexp.MustCompile(`^(.{0,12}?)(不太喜欢|不喜欢|不爱|讨厌|受不了|害怕|最怕|怕|喜欢|爱|热爱|迷上了)(吃|喝|看|听|玩|穿|用|打|弹|唱|读|养|做|去)?(.{1,16})$`), zhLikes},
	{"does not", regexp.MustCompile(`^(.{0,10}?)(?:从来)?(不能吃|不能喝|不吃|不喝|不抽|吃不了|喝不了|不会)(.{1,8})$`),
		func(g *zhGrammar, m []string, when string) ([]Fact, bool) {
			if when != "" || m[2] == "不会" && !words("开车 游泳 做饭 骑车 英语 说英语 打字")[m[3]] {
				return nil, true
			}
			return g.simple(m[1], m[2], m[3], ""), true
		}},
	{"plan", regexp.MustCompile(`^(.{0,10}?)(?:还|也)?(?:要|会|得|打算|准备|计划|约了|约好了|约好|预约了|有(?:一个|一场|个|场)|安排了|预订了|订了)(.{2,18})$`), zhPlan},
	{"marriage", regexp.MustCompile(`^(.{0,10}?)(?:嫁给了?|娶了|(?:和|跟)(.{1,6}?)(?:结婚|订婚|离婚)了?)(.{0,6})$`),
		func(g *zhGrammar, m []string, when string) ([]Fact, bool) {
			verb := "结婚对象是"
			if m[2] != "" {
				return dated(g.simple(m[1], verb, m[2], "person"), when), true
			}
			return dated(g.simple(m[1], verb, m[3], "person"), when), true
		}},
	{"went", regexp.MustCompile(`^(.{0,12}?)(?:(?:和|跟|带|陪|带着)(.{1,8}?))?(?:一起)?(去过|去了|到过|到了|来过|飞去了|回了|去)(.{1,16})$`), zhWent},
	{"did", regexp.MustCompile(`^(.{0,12}?)(?:(?:和|跟|给|为|帮|在)(.{1,8}?))?(?:一起)?(参加|买|看|吃|喝|做|学|学会|修|换|卖|丢|弄丢|找到|收到|送|领养|认识|见|遇到|考|考过|通过|画|写|读|拿到|种|拍|摔|打碎|借|还|寄|报名|完成|开始学|生|养|装|修好|洗|搬|订|拜访|采访|辞掉|毕业于|升|得|赢|输)(了|过)(.{1,18})$`), zhDid},
	{"owns", regexp.MustCompile(`^(.{0,10}?)(?:有|养|养着|拥有)((?:一|两|二|三|四|五|六|七|八|九|十|[0-9]+)(?:只|条|辆|台|个|套|栋|间|把|位|艘|架).{1,10})$`), zhOwns},
	{"at work on", regexp.MustCompile(`^(.{0,8}?)(?:正)?在(学|自学|练|练习|准备|写|装修|备考|追|考)(.{1,12})$`),
		func(g *zhGrammar, m []string, _ string) ([]Fact, bool) {
			return g.simple(m[1], "在"+m[2], m[3], ""), true
		}},
	{"is in", regexp.MustCompile(`^(.{1,10}?)(?:现在|平时|都|就|还|一般|好好地)*在(.{1,12}?(?:里|里面|上|上面|下|下面|底下|旁边|旁|边上|后面|前面|中间|内|外面|门口|角落|左边|右边|隔壁|对面|抽屉|柜子|书房|客厅|厨房|卧室|阳台|车库|玄关|冰箱|衣柜|书架|储物间|地下室))$`), zhLies2},
}

var (
	zhNotName = regexp.MustCompile(`^(?:你|我|他|她|外卖|车|他们|什么|人|大家|个|一|不|醒|好|起来)`)
	zhCount   = regexp.MustCompile(`^(?:一名|一个|一位|个|位|名)`)
	zhFuture  = regexp.MustCompile(`明|后天|下个?[周星礼月]|下下|要|会|打算|准备|计划|约`)
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
	g.subject = nil
	return nil
}

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
	zhKinsRole = regexp.MustCompile(`^(` + zhKin + `)的?(` + zhRole + `)$`)
	zhIsRole   = regexp.MustCompile(`^(?:` + zhRole + `|护士|工程师|程序员|厨师|警察|教师|公务员|警官|设计师|歌手|演员|军人|农民|工人)$`)
	zhJobEnd   = regexp.MustCompile(`^[\p{Han}]{2,4}(?:老师|教师|医生|护士|工程师|律师|司机|师|员|学生|教授)$`)
	zhAdj      = regexp.MustCompile(`^(?:很|最|特别|非常|真|太|个|一个|好|真正|全|第一|谁|怎)|(?:的|人|了|着)$`)
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

var zhPlaceNoun = regexp.MustCompile(`^(?:现在|目前|人|时间|重点|问题|关键|原因|会议|活动|聚会|比赛|考试)$`)

func zhPut(g *zhGrammar, m []string, when string) ([]Fact, bool) {
	if m[1] != "" && g.findSubject(m[1]) == nil && zhTrail.ReplaceAllString(m[1], "") != "" && !zhTheirsPut.MatchString(m[1]) {
		return nil, true
	}
	return g.lies(m[2], m[3]), true
}

// zhTheirsPut are others that put things somewhere.
var zhTheirsPut = regexp.MustCompile(`^(?:我们|我|他|她|阿姨|[\p{Han}]{2,3})`)

func zhLies(g *zhGrammar, m []string, _ string) ([]Fact, bool) {
	if m[2] == "收" || m[2] == "存" || m[2] == "停" {
		if zhHeadSelf.MatchString(m[1]) {
			return nil, true
		}
	}
	return g.lies(m[1], m[3]), true
}

var zhHeadSelf = regexp.MustCompile(`^(?:我|我们|他|她)$`)

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

var zhNoPlace = regexp.MustCompile(`^(?:一起|心上|心里|第一位|路上|手上|手里|网上|事情上|首位|一边|这里|那里|这儿|那儿|这边|那边|哪)|^路上$`)

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
var zhAfraid = regexp.MustCompile(`^(?:来不及|忘|迟到|你|他|她|赶不上|不|没|会|太)`)

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
	zhPlanVerb = regexp.MustCompile(`^(?:去看|去参加|去接|去|参加|看|见|来|接|送|做|开|买|飞|回|考|交|上)`)
	zhFeel     = regexp.MustCompile(`^(?:好|是|有点|下雨|不|没|很|热|冷|累|死|命|了|点|人)`)
)

func zhWent(g *zhGrammar, m []string, when string) ([]Fact, bool) {
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
	zhTrip = regexp.MustCompile(`^(?:爬山|旅游|医院|体检|出差|露营|钓鱼|滑雪).{0,6}$`)
	// zhThere cuts 超市买了牛奶 in two.
	zhThere   = regexp.MustCompile(`^(.{1,8}?)((?:买|看|吃|喝|参加|做|打|学|拍|见|接|玩|取|拿|办|修).{1,14})$`)
	zhRuleDid = regexp.MustCompile(`^(买|看|吃|喝|参加|做|打|学|拍|见|接|玩|取|拿|办|修)(?:了)?(.{1,14})$`)
)

func zhDid(g *zhGrammar, m []string, when string) ([]Fact, bool) {
	facts := g.simple(m[1], m[3]+m[4], m[5], "")
	return dated(facts, when), true
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

var zhPetEnd = regexp.MustCompile(zhPet + `$`)

var zhAbstract = regexp.MustCompile(`问题|想法|办法|建议|请求|疑问|消息|事$|主意|要求|会议|约会|梦|计划|感觉|地方|机会|小时|月|星期|好处|坏处|优点|缺点|任务`)
