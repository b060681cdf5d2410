package distill

import (
	"strings"

	"homeagent/agent/pattern"
)

// zhRule is one kind of Chinese clause. f is given the groups and returns ok
// where the clause was of that kind, with or without facts.
type zhRule struct {
	name string
	re   *pattern.Pattern
	f    func(g *zhGrammar, m []string, when string) (facts []Fact, ok bool)
}

// rawRules read a clause with its dates in it, the first that fits.
var rawRules = []zhRule{
	{"telephone", pattern.New(`^(.{0,12}?)的?(?:新)?(?:手机号码|手机号|电话号码|电话|手机|联系方式|座机)(?:号码)?(?:是|改成|换成|为)了?\s*(\+?[0-9][0-9 \-]{4,18}[0-9])$`),
		func(g *zhGrammar, m []string, _ string) ([]Fact, bool) {
			return g.simple(m[1], "的电话是", m[2], "number"), true
		}},
	{"birthday", pattern.New(`^(.{0,12}?)的?(?:阳历|农历|阴历)?(生日|结婚纪念日|纪念日|忌日)(?:是|在)?(?:每年)?((?:[12][0-9]{3}年)?(?:农历|阴历)?[0-9零一二三四五六七八九十正腊冬]{1,3}月(?:初)?[0-9零一二三四五六七八九十廿]{1,3}[日号]?)$`),
		func(g *zhGrammar, m []string, _ string) ([]Fact, bool) {
			return g.simple(m[1], "的"+m[2]+"是", m[3], "date"), true
		}},
	{"born", pattern.New(`^(.{1,10}?)(?:是)?(?:(?:出生于|生于)(.+)|([12][0-9]{3}年(?:.{1,3}月)?(?:.{1,3}[日号])?)(?:出生|生)的?)$`),
		func(g *zhGrammar, m []string, _ string) ([]Fact, bool) {
			return g.simple(m[1], "出生于", m[2]+m[3], "date"), true
		}},
	{"age", pattern.New(`^(.{0,10}?)(?:今年|现在|已经|刚|刚满|快)*([0-9]{1,3}|[一二三四五六七八九十]{1,3})岁(?:半)?了?$`),
		func(g *zhGrammar, m []string, _ string) ([]Fact, bool) {
			return g.simple(m[1], "的年龄是", m[2]+"岁", "number"), true
		}},
	{"habit", pattern.New(`^(.{0,10}?)(每(?:天|个?周|个?星期|个?月|年|晚)[一二三四五六日末]?(?:早上|上午|中午|下午|晚上)?)(?:都|要|会|得|固定)*((?:去|上|学|练|打|跑|吃|收|来|打扫|做|开|游|浇|给).{1,16})$`),
		func(g *zhGrammar, m []string, _ string) ([]Fact, bool) {
			return g.simple(m[1], "的习惯是", m[2]+m[3], "event"), true
		}},
}

