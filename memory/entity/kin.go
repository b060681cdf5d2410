package entity

import "strings"

// kinTable lists kin terms, those that mean the same in one line. A line is:
// sex, canonical term, how many one speaker can have (1 or n), the terms.
var kinTable = `
f mother 1: 妈妈 妈 老妈 母亲 娘 妈咪 老娘 mother mom mum mommy mummy mama ma
m father 1: 爸爸 爸 老爸 父亲 爹 老爹 爹地 father dad daddy papa
f paternal grandmother 1: 奶奶 祖母
m paternal grandfather 1: 爷爷 祖父
f maternal grandmother 1: 外婆 姥姥 外祖母 阿婆 家婆
m maternal grandfather 1: 外公 姥爷 外祖父 阿公 家公
f grandmother n: grandmother grandma granny nana gran
m grandfather n: grandfather grandpa granddad
f wife 1: 老婆 妻子 媳妇 太太 爱人 wife
m husband 1: 老公 丈夫 先生 husband
f wife's mother 1: 丈母娘 岳母
m wife's father 1: 岳父 老丈人
f husband's mother 1: 婆婆
m husband's father 1: 公公
f mother-in-law 1: mother-in-law
m father-in-law 1: father-in-law
m elder brother n: 哥哥 哥 老哥
f elder sister n: 姐姐 姐 老姐
m younger brother n: 弟弟 弟 老弟
f younger sister n: 妹妹 妹 老妹
m brother n: brother bro
f sister n: sister sis
m son n: 儿子 son
f daughter n: 女儿 闺女 daughter
m grandson n: 孙子 外孙 grandson
f granddaughter n: 孙女 外孙女 granddaughter
m father's younger brother n: 叔叔 叔
m father's elder brother n: 伯伯 伯父 大伯
f father's sister n: 姑姑 姑妈 姑
m mother's brother n: 舅舅 舅
f mother's sister n: 阿姨 姨妈 姨
f uncle's wife n: 婶婶 伯母 舅妈
m uncle n: uncle
f aunt n: aunt auntie
m cousin m n: 表哥 表弟 堂哥 堂弟
f cousin f n: 表姐 表妹 堂姐 堂妹
. cousin n: cousin
m nephew n: 侄子 外甥 nephew
f niece n: 侄女 外甥女 niece
f daughter-in-law n: 儿媳 儿媳妇 daughter-in-law
m son-in-law n: 女婿 son-in-law
m boyfriend 1: 男朋友 男友 boyfriend
f girlfriend 1: 女朋友 女友 girlfriend
. colleague n: 同事 colleague coworker
. classmate n: 同学 classmate
. friend n: 朋友 friend
. neighbour n: 邻居 neighbour neighbor
. boss n: 老板 领导 上司 boss
. teacher n: 老师 班主任 teacher
. doctor n: 医生 doctor
. assistant n: 秘书 助理 assistant secretary
. family n: 家人 家 family
`

// kinTerm is a line of kinTable.
type kinTerm struct {
	canon, sex string
	one        bool // a speaker has at most one
}

var kinTerms, kinKnown, kinOne = readKin()

func readKin() (terms map[string]kinTerm, known, one map[string]bool) {
	terms, known, one = map[string]kinTerm{}, map[string]bool{}, map[string]bool{}
	for line := range strings.Lines(strings.TrimSpace(kinTable)) {
		head, words, _ := strings.Cut(line, ":")
		f := strings.Fields(head)
		t := kinTerm{canon: strings.Join(f[1:len(f)-1], " "), one: f[len(f)-1] == "1"}
		if f[0] != "." {
			t.sex = f[0]
		}
		known[t.canon] = true
		one[t.canon] = t.one
		for w := range strings.FieldsSeq(words) {
			terms[w] = t
		}
	}
	return terms, known, one
}

// generic are the terms of kinTable that name a relation a speaker has to many;
// without an owner they are words for a kind, not kin.
var generic = set("colleague classmate friend neighbour boss teacher doctor assistant family")

// ordinals before a kin term number it: 大姨, 二姨, 三叔.
const ordinals = "大二三四五六七八九十小老幺"

// kinOf reads a kin term with or without an ordinal.
func kinOf(s string) (kinTerm, bool) {
	if t, ok := kinTerms[s]; ok {
		return t, true
	}
	rs := []rune(s)
	if len(rs) >= 2 && strings.ContainsRune(ordinals, rs[0]) {
		if t, ok := kinTerms[string(rs[1:])]; ok && !t.one && !generic[t.canon] {
			t.canon += " " + string(rs[0])
			t.one = true
			return t, true
		}
	}
	return kinTerm{}, false
}
