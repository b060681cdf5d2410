package distill

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"homeagent/agent/pattern"
)

// zhSplit cuts a sentence into clauses.
var zhSplit = pattern.New(`[，,：:（）()—]+|\s{2,}`)

var (
	// zhAsks are questions without a sign, as speech brings them.
	zhAsks = pattern.New(`吗|什么|哪[里儿个天种些位家年]|在哪|谁|怎么|怎样|几点|几号|几个|几岁|多少|多久|多大|是不是|有没有|为什么|能不能|会不会|要不要|好不好|对不对|可不可以|呢$|么$`)
	// zhUnsure is what was perhaps, or said by others.
	zhUnsure = pattern.New(`如果|要是|假如|假设|的话|可能|也许|大概|或许|应该|好像|似乎|说不定|估计|差点|差一点|本来|原本|听说|据说|传说|想象|希望|但愿|万一|不知道|不确定|我猜|我觉得|看来|恐怕|是否|不然|除非|比如|例如|你(?:刚才|刚刚|昨天|之前)?(?:说|告诉|讲)|[他她]们?说|(?:他|她|妈|爸|别人|有人|人家|医生|老师|同事|朋友)说|开玩笑|假装|梦见|梦到|电影里|书里|小说里|新闻`)
	// zhTells are orders to the house, also where 请 or 帮 stand before them.
	zhTells = pattern.New(`^(?:[^，,]{1,4}[，,])?(?:那|就|你|现在|马上|先|再|顺便|麻烦)*(?:请|帮|替我|给我|打开|关掉|关闭|关上|关|开一?下|开|调|播放|放首|放一首|放点|来首|来一首|暂停|停止|设置|设|定个|定一个|提醒|叫我|告诉|查|搜|找|看看|念|读|翻译|订|买|预订|下单|发|打电话|说|讲|唱|把|取消|删|锁|记得|别|不要|去|换|停|算|安排|加)`)
	// zhDone is 把 with a subject or an end, which tells and does not order.
	zhDone = pattern.New(`了$|了[，,。]|^把.+(?:放|搁|藏|收|停|挂|存|塞)(?:在|到|进|回).+(?:了|里了|上了)$`)
)

// chinese finds the facts of a Chinese sentence.
func (v voice) chinese(text string, asked bool) []Fact {
	if zhAsks.MatchString(text) || zhUnsure.MatchString(text) {
		return nil
	}
	if !asked && zhTells.MatchString(text) && !(strings.HasPrefix(text, "把") && zhDone.MatchString(text)) {
		return nil
	}
	g := zhGrammar{voice: v, asked: asked}
	var facts []Fact
	for _, c := range zhSplit.Split(text, -1) {
		c = strings.Trim(c, " 、.~～“”\"'")
		c = zhLead.ReplaceAllString(c, "")
		if c == "" || utf8.RuneCountInString(c) > 60 {
			g.subject = nil
			continue
		}
		if len(facts) > 0 && !asked && zhTells.MatchString(c) && !strings.HasPrefix(c, "去") {
			continue // "我在厨房，帮我…"
		}
		facts = append(facts, g.clause(c)...)
	}
	return facts
}

// zhLead is what stands before a clause and says nothing.
var zhLead = pattern.New(`^(?:对了|另外|还有|其实|哦|噢|嗯|啊|哎|哎呀|好的|好吧|不过|但是|可是|但|而且|所以|因为|然后|后来|于是|话说|顺便说一下|顺便说|告诉你|跟你说|是这样的|原来|反正|总之|当然|另外呢|同时|并且|虽然|的确|确实)+`)

// zhGrammar reads the clauses of one sentence in order.
type zhGrammar struct {
	voice
	asked   bool
	subject *zhSubject
	lead    string // a date that stood alone before
	pet     string // an animal that was spoken of and not yet named
}

// zhSubject is who or what a clause is about.
type zhSubject struct {
	name, kind  string
	owner, role string
	self, thing bool
	facts       []Fact
}