// zhRules read a clause without its dates, the first that fits.
var zhRules = []zhRule{
	{"same", pattern.New(`^(.{0,6}?)(?:其实)?(?:就是|和(.{2,6}?)是同一个人|又叫|也叫|的?小名(?:叫|是)?|的?外号(?:叫|是)?|的?昵称(?:叫|是)?|的?英文名(?:叫|是)?|的?大名(?:叫|是)?)(.{0,6})$`), zhSame},
	{"my teacher", pattern.New(`^(.{2,6}?)(?:就)?是(我们家|我们|我家|我|咱们|您|你|[\p{Han}]{2,3})(?:的|家的)?(` + zhKin + `的?` + zhRole + `|` + zhKin + `|` + zhRole + `)$`),
		func(g *zhGrammar, m []string, _ string) ([]Fact, bool) {
			facts := g.relative(m[1], m[2], m[3])
			return facts, len(facts) > 0
		}},
	{"teacher is", pattern.New(`^(我们家|咱们家|我们|我家|我|咱们|咱|您|你|[\p{Han}]{2,3}的)(?:的|家的|家)?((?:那只|这只)?(?:` + zhKin + `的?` + zhRole + `|` + zhKin + `|` + zhRole + `|` + zhPet + `))(?:的名字)?(?:名叫|叫做|叫|名字叫|名字是|是)([\p{Han}]{1,4}|[A-Z][A-Za-z]+(?: [A-Z][a-z]+)?)$`),
		func(g *zhGrammar, m []string, _ string) ([]Fact, bool) {
			facts := g.relative(m[3], strings.TrimSuffix(m[1], "的"), m[2])
			return facts, len(facts) > 0
		}},
	{"name", pattern.New(`^(我|本人)(?:的名字)?(?:名叫|叫做|叫|名字叫|名字是|的名字是|姓名是)([\p{Han}]{2,4}|[A-Z][A-Za-z]+(?: [A-Z][a-z]+)?)$`),
		func(g *zhGrammar, m []string, _ string) ([]Fact, bool) {
			if zhNotName.MatchString(m[2]) {
				return nil, true
			}
			return g.simple(m[1], "的名字是", m[2], "person"), true
		}},
	{"its name", pattern.New(`^(?:它)?(?:的?名字)?叫([\p{Han}]{1,4}|[A-Z][A-Za-z]+)$`),
		func(g *zhGrammar, m []string, _ string) ([]Fact, bool) {
			if g.pet == "" || g.subject == nil || zhNotName.MatchString(m[1]) {
				return nil, false
			}
			return []Fact{fact(g.subject.name, "的"+g.pet+"是", m[1], g.subject.kind, "animal")}, true
		}},
	{"trait", pattern.New(`^(.{0,8}?)的?(血型|车牌号|车牌|身高|体重|鞋码|邮箱|星座|属相|民族|学号|网名|微信号|QQ号)(?:是|为)(.{1,20})$`),
		func(g *zhGrammar, m []string, _ string) ([]Fact, bool) {
			return g.simple(m[1], "的"+m[2]+"是", m[3], ""), true
		}},
	{"pet", pattern.New(`^(.{0,6}?)(?:养|有)了?(?:一|两|三)?(?:只|条|个)(.{0,3}?(?:狗|猫|兔子|仓鼠|鹦鹉|乌龟|金鱼|鸟)).{0,2}?(?:名字)?叫([\p{Han}]{1,4}|[A-Z][A-Za-z]+)$`),
		func(g *zhGrammar, m []string, _ string) ([]Fact, bool) {
			return g.simple(m[1], "的"+zhRoleName(m[2])+"是", m[3], "animal"), true
		}},
	{"allergy", pattern.New(`^(.{0,10}?)对(.{1,10}?)(?:严重|有点|特别|很)?过敏$`),
		func(g *zhGrammar, m []string, _ string) ([]Fact, bool) {
			return g.simple(m[1], "过敏原是", m[2], ""), true
		}},
	{"no longer", pattern.New(`^(.{0,10}?)(?:再也不|不再)(喜欢吃|喜欢喝|喜欢|爱吃|爱喝|爱|吃|喝|抽|住在|住|去|用|在|养|学|做|玩|打)(.+)$`), zhNoLonger},
	{"not at", pattern.New(`^(.{1,10}?)(?:已经)?(?:不|没)在(.{1,12}?)(?:上班|工作|干)了$`),
		func(g *zhGrammar, m []string, _ string) ([]Fact, bool) {
			facts := g.simple(m[1], "不再工作于", m[2], "place")
			for i := range facts {
				facts[i].Ends = "工作于"
			}
			return facts, true
		}},
	{"not any more", pattern.New(`^(.{0,10}?)(?:已经)?不(喜欢吃|喜欢喝|喜欢|爱吃|爱喝|爱|吃|喝|抽|住在|住|用|在|养|学|玩|打)(.{1,14})了$`), zhNoLonger},
	{"given up", pattern.New(`^(.{0,8}?)戒(?:掉)?了?(烟|酒|糖|咖啡|奶茶|游戏)了?$`),
		func(g *zhGrammar, m []string, when string) ([]Fact, bool) {
			return dated(g.simple(m[1], "戒了", m[2], ""), when), true
		}},
	{"put", pattern.New(`^(.{0,8}?)(?:把|将)(.{1,12}?)(?:都|给)?(?:放|搁|藏|收|停|挂|存|塞|摆|忘|落)(?:在|到|进|回)了?(.{1,14}?)(?:里)?了?$`), zhPut},
	{"did to", pattern.New(`^(.{0,8}?)把(.{1,10}?)(送|卖|借|扔|捐|寄|修好|修|洗|刷|弄丢|弄坏|丢|打碎|退|换|拆|还)(?:给)?(?:了|掉了)(.{0,8})$`),
		func(g *zhGrammar, m []string, when string) ([]Fact, bool) {
			if m[1] == "" && g.subject == nil {
				return nil, true // an order
			}
			return dated(g.simple(m[1], m[3]+"了", strings.TrimPrefix(m[2], "我的"), ""), when), true
		}},
	{"lies", pattern.New(`^(.{1,12}?)(?:现在|平时|都|就|还|一般|已经)*(?:被)?(放|搁|藏|收|停|挂|存|摆)(?:在|到|进)了?(.{1,14})$`), zhLies},
	{"moved", pattern.New(`^(.{0,10}?)(?:从(.{1,8}?))?(?:搬家?|调|迁)(?:到|去|来|回)了?(.{1,10})$`), zhMoved},
	{"home", pattern.New(`^(.{1,10}?)(?:的)?老家(?:是|在)(.{1,10})$|^(.{1,8}?)是(.{1,6}?)人$`),
		func(g *zhGrammar, m []string, _ string) ([]Fact, bool) {
			if m[4] == "好" || strings.HasSuffix(m[4], "个") || strings.ContainsAny(m[4], "女男老好一主本病客商名") {
				return nil, true
			}
			return g.simple(m[1]+m[3], "老家在", m[2]+m[4], "place"), true
		}},
	{"lived", pattern.New(`^(.{0,10}?)(以前|之前|原来|小时候|曾经|过去)(?:一直)?(?:住在|住)(.{1,12})$`),
		func(g *zhGrammar, m []string, _ string) ([]Fact, bool) {
			return g.simple(m[1], "以前住在", m[3], "place"), true
		}},
	{"lives", pattern.New(`^(.{0,10}?)(?:一直|都|目前|现在)*(?:住在|家住|住|家在)(.{1,14})$`),
		func(g *zhGrammar, m []string, when string) ([]Fact, bool) {
			if when != "" || strings.HasPrefix(m[2], "院") || strings.HasPrefix(m[2], "酒店") {
				return nil, true // for a night
			}
			return g.simple(m[1], "住在", m[2], "place"), true
		}},
	{"works", pattern.New(`^(.{0,10}?)在(.{1,14}?)(上班|工作|上学|读书|念书|教书|实习|读(?:研究生|博士|大学|高中|初中|小学|研|博|[一二三四五六]年级)|当.{1,6}|做.{1,6})$`), zhWorks},
	{"job", pattern.New(`^(.{0,10}?)(?:是(?:一名|一个|一位|个|位|名)?|当|做)((?:[\p{Han}]{0,6})(?:老师|教师|医生|护士|工程师|程序员|律师|会计|司机|厨师|设计师|警察|学生|研究生|大学生|公务员|经理|记者|作家|画家|演员|歌手|农民|工人|快递员|教授|翻译|摄影师|销售|建筑师|药剂师|牙医|兽医|消防员|军人|教练|飞行员|科学家|素食者|素食主义者|左撇子|独生子|独生女|单亲妈妈))$`),
		func(g *zhGrammar, m []string, _ string) ([]Fact, bool) {
			return g.simple(m[1], "是", zhCount.ReplaceAllString(m[2], ""), ""), true
		}},
	{"favorite", pattern.New(`^(.{0,10}?)最?(?:喜欢|爱)(?:吃|喝|看|听|玩)?的(.{1,6}?)(?:就)?是(.{1,14})$`),
		func(g *zhGrammar, m []string, _ string) ([]Fact, bool) {
			return g.simple(m[1], "最喜欢的"+m[2]+"是", m[3], ""), true
		}},
	{"likes", pattern.New(`^(.{0,12}?)(不太喜欢|不喜欢|不爱|讨厌|受不了|害怕|最怕|怕|喜欢|爱|热爱|迷上了)(吃|喝|看|听|玩|穿|用|打|弹|唱|读|养|做|去)?(.{1,16})$`), zhLikes},
	{"does not", pattern.New(`^(.{0,10}?)(?:从来)?(不能吃|不能喝|不吃|不喝|不抽|吃不了|喝不了|不会)(.{1,8})$`),
		func(g *zhGrammar, m []string, when string) ([]Fact, bool) {
			if when != "" || m[2] == "不会" && !words("开车 游泳 做饭 骑车 英语 说英语 打字")[m[3]] {
				return nil, true
			}
			return g.simple(m[1], m[2], m[3], ""), true
		}},
	{"can", pattern.New(`^(.{0,10}?)(?:很|特别)?(会|擅长)(弹|拉|踢|打|说|唱|做|下|写|画|骑|跳|吹)(.{1,8})$`),
		func(g *zhGrammar, m []string, when string) ([]Fact, bool) {
			if when != "" {
				return nil, false
			}
			return g.simple(m[1], "会"+m[3], m[4], ""), true
		}},
	{"plan", pattern.New(`^(.{0,10}?)(?:还|也)?(?:要|会|得|打算|准备|计划|约了|约好了|约好|预约了|有(?:一个|一场|个|场)|安排了|预订了|订了)(.{2,18})$`), zhPlan},
	{"marriage", pattern.New(`^(.{0,10}?)(?:嫁给了?|娶了|(?:和|跟)(.{1,6}?)(?:结婚|订婚|离婚)了?)(.{0,6})$`),
		func(g *zhGrammar, m []string, when string) ([]Fact, bool) {
			verb := "结婚对象是"
			if m[2] != "" {
				return dated(g.simple(m[1], verb, m[2], "person"), when), true
			}
			return dated(g.simple(m[1], verb, m[3], "person"), when), true
		}},
	{"did", pattern.New(`^(.{0,12}?)(?:(?:和|跟|给|为|帮|在)(.{1,8}?))?(?:一起)?(参加|买|看|吃|喝|做|学|学会|修|换|卖|丢|弄丢|找到|收到|送|领养|认识|见到|见|遇到|遇见|摔断|扭伤|弄坏|发现|安装|粉刷|骑|打完|看完|读完|烤|种下|捡到|考|考过|通过|画|写|读|拿到|种|拍|摔|打碎|借|还|寄|报名|完成|开始学|生|养|装|修好|洗|搬|订|拜访|采访|辞掉|毕业于|升|得|赢|输)(了|过)(.{1,18})$`), zhDid},
	{"went", pattern.New(`^(.{0,12}?)(?:(?:和|跟|带|陪|带着)(.{1,8}?))?(?:一起)?(去过|去了|到过|到了|来过|飞去了|回了|去)(.{1,16})$`), zhWent},
	{"owns", pattern.New(`^(.{0,10}?)(?:有|养|养着|拥有)((?:一|两|二|三|四|五|六|七|八|九|十|[0-9]+)(?:只|条|辆|台|个|套|栋|间|把|位|艘|架).{1,10})$`), zhOwns},
	{"at work on", pattern.New(`^(.{0,8}?)(?:正)?在(学|看|读|自学|练|练习|准备|写|装修|备考|追|考)(.{1,12})$`),
		func(g *zhGrammar, m []string, _ string) ([]Fact, bool) {
			if zhIdle.MatchString(m[3]) {
				return nil, true
			}
			return g.simple(m[1], "在"+m[2], m[3], ""), true
		}},
	{"is in", pattern.New(`^(.{1,10}?)(?:现在|平时|都|就|还|一般|好好地)*在(.{1,12}?(?:里|里面|上|上面|下|下面|底下|旁边|旁|边上|后面|前面|中间|内|外面|门口|角落|左边|右边|隔壁|对面|抽屉|柜子|书房|客厅|厨房|卧室|阳台|车库|玄关|冰箱|衣柜|书架|储物间|地下室))$`), zhLies2},
}
