package graph

import (
	"strings"

	"homeagent/memory/token"
)

// kindClasses are words for kinds of things, a class a line. Two kinds of
// different classes exclude each other, but for those of loose. Kinds that are
// not listed exclude nothing: extractors are not to be trusted with rare words.
var kindClasses = classes(
	"person: 人 人物 人类 孩子 小孩 儿童 女孩 男孩 女儿 儿子 家人 亲人 亲戚 朋友 同事 老师 医生 用户; "+
		"person; people; human; human being; child; kid; girl; boy; man; woman; user; family member; friend; relative; contact",
	"dog: 狗 小狗 狗狗 犬; dog; puppy",
	"cat: 猫 小猫 猫咪; cat; kitten",
	"bird: 鸟 鹦鹉; bird; parrot",
	"fish: 鱼 金鱼; fish; goldfish",
	"animal: 动物 宠物; animal; pet",
	"device: 设备 电器 家电 灯 传感器 开关 音箱; device; appliance; lamp; light; sensor; switch; speaker",
	"place: 地点 地方 城市 国家 房间 住址 地址 省 街道; place; location; city; country; room; address; street; town; region",
	"org: 公司 组织 机构 学校 医院 企业 品牌; organization; organisation; company; school; hospital; institution; brand; team",
	"event: 事件 活动 会议 聚会; event; meeting; party; activity",
	"time: 时间 日期; time; date",
	"thing: 东西 物品 物体 物; thing; object; item",
)

// loose are pairs of classes that do not exclude each other, in the order of
// their names.
var loose = set("animal bird", "animal cat", "animal dog", "animal fish", "device thing", "org place", "event time")

// exclusive tells whether nothing can be of both kinds.
func exclusive(a, b string) bool {
	x, y := kindClass(a), kindClass(b)
	if x == "" || y == "" || x == y {
		return false
	}
	if x > y {
		x, y = y, x
	}
	return !loose[x+" "+y]
}

// kindClass is the class of a kind, "" for one that is not listed.
func kindClass(kind string) string { return kindClasses[token.Fold(kind)] }

// sameKind tells whether two kinds are certainly one.
func sameKind(a, b string) bool {
	if a == "" || b == "" {
		return false
	}
	x, y := kindClass(a), kindClass(b)
	return x != "" && x == y || token.Fold(a) == token.Fold(b)
}

// ownWords are names that mean somebody else in everybody's mouth.
var ownWords = set("我", "我们", "咱", "咱们", "俺", "本人", "自己", "i", "me", "we", "us", "myself",
	"妈", "妈妈", "母亲", "爸", "爸爸", "父亲", "老公", "老婆", "丈夫", "妻子", "爱人", "奶奶", "爷爷", "外婆", "外公", "姥姥", "姥爷",
	"哥哥", "姐姐", "弟弟", "妹妹", "儿子", "女儿", "老妈", "老爸",
	"mom", "mum", "mother", "dad", "father", "grandma", "grandpa", "husband", "wife")

// relative is the default of Options.Relative: pronouns, the closest relatives,
// and what belongs to the speaker by its words.
func relative(name string) bool {
	key := nameKey(name)
	if ownWords[key] || strings.HasPrefix(key, "my ") || strings.HasPrefix(key, "our ") {
		return true
	}
	rest, ok := strings.CutPrefix(key, "我")
	if !ok {
		return false
	}
	rest = strings.TrimPrefix(strings.TrimPrefix(rest, "们"), "的")
	return ownWords[rest] || rest != "" && strings.HasPrefix(key, "我的") || strings.HasPrefix(key, "我家")
}