const (
	zhKin  = `(?:妈妈|爸爸|老妈|老爸|妈|爸|母亲|父亲|爷爷|奶奶|外公|外婆|姥姥|姥爷|哥哥|姐姐|弟弟|妹妹|大哥|二哥|大姐|二姐|哥|姐|弟|妹|老公|老婆|丈夫|妻子|爱人|先生|太太|媳妇|儿子|女儿|大儿子|小儿子|大女儿|小女儿|闺女|孙子|孙女|外孙|外孙女|舅舅|舅妈|姨妈|姨|姑姑|姑妈|叔叔|婶婶|伯伯|伯父|伯母|表哥|表姐|表弟|表妹|堂哥|堂姐|堂弟|堂妹|侄子|侄女|外甥|外甥女|岳父|岳母|丈母娘|老丈人|公公|婆婆|嫂子|姐夫|妹夫|女朋友|男朋友|未婚妻|未婚夫|双胞胎)`
	zhRole = `(?:班主任|(?:数学|语文|英语|钢琴|舞蹈|游泳|美术|音乐|体育|物理|化学|历史|家教|瑜伽)?老师|家庭医生|主治医生|牙医|医生|同事|同学|同桌|室友|邻居|房东|租客|保姆|钟点工|维修工|阿姨|月嫂|司机|教练|老板|上司|领导|经理|客户|徒弟|师傅|(?:大学|高中|初中|小学)同学|好朋友|最好的朋友|朋友|闺蜜|律师|会计|物业|快递员|学生|助理|秘书|导师|干妈|干爹|发小)`
	zhPet  = `(?:小狗|小猫|狗狗|猫咪|狗|猫|兔子|仓鼠|鹦鹉|乌龟|金鱼|鸟|龙猫)`
)

var (
	zhOwned   = pattern.New(`^(我们家|咱们家|我们|咱们|咱家|我家|我|咱|您|你)?(?:的|家的|家)?(` + zhKin + `|` + zhRole + `|` + zhPet + `)(?:叫|是)?([\p{Han}]{2,4}|[A-Z][A-Za-z]+)?$`)
	zhTheirs  = pattern.New(`^([\p{Han}]{2,4}|[A-Z][A-Za-z]+)(?:的|家的|他|她)(` + zhKin + `|` + zhRole + `|` + zhPet + `)$`)
	zhTrail   = pattern.New(`(?:现在|目前|最近|也|都|还|已经|就|刚刚|刚才|刚|一直|平时|经常|常常|总是|每天|很|特别|非常|最|比较|挺|真的|真|超级|超|可|更|从小|一般|又|才|曾经|以前|那时候|每次|一起|终于|终究|今天|自己|其实|只|正|正在|一家|和家人|偶尔|有时候)+$`)
	zhSurname = `(?:欧阳|司马|上官|诸葛|东方|皇甫|尉迟|公孙|慕容|令狐|夏侯|司徒|[赵钱孙李周吴郑王冯陈褚卫蒋沈韩杨朱秦尤许何吕施张孔曹严华金魏陶姜戚谢邹喻柏窦章云苏潘葛奚范彭郎鲁韦昌马苗凤花方俞任袁柳鲍史唐费廉岑薛雷贺倪汤滕殷罗毕郝邬安常乐于傅齐康伍余元顾孟黄穆萧尹姚邵汪祁毛狄米贝戴谈宋庞熊纪舒屈项祝董梁杜阮蓝闵季贾路江童颜郭梅林钟徐邱骆高夏蔡田樊胡凌霍虞万柯卢莫房解应宗丁邓洪包石崔龚程邢裴陆荣翁段侯武刘景龙叶黎白池乔温庄晏柴阎连习艾向古易廖耿文曾关])`
	zhPerson  = pattern.New(`^(?:` + zhSurname + `[\p{Han}]{1,2}|[小老阿大][\p{Han}]{1,2}|` + zhSurname + `(?:老师|医生|先生|女士|太太|叔叔|阿姨|师傅|经理|总|奶奶|爷爷|大爷|大妈|教练|教授|律师|工|哥|姐)|[A-Z][a-z]+)$`)
	zhTwice   = pattern.New(`^[\p{Han}]{2}$`)
	zhNoName  = words(`小时 小孩 小心 小区 小学 小狗 小猫 老家 老是 老人 大家 大学 大人 大门 小伙子 小朋友 高兴 高中 马上 白天 方便 安全 文件 常常 万一 花园 金鱼 石头 米饭 白菜 关于 任何 许多 何时 应该 黄瓜
		毛巾 温度 江边 田里 连忙 乐意 包里 路上 路边 向来 古代 易拉罐 水果 汤圆 钱包 钟表 钥匙 车钥匙 程序 高铁 高考 周末 周一 周二 周三 周四 周五 周六 周日 和平 常用 于是 解决 章鱼 苗条 凌晨 房间 房子 房东 安排 阿姨 老师 小姐 大夫 老板 老婆 老公 老妈 老爸`)
	zhPronoun = words(`我 你 您 他 她 它 我们 你们 他们 她们 咱们 这 那 这个 那个 这里 那里 这样 那样 这些 那些 什么 别人 大家 人家 自己 东西 事 事情 一下 一点 一些 起来 出来 过来 过去 有点 问题 时候 办法 意思 时间 空 机会 感觉 想法 信心 兴趣 道理 关系 必要 可能 用 事儿 好多 很多 不少 点事`)
)

