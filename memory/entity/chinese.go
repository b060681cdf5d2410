package entity

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// pronouns are owners without a name, longest first. The value is the owner.
var pronouns = []struct{ word, owner string }{
	{"我们家", "我"}, {"咱们家", "我"}, {"我们", "我"}, {"咱们", "我"}, {"我家", "我"}, {"咱家", "我"}, {"我", "我"}, {"咱", "我"}, {"俺", "我"},
	{"他们家", "他们"}, {"她们家", "她们"}, {"他们", "他们"}, {"她们", "她们"},
	{"他家", "他"}, {"她家", "她"}, {"你家", "你"}, {"他", "他"}, {"她", "她"}, {"它", "它"}, {"你", "你"}, {"您", "你"},
}

// needsOwner are kin terms that without an owner are polite words for anybody.
var needsOwner = set("先生 太太 媳妇 爱人 女友 男友 家公 家婆 公公 婆婆 秘书 助理 家")

// notNames are common words that begin with a surname's sign.
var notNames = set(`白菜 白天 白色 黄瓜 黄色 黄金 石头 马路 马上 马桶 金鱼 金额 高铁 高兴 高中 周末 周一 周二 周三 周四 周五 周六 周日 温度 门口 车库 车站
	车牌 花园 花盆 水管 水杯 水果 明天 时间 时候 安全 安装 雷雨 方便 方法 云南 江苏 河南 陕西 张家口 石家庄 任务 任何 应用 应该 常用 常常 平时 平安 和平 和谐
	路由器 路口 路灯 古董 古代 简单 文件 文字 全部 全家 成绩 成功 向日葵 柳树 牛奶 牛肉 鱼缸 包子 包裹 米饭 米粉 康复 孔雀 龙虾 项目 项链 单位 单元 季节 钟表 钟点
	沙发 沙子 冷气 蓝色 蓝牙 紫色 红包 伏特 计划 计算机 乐器 宫殿 元旦 关门 连接 连衣裙 查询 管道 管家 强度 习惯 戴尔 苏打 苏州 杭州 温州 徐州 郑州 郑重 胡萝卜 胡子
	贝壳 茅台 茅屋 梅花 楼梯 童话 童装 谷物 谷歌 尚未 卡片 卡车 皮鞋 皮肤 毛巾 毛衣 叶子 林子 森林 田地 余额 曲子 房子 房间 房东 井水 边上 车子 金子 席子 易拉罐 华为 腾讯 万达 方案 高手 高峰 程序 常识`)

// parseHan reads a name in Han signs; s is clean and without spaces beside them.
func parseHan(n *Name, s string) {
	switch {
	case pronounOwner(n, s), namedOwner(n, s), kinAlone(n, s), titled(n, s), prefixed(n, s), doubled(n, s), fullName(n, s):
	}
}

// pronounOwner reads 我妈, 她的妈妈, 我家的猫.
func pronounOwner(n *Name, s string) bool {
	for _, p := range pronouns {
		rest, ok := strings.CutPrefix(s, p.word)
		if !ok || rest == "" {
			continue
		}
		thing, of := strings.CutPrefix(rest, "的")
		if thing == "" {
			continue
		}
		if t, ok := kinOf(thing); ok {
			n.Owner, n.Kin, n.Sex, n.Form = p.owner, t.canon, t.sex, Owned
			if p.owner == "我" {
				n.Form = Kinship
			}
			n.Key = p.owner + "的" + t.canon
			return true
		}
		if of || strings.HasSuffix(p.word, "家") {
			n.Owner, n.Kin, n.Form = p.owner, key(thing), Owned
			n.Key = p.owner + "的" + n.Kin
			return true
		}
	}
	return false
}

