package graph

import (
	"strings"

	"homeagent/memory/token"
)

// single lists the relations that have one answer at a time, a class a line:
// a new object ends the old fact. Words of one class mean the same. The list is
// short on purpose: a relation wrongly in it loses facts from sight, one
// missing merely leaves an outdated fact beside the new one.
var single = classes(
	"@at: 在 放在 位于 放到 搁在 停在 藏在 收在 存在 挂在 现在在; "+
		"is at; is in; is on; is under; is behind; is beside; is near; is next to; is above; is below; is inside; "+
		"are at; are in; are on; are under; are behind; are beside; are near; are next to; are above; are below; are inside; "+
		"is located in; is located at; located in; located at; location; location is; is kept in; is kept at; are kept in; are kept at; "+
		"is parked at; is parked in; is parked on; 位置 位置是 的位置是",
	"@home: 住在 家在 住 居住在 搬到 搬到了 搬去 搬去了; lives in; lives at; live in; live at; resides in; moved to; "+
		"home is; address; address is; 地址 地址是 的地址是",
	"@name: 叫 名叫 名字叫 名字是 名字 的名字是 姓名 姓名是; is named; is called; name; name is; named; called",
	"@birthday: 生日 生日是 的生日是 出生于 生于; birthday; birthday is; was born on; born on",
	"@age: 年龄 年龄是 的年龄是 今年; age; age is; is aged",
	"@phone: 电话 电话是 的电话是 电话号码 电话号码是 的电话号码是 手机号 手机号是 的手机号是; phone; phone is; phone number; phone number is",
	"@password: 密码 密码是 的密码是; password; password is; code; code is",
)

// alike lists relations of many answers that mean the same. Classes that begin
// with "@~" are true in both directions. What is merely similar is left apart:
// two rows for one fact are a smaller harm than one row for two.
var alike = classes(
	"@is: 是 就是 即 即是; is; are; am",
	"@like: 喜欢 喜爱 爱好 爱好是; likes; like; enjoys; enjoy; is fond of; fond of",
	"@eat: 喜欢吃 爱吃; likes to eat; like to eat; likes eating; like eating; enjoys eating",
	"@drink: 喜欢喝 爱喝; likes to drink; like to drink; likes drinking; like drinking; enjoys drinking",
	"@work: 工作于 就职于 任职于 在职于 上班于 工作单位 工作单位是 的工作单位是; works at; works for; work at; work for; is employed by; is employed at",
	"@own: 有 拥有; has; have; owns; own; has got; have got",
	"@bought: 买了 购买了 买过; bought; purchased; has bought; has purchased",
	"@allergic: 过敏 过敏原 过敏原是; is allergic to; allergic to; am allergic to; has an allergy to; has allergy to",
	"@mother: 妈妈 母亲 妈妈是 母亲是 的妈妈是 的母亲是; mother; mother is; mom; mom is; mum; mum is",
	"@father: 爸爸 父亲 爸爸是 父亲是 的爸爸是 的父亲是; father; father is; dad; dad is",
	"@wife: 妻子 老婆 太太 妻子是 老婆是 太太是 的妻子是 的老婆是 的太太是; wife; wife is",
	"@husband: 丈夫 老公 先生 丈夫是 老公是 的丈夫是 的老公是; husband; husband is",
	"@son: 儿子 儿子是 的儿子是; son; son is",
	"@daughter: 女儿 女儿是 的女儿是; daughter; daughter is",
	"@~spouse: 配偶 配偶是 的配偶是 结婚 夫妻; is married to; married; married to; spouse; spouse is",
	"@~friend: 朋友 朋友是 的朋友是 好朋友 好朋友是; is friends with; are friends with; friends with; is a friend of; is friend of; friend; friend of",
	"@~sibling: 兄弟姐妹; is a sibling of; is sibling of; sibling; sibling of",
	"@~colleague: 同事 同事是 的同事是; is a colleague of; is colleague of; colleague; colleague of; is a coworker of; coworker of; "+
		"works with; work with",
	"@~classmate: 同学 同学是 的同学是; is a classmate of; classmate; classmate of",
	"@~neighbour: 邻居 邻居是 的邻居是; is a neighbour of; is a neighbor of; neighbour; neighbor; neighbour of; neighbor of; "+
		"lives next to; lives next door to",
	"@~with: 同住; lives with; live with; lives together with; shares a flat with",
	"!@like: 不喜欢 讨厌; dislikes; dislike; doesn't like; does not like; don't like; do not like",
)

