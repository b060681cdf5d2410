package intent

import "strings"

// What follows a "remember that" or a "remind me to". These kinds understand
// nothing of what they take in; they only refuse what shows that the words
// before them were no request to the box.

var (
	// noClauseStart are words with which no statement begins: a wish, a question, a memory.
	noClauseStart = setOf(`to when how what why where who whether if not never time day night evening morning summer winter year moment movie film song one feeling me us no do lest
		别 不 要 得 怎 谁 什 哪 吗 带 拿 这 那 以 当 千 了 着 住`)
	// statementWords are words of which an English statement has one.
	statementWords = setOf(`is are was were am be has have had like likes love loves hate hates prefer prefers live lives work works belongs means need needs want wants
		parked put left keep keeps kept takes drink drinks eat eats goes starts begins ends opens closes costs weighs speaks sleeps lies sits stands can comes arrives
		lends borrowed plays uses wears hangs got gets go come leaves lost found broke changed married lived visits told drives smokes teaches studies hate allergic vegetarian vegan afraid scared
		bought hid placed stored moved gave lent owe owes born expires will called named`)
	// statementSigns make a statement of a Chinese sentence.
	statementSigns = setOf("是 在 叫 有 姓 住 属 放 停 搁 藏 欠 喜 爱 恨 讨 怕")
	// noStatementStart are Chinese words with which something to do begins.
	noStatementStart = setOf("把 将 给 跟 让 叫 去 来 带 拿 买 关 锁 做 写 交 吃 喝 回 打 发 还 吹 洗 收 付 刷 充 喂 浇 按 准 早 放 看")
	// recurring are words of a task that a single reminder cannot do, or that
	// name a day which was not understood.
	recurring = setOf(`every each daily weekly monthly yearly monday tuesday wednesday thursday friday saturday sunday weekdays weekend next 每`)
)

// noDoes follow 不 in a statement: 不吃, 不喝.
var noDoes = setOf("吃 喝 喜 爱 会 能 是 在 要 看 抽 用 穿")

// readClause is the slot kind clause: what follows "that".
func readClause(toks []token, pos int, src string) []candidate {
	return spans(toks, pos, len(toks), src, func(from, to int) bool {
		return to-from >= 3 && !noClauseStart[toks[from].text]
	})
}

// readFact is the slot kind fact: what follows a Chinese 记住.
func readFact(toks []token, pos int, src string) []candidate {
	return spans(toks, pos, len(toks), src, func(from, to int) bool {
		first := toks[from].text
		if to-from < 3 || noClauseStart[first] && !((first == "这" || first == "那") && isStatement(toks[from:to])) {
			return false
		}
		last := toks[to-1].text
		return last != "吗" && last != "么"
	})
}

// readStatement is the slot kind statement: a sentence that says how something is.
func readStatement(toks []token, pos int, src string) []candidate {
	return spans(toks, pos, len(toks), src, func(from, to int) bool {
		return to-from >= 3 && toks[from].text != "that" && !noClauseStart[toks[from].text] && !noStatementStart[toks[from].text] && isStatement(toks[from:to])
	})
}

func isStatement(toks []token) bool {
	first := toks[0].text
	if (first == "my" || first == "our" || first == "i") && len(toks) >= 4 {
		return true
	}
	signs := false
	for i, t := range toks {
		if t.text == "吗" || t.text == "谁" || t.text == "哪" || t.text == "什" || t.text == "怎" {
			return false
		}
		signs = signs || statementWords[t.text] || i > 0 && statementSigns[t.text] ||
			i > 0 && i+1 < len(toks) && (t.text == "不" && noDoes[toks[i+1].text] || t.text == "过" && toks[i+1].text == "敏")
	}
	return signs
}

// noDoing are -ing words that quote, ask, or speak of something that is not so.
var noDoing = setOf(`saying telling asking wondering thinking talking writing quoting singing reading going hoping wishing planning pretending imagining dreaming
	refusing avoiding stopping forgetting testing joking kidding trying considering nothing something anything everything`)

// readDoing is the slot kind doing: what somebody is busy with, "boiling eggs".
func readDoing(toks []token, pos int, src string) []candidate {
	if t := toks[pos].text; !strings.HasSuffix(t, "ing") || len(t) < 5 || noDoing[t] {
		return nil
	}
	return spans(toks, pos, 5, src, func(from, to int) bool {
		for _, t := range toks[from+1 : to] {
			if noThing[t.text] && t.text != "to" || t.pause || t.hard {
				return false
			}
		}
		return true
	})
}

// noRemark are words that a remark beside a command does not hold: negation,
// condition, another time, other people, speech, doubt, a question.
var noRemark = setOf(`not no never none nothing if when while whenever unless until said says say saying told tell tells asks asked ask think thought wonder guess maybe perhaps
	later tomorrow yesterday tonight kidding joking wait hold but or instead except before after ago used would could should might did does was were had he she they him her them his
	you your what why how who which where whether because story film book song movie once set put turn turned stop timer reminder lamp light volume
	不 没 别 甭 如 若 假 要 是 说 问 叫 让 喊 讲 想 等 候 才 谁 什 怎 哪 吗 呢 再 明 昨 前 后 除 只 但 可 会 该 应 他 她 它 们 你 您 万 电 影 故 事 书 歌 从 灯 把 被 定 计 音 记 忘 提 醒`)

// readRemark is the slot kind remark: a short clause about something else.
func readRemark(toks []token, pos int, src string) []candidate {
	return spans(toks, pos, 8, src, func(from, to int) bool {
		if to-from < 2 {
			return false
		}
		for i, t := range toks[from:to] {
			if noRemark[t.text] || t.hard || i > 0 && t.pause {
				return false
			}
		}
		return true
	})
}

// readPause is the slot kind pause: no word, but a comma or a stop before the next one.
func readPause(toks []token, pos int, _ string) []candidate {
	if pos > 0 && pos < len(toks) && toks[pos].pause {
		return []candidate{{end: pos}}
	}
	return nil
}

// readTask is the slot kind task: what to be reminded of, once.
func readTask(toks []token, pos int, src string) []candidate {
	return spans(toks, pos, len(toks), src, func(from, to int) bool {
		for _, t := range toks[from:to] {
			if recurring[t.text] || t.text == "谁" || t.text == "吗" {
				return false
			}
		}
		return toks[from].text != "的"
	})
}