// namedOwner reads 张三的妈妈, 张三他爸, 豆豆妈妈.
func namedOwner(n *Name, s string) bool {
	// The last owner counts: 张三的妈妈的狗 is a dog.
	for _, sep := range []string{"家的", "的"} {
		if i := strings.LastIndex(s, sep); i > 0 && i+len(sep) < len(s) {
			owner, thing := s[:i], s[i+len(sep):]
			t, kin := kinOf(thing)
			o := Parse(owner)
			if !kin && !o.person() && o.Form != Doubled && o.Form != Owned {
				return false // 客厅的灯
			}
			own(n, o, t, kin, thing)
			return true
		}
	}
	for _, p := range []string{"他家", "她家", "他", "她", "家"} {
		if i := strings.LastIndex(s, p); i > 0 && utf8.RuneCountInString(s[:i]) >= 2 {
			if t, ok := kinOf(s[i+len(p):]); ok {
				own(n, Parse(s[:i]), t, true, "")
				return true
			}
		}
	}
	rs := []rune(s)
	for cut := 2; cut < len(rs); cut++ {
		word := string(rs[cut:])
		t, ok := kinOf(word)
		if !ok || (len(rs)-cut == 1 && t.canon != "mother" && t.canon != "father") {
			continue
		}
		if _, polite := titles[word]; polite || generic[t.canon] {
			continue // 王芳阿姨 is called so herself
		}
		o := Parse(string(rs[:cut]))
		switch o.Form {
		case Full, Doubled, Prefixed, Titled, Kinship:
			own(n, o, t, true, "")
			return true
		}
	}
	return false
}

func own(n *Name, owner Name, t kinTerm, kin bool, thing string) {
	n.Form, n.Owner, n.Kin, n.Sex = Owned, owner.full(), key(thing), ""
	if kin {
		n.Kin, n.Sex = t.canon, t.sex
	}
	n.Key = n.Owner + "的" + n.Kin
}

func kinAlone(n *Name, s string) bool {
	t, ok := kinOf(s)
	if !ok || needsOwner[s] || generic[t.canon] {
		return false
	}
	n.Form, n.Owner, n.Kin, n.Sex = Kinship, "我", t.canon, t.sex
	n.Key = "我的" + t.canon
	return true
}

// surnameOf parts a text that begins with a surname; of two possible ones the
// compound goes first.
func surnameOf(s string) (surname, rest string) {
	rs := []rune(s)
	if len(rs) >= 2 && compound[string(rs[:2])] {
		return string(rs[:2]), string(rs[2:])
	}
	if len(rs) >= 1 && single[rs[0]] {
		return string(rs[:1]), string(rs[1:])
	}
	return "", s
}

// titled reads 王老师, 欧阳先生, 王芳老师, 小张老师.
func titled(n *Name, s string) bool {
	rs := []rune(s)
	for cut := 1; cut < len(rs); cut++ { // the longest title first
		word := string(rs[cut:])
		t, ok := titles[word]
		if !ok {
			continue
		}
		head := string(rs[:cut])
		surname, given := surnameOf(head)
		short := len(rs)-cut == 1
		switch {
		case surname != "" && given == "":
			n.Surname = surname
		case short:
			continue // 李小妹 is a name
		default:
			h := Name{Key: head}
			if !prefixed(&h, head) && !fullName(&h, head) && !doubled(&h, head) {
				continue
			}
			n.Surname, n.Given = h.Surname, h.Given
			if h.Form == Prefixed {
				n.Given = ""
			}
		}
		n.Form, n.Title, n.Sex = Titled, t.canon, t.sex
		if n.Given == "" && n.Surname == head {
			n.Key = head + "/" + t.canon // 陈大夫 is 陈医生
		}
		return true
	}
	return false
}

// prefixed reads 老张, 小明, 阿明.
func prefixed(n *Name, s string) bool {
	rs := []rune(s)
	if len(rs) < 2 || len(rs) > 3 || !strings.ContainsRune("老小大阿", rs[0]) {
		return false
	}
	rest := string(rs[1:])
	surname, given := surnameOf(rest)
	whole := surname != "" && given == ""
	if len(rs) == 3 && !whole {
		return false
	}
	switch rs[0] {
	case '阿':
		n.Given = rest
	case '小':
		n.Given = rest
		if whole {
			n.Surname = surname
		}
	default:
		if !whole {
			return false
		}
		n.Surname = surname
	}
	n.Form, n.Prefix = Prefixed, string(rs[0])
	return true
}

func doubled(n *Name, s string) bool {
	rs := []rune(s)
	if len(rs) != 2 || rs[0] != rs[1] || !unicode.Is(unicode.Han, rs[0]) {
		return false
	}
	n.Form, n.Given = Doubled, string(rs[0])
	return true
}

func fullName(n *Name, s string) bool {
	surname, given := surnameOf(s)
	k := utf8.RuneCountInString(given)
	if surname == "" || k < 1 || k > 2 || notNames[s] || classOf(s) != "" {
		return false
	}
	for _, r := range given {
		if !unicode.Is(unicode.Han, r) {
			return false
		}
	}
	n.Form, n.Surname, n.Given = Full, surname, given
	return true
}