// asked are the words by which questions ask for relations of a class. They
// are in the index for each fact of it; a change means a new indexVersion.
var asked = map[string]string{
	"@home": "住哪 住在 live", "@name": "名字 name", "@birthday": "生日 birthday born", "@age": "岁 age old", "@phone": "电话 phone number",
	"@password": "密码 password", "@work": "工作 work job", "@allergic": "过敏 allergic", "@mother": "妈妈 mother mom", "@father": "爸爸 father dad",
	"@wife": "妻子 wife", "@husband": "丈夫 husband", "@son": "儿子 son", "@daughter": "女儿 daughter", "@~spouse": "结婚 married",
	"@~friend":    "朋友 friend",
	"@~colleague": "同事 colleague", "@~neighbour": "邻居 neighbour", "@bought": "买 buy",
}

// classes reads the tables above: classes apart by argument, phrases by ";",
// Chinese words by spaces.
func classes(lines ...string) map[string]string {
	m := map[string]string{}
	for _, line := range lines {
		class, words, _ := strings.Cut(line, ":")
		for phrase := range strings.SplitSeq(words, ";") {
			phrase = strings.TrimSpace(phrase)
			if !token.HasHan(phrase) {
				m[phrase] = class
				continue
			}
			for word := range strings.FieldsSeq(phrase) {
				m[word] = class
			}
		}
	}
	return m
}

// times are words by which an object is a time and no place: a party that is
// on Friday and in the garden has not moved.
var times = []string{"点", "号", "月", "周", "星期", "礼拜", "今天", "明天", "后天", "今晚", "早上", "上午", "中午", "下午", "晚上",
	"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "today", "tomorrow", "tonight",
	"january", "february", "march", "april", "may ", "june", "july", "august", "september", "october", "november", "december",
	"o'clock", " am", " pm", ":"}

// relationKey is what relations are compared by. one is true where a subject
// has one object at a time.
func relationKey(relation, object string) (key string, one bool) {
	f := closeHan(strings.ReplaceAll(token.Fold(strings.ReplaceAll(relation, "_", " ")), "’", "'"))
	for _, form := range []string{f, bare(f)} {
		if class, ok := single[form]; ok {
			if class == "@at" && isTime(object) {
				return "@when", true
			}
			return class, true
		}
		if class, ok := alike[form]; ok {
			return class, false
		}
	}
	if rest, ok := negated(f); ok {
		key, _ := relationKey(rest, object)
		return opposite(key), false
	}
	return bare(f), false
}

func isTime(object string) bool {
	o := token.Fold(object)
	for _, t := range times {
		if strings.Contains(o, t) {
			return true
		}
	}
	return false
}

// bare is a folded relation without what changes nothing of its meaning:
// punctuation, empty words, "'s" before and "is" behind, the ending of the
// third person. "妈妈是", "的妈妈" and "妈妈" become one.
func bare(f string) string {
	f = strings.TrimSuffix(strings.TrimPrefix(f, "'s "), " is")
	if token.HasHan(f) {
		for _, end := range []string{"是", "为"} {
			if rest, ok := strings.CutSuffix(f, end); ok && rest != "" && !strings.HasSuffix(rest, "不") {
				f = rest
				break
			}
		}
	}
	words := wording(f)
	if len(words) > 0 {
		words[0] = plainVerb(words[0])
	}
	if s := join(words...); s != "" {
		return s
	}
	return f
}

// plainVerb takes the ending of the third person off an English verb.
func plainVerb(w string) string {
	if len(w) < 4 || strings.HasSuffix(w, "ss") || strings.HasSuffix(w, "'s") || w == "does" || w == "this" || !strings.HasSuffix(w, "s") {
		return w
	}
	for _, end := range []string{"shes", "ches", "xes", "oes"} {
		if strings.HasSuffix(w, end) {
			return w[:len(w)-2]
		}
	}
	return w[:len(w)-1]
}

// negated takes the negation off a folded relation.
func negated(f string) (string, bool) {
	for _, n := range []struct{ with, without string }{
		{"does not ", ""}, {"doesn't ", ""}, {"do not ", ""}, {"don't ", ""},
		{"is not ", "is "}, {"isn't ", "is "}, {"are not ", "are "}, {"aren't ", "are "}, {"am not ", "am "},
		{"不", ""},
	} {
		if rest, ok := strings.CutPrefix(f, n.with); ok && strings.TrimSpace(rest) != "" {
			return n.without + strings.TrimSpace(rest), true
		}
	}
	if f == "is not" || f == "isn't" || f == "are not" {
		return "is", true
	}
	return "", false
}

// opposite is the key of what contradicts a key.
func opposite(key string) string {
	if rest, ok := strings.CutPrefix(key, "!"); ok {
		return rest
	}
	return "!" + key
}

// symmetric tells whether relations of a key are true in both directions.
func symmetric(key string) bool { return strings.HasPrefix(strings.TrimPrefix(key, "!"), "@~") }