// findSubject reads what stands before a verb; the empty text is the subject
// before. nil where no facts are kept of it.
func (g *zhGrammar) findSubject(text string) *zhSubject {
	text = strings.TrimSpace(zhTrail.ReplaceAllString(text, ""))
	text = strings.TrimSuffix(zhTrail.ReplaceAllString(text, ""), "，")
	if text == "" {
		if g.subject == nil && g.asked && g.speaks() {
			return &zhSubject{name: g.first(), kind: "person", self: true}
		}
		return g.subject
	}
	if s, ok := g.person(text); ok {
		return s
	}
	return nil
}

// person reads the name of a person or an animal, ok being false where it is none.
func (g *zhGrammar) person(text string) (s *zhSubject, ok bool) {
	switch text {
	case "我", "我们", "咱", "咱们", "我们家", "咱家", "我家", "本人", "俺", "家里", "我们全家", "我俩", "我们俩":
		if !g.speaks() {
			return nil, true
		}
		return &zhSubject{name: g.first(), kind: "person", self: true}, true
	case "你", "您":
		if name := g.second(); name != "" {
			return &zhSubject{name: name, kind: "person", self: true}, true
		}
		return nil, true
	}
	if m := zhOwned.FindStringSubmatch(text); m != nil {
		owner := g.first()
		switch {
		case m[1] == "你" || m[1] == "您":
			owner = g.second()
		case !g.speaks():
			owner = ""
		}
		if owner == "" {
			return nil, true
		}
		if m[1] == "" && strings.HasSuffix(m[2], "先生") {
			return nil, true
		}
		s := &zhSubject{name: g.own(owner, zhRoleName(m[2])), kind: zhKind(m[2]), owner: owner, role: zhRoleName(m[2])}
		if m[3] != "" {
			if !zhNameLike(m[3]) {
				return nil, true
			}
			s.name = m[3]
			s.facts = []Fact{fact(owner, "的"+s.role+"是", m[3], "person", s.kind)}
		}
		return s, true
	}
	if m := zhTheirs.FindStringSubmatch(text); m != nil && zhNameLike(m[1]) {
		return &zhSubject{name: m[1] + "的" + zhRoleName(m[2]), kind: zhKind(m[2]), owner: m[1], role: zhRoleName(m[2])}, true
	}
	if zhNameLike(text) {
		return &zhSubject{name: text, kind: "person"}, true
	}
	return nil, false
}

// zhNameLike tells whether a text is a person's name by itself.
func zhNameLike(s string) bool {
	if zhNoName[s] {
		return false
	}
	if zhPerson.MatchString(s) {
		return true
	}
	r := []rune(s)
	return zhTwice.MatchString(s) && r[0] == r[1] && !strings.ContainsRune("常刚天人看说想谢哈呵嗯好慢渐往偏仅单每个", r[0])
}

// zhRoleName gives kin one name: 妈 and 老妈 are 妈妈.
func zhRoleName(s string) string {
	switch s {
	case "妈", "老妈", "母亲":
		return "妈妈"
	case "爸", "老爸", "父亲":
		return "爸爸"
	case "哥", "姐", "弟", "妹":
		return s + s
	case "小狗", "狗狗":
		return "狗"
	case "小猫", "猫咪":
		return "猫"
	case "妻子", "太太", "媳妇":
		return "老婆"
	case "丈夫", "先生":
		return "老公"
	case "闺女":
		return "女儿"
	}
	return s
}

var zhIsPet = pattern.New(`^` + zhPet + `$`)

func zhKind(role string) string {
	if zhIsPet.MatchString(role) {
		return "animal"
	}
	return "person"
}

// zhObject cleans an object; ok is false where it is none.
func zhObject(s string) (object string, ok bool) {
	s = zhObjectEnd.ReplaceAllString(strings.TrimSpace(s), "")
	s = zhObjectHead.ReplaceAllString(s, "")
	n := utf8.RuneCountInString(s)
	if n == 0 || n > 24 || zhPronoun[s] || zhBadHead.MatchString(s) {
		return "", false
	}
	r, _ := utf8.DecodeRuneInString(s)
	if n == 1 && !unicode.Is(unicode.Han, r) {
		return "", false
	}
	return s, true
}

var (
	zhObjectEnd  = pattern.New(`(?:了|啊|呀|呢|哦|吧|嘛|啦|哈|的|、)+$`)
	zhObjectHead = pattern.New(`^(?:了|过|着|一个|一位|一名|一下|一些|一点|点儿|那个|这个|[一两三四五六七八九十0-9]+(?:只|条|辆|台|个|套|本|件|双|张|把|块|份|部|次|场|顿|杯|瓶|位|名|盆|束|间|座|栋|盒|袋|箱))`)
	zhBadHead    = pattern.New(`^(?:你|您|他|她|它|这|那|不|没|得|是|的|就|都|也|还|很|太|起|上|下|到|给|来|去|完|好|掉|出|开|会|要|能)$|^(?:你|您|他|她|它|得|是|的|起来|下来|出来|不|没)`)
)
