package entity

import "strings"

// compound are the surnames of two signs that are still borne.
var compound = set(`欧阳 司马 上官 诸葛 东方 皇甫 尉迟 公孙 慕容 令狐 宇文 长孙 司徒 司空 夏侯 南宫 轩辕 端木 独孤 百里 东郭 西门 呼延
	澹台 公冶 宗政 濮阳 淳于 单于 太叔 申屠 仲孙 钟离 闻人 赫连 万俟 闾丘 鲜于 拓跋 第五 完颜 纳兰 那拉`)

// single are the surnames of one sign that are borne by nearly everyone.
var single = signs(`王李张刘陈杨黄赵吴周徐孙马朱胡郭何林高罗郑梁谢宋唐许韩冯邓曹彭曾肖田董潘袁蔡蒋余于杜叶程魏苏吕丁任卢姚沈钟姜崔谭陆范
	汪廖石金韦贾夏付方邹熊白孟秦邱侯江尹薛闫段雷龙黎史陶贺毛郝顾龚邵万覃武钱戴严莫孔向常汤康易乔赖文庞樊兰殷施洪翟安颜倪温季俞
	章鲁葛柯毕聂丛焦柳邢岳齐梅庄辛管祝左涂谷祁时舒耿牟卜路詹关苗凌费纪靳盛童欧甄项曲成游裴席卫查屈鲍位覃霍翁隋植甘景单包司柏宁
	阮桂闵解强柴华车冉房边辜吉饶刁瞿戚丘古米池滕晋苑邬臧畅宫来嵺苟全褚廉简娄盖符奚木穆党燕郎邸冀谈姬屠连郜晏栾郁商蒙计喻揭窦迟宇敖
	糜鄢冷卓花仇艾蓝都巩稽井练仲乐虞卞封竺冼原官衣楚佟栗匡宗应台巫鞠僧桑荆谌银扬明沙薄伏岑习胥保和蔺水云昌凤酆皮卡尚昝茅滑梅危`)

// signs makes a set of the Han signs of a text.
func signs(s string) map[rune]bool {
	m := map[rune]bool{}
	for _, r := range s {
		if r > 0x2e80 {
			m[r] = true
		}
	}
	return m
}

// title is what a title says of its bearer.
type title struct {
	canon string
	// group tells which titles shut each other out: two roles, two terms of
	// familiarity. Honorifics go with everything of their sex.
	group string
	sex   string
}

const (
	honorific = "honorific"
	role      = "role"
	familiar  = "familiar"
)

// titles are Chinese titles that follow a surname, longest first where one ends
// another (the order is made by length).
var titles = readTitles(`
honorific m mr: 先生
honorific f ms: 女士 小姐
honorific f mrs: 太太 夫人
honorific . elder: 老
role . teacher: 老师 教师 导师
role . professor: 教授
role . doctor: 医生 大夫 医师
role . nurse: 护士
role . director: 主任
role . boss: 总 老板 董事长 总经理 总裁 董
role . manager: 经理
role . engineer: 工 工程师
role . lawyer: 律师
role . police: 警官 警察
role . master: 师傅
role . coach: 教练
role . headmaster: 校长
role . chief: 局长 处长 科长 部长 院长 所长 厂长 队长 班长 组长
role . secretary: 秘书 书记
role . accountant: 会计
role . driver: 司机
role . student: 同学
familiar m brother: 哥 大哥 哥哥
familiar f sister: 姐 大姐 姐姐
familiar m younger brother: 弟 小弟
familiar f younger sister: 妹 小妹
familiar m uncle: 叔 叔叔 大叔 伯 伯伯 大伯
familiar f aunt: 阿姨 姨 婶 婶婶 大婶 大妈 大娘 嫂 嫂子
familiar m grandfather: 爷爷 大爷
familiar f grandmother: 奶奶 婆婆
`)

// englishTitles stand before a name.
var englishTitles = readTitles(`
honorific m mr: mr mister sir
honorific f ms: ms miss
honorific f mrs: mrs madam
role . doctor: dr doctor
role . professor: prof professor
role . teacher: teacher
role . nurse: nurse
role . coach: coach
role . police: officer
role . captain: captain capt
role . judge: judge
familiar f aunt: aunt auntie aunty
familiar m uncle: uncle
familiar f grandmother: grandma granny
familiar m grandfather: grandpa
`)

func readTitles(table string) map[string]title {
	m := map[string]title{}
	for line := range strings.Lines(strings.TrimSpace(table)) {
		head, words, _ := strings.Cut(line, ":")
		f := strings.SplitN(strings.TrimSpace(head), " ", 3)
		t := title{group: f[0], canon: f[2]}
		if f[1] != "." {
			t.sex = f[1]
		}
		for w := range strings.FieldsSeq(words) {
			m[w] = t
		}
	}
	return m
}

// titleGroup is the group of each canonical title.
var titleGroup = func() map[string]string {
	m := map[string]string{}
	for _, t := range []map[string]title{titles, englishTitles} {
		for _, x := range t {
			m[x.canon] = x.group
		}
	}
	return m
}()

// compatible are pairs of roles that one person may have at once in the mouths
// of different people.
var compatible = map[[2]string]bool{
	{"professor", "teacher"}: true, {"director", "doctor"}: true, {"boss", "manager"}: true,
	{"director", "teacher"}: true, {"headmaster", "teacher"}: true, {"doctor", "professor"}: true,
	{"engineer", "master"}: true, {"driver", "master"}: true, {"boss", "director"}: true, {"coach", "teacher"}: true,
	{"boss", "chief"}: true, {"chief", "director"}: true, {"doctor", "teacher"}: true, {"boss", "engineer"}: true,
	{"engineer", "manager"}: true, {"mrs", "ms"}: true, {"sister", "younger sister"}: true, {"brother", "younger brother"}: true,
}

// products are names under which a device answers to more than one call.
var products = map[string]string{
	"小爱": "小爱同学", "天猫": "天猫精灵", "小度": "小度小度", "小度音箱": "小度小度", "小艺小艺": "小艺", "hey siri": "siri", "ok google": "google assistant",
}

// kinds are words for kinds of things, by the type they stand for.
var kinds = readKinds(`
person: 人 孩子 小孩 男孩 女孩 男生 女生 宝宝 婴儿 大人 老人 同学 同事 朋友 邻居 客人 老师 学生 医生 护士 司机 保姆 快递员 厨师 律师 工程师 班长
	person people child kid boy girl baby man woman teacher student doctor nurse neighbour neighbor friend colleague driver cook lawyer guest
animal dog: 狗 小狗 大狗 狗狗 dog puppy
animal cat: 猫 小猫 猫咪 cat kitten
animal: 宠物 动物 鸟 鱼 兔子 仓鼠 乌龟 鹦鹉 pet animal bird fish rabbit hamster turtle parrot horse
company: 公司 企业 品牌 店 商店 餐厅 饭店 超市 银行 单位 company firm brand shop store restaurant bank
school: 学校 幼儿园 小学 中学 大学 school university kindergarten
place: 城市 地方 小区 村 村子 街道 公园 房间 city town place village street park room river mountain
device: 设备 音箱 电视 手机 电脑 灯 空调 机器人 扫地机 摄像头 冰箱 洗衣机 device speaker lamp light television phone computer robot camera fridge
car: 车 汽车 car truck
food: 食物 菜 水果 饮料 小吃 谷物 粮食 food dish fruit drink cereal
work: 书 电影 歌 游戏 小说 电视剧 book film movie song game novel
software: 软件 程序 app 应用 software program
`)

func readKinds(table string) map[string]string {
	m := map[string]string{}
	typ := ""
	for line := range strings.Lines(strings.TrimSpace(table)) {
		words := line
		if t, rest, ok := strings.Cut(line, ":"); ok {
			typ, words = t, rest
		}
		for w := range strings.FieldsSeq(words) {
			m[w] = typ
		}
	}
	return m
}

// classOf is the type that a word alone stands for, "" if it is no such word.
func classOf(word string) string {
	if t, ok := kinds[word]; ok {
		return t
	}
	if t, ok := kinds[strings.TrimSuffix(word, "s")]; ok && !hasHan(word) {
		return t
	}
	return ""
}

// CanonicalType unifies the words by which a type is named: "狗" and "animal
// dog" are one. A word that is not known stays, in lower case.
func CanonicalType(word string) string {
	word = key(clean(word))
	if t := classOf(word); t != "" {
		return t
	}
	return word
}
