package intent

import "strings"

// Words that change nothing about a command. No negation, tense, condition,
// person other than "you" or question word may ever stand in these lists.

// isDeterminer are words that may stand before any word of a name.
var isDeterminer = setOf("the a an my our that this these those 's 那 这 那个 这个")

// passedOver may stand anywhere in a command but inside a free text.
var passedOver = setOf("the a an my our that 's please just um uh er hmm kindly 请 嗯 呃 吧 啊 呀 啦 嘛 呗 哦 噢 哈")

// greeting words before the box's name.
var greetings = setOf("hey hi hello ok oh yo")

// notAName are words after "hey" that are no name of the box: people, first
// words of commands, and everything that could turn a command into something else.
var notAName = setOf(`mom mum mommy mummy dad daddy honey darling guys everyone everybody somebody someone anybody anyone nobody kids man dude you buddy
	grandma grandpa sir boy girl babe love sweetie there turn switch set start stop what when where who why remind remember forget please can
	could would will should shall must may might tell cancel lights light lamp volume shut put make help timer is are was were be been how i it
	he she they we us me him her them his hers their your my our not no never do does did do if unless while after before until because then
	and or but so that this these those have has had to the a an in on off at of for with without just only maybe perhaps`)

// before and after are taken off the ends of a sentence, as often as they stand
// there. A phrase in asks makes the sentence a polite question.
var (
	before = politeList(`
		please, ok, so, well, um, uh, er, oh, now, right, alright, all right, hey, hi, hello, hi there, hello there, yes please, yeah, sure, thanks, thank you, sorry, excuse me, kindly, quick, quickly, quickly now, listen,
		go ahead and, be so kind as to, be so kind and, be a dear and, do me a favor and, do me a favour and, i want you to, i would like you to, i need you to, i would appreciate it if you could,
		i said, just, then, and now, good morning, good evening, good night, goodnight, computer, assistant, butler, house, home agent, homeagent,
		请, 请问, 请你, 请您, 麻烦, 麻烦你, 麻烦您, 帮我, 帮忙, 帮个忙, 给我, 替我, 帮, 你, 您, 你帮我, 拜托, 拜托你, 劳驾, 劳烦, 劳烦你, 嗯, 呃, 喂, 嘿, 嗨, 哎, 诶, 唉, 哦, 噢, 啊, 好, 好的, 好了, 行, 那, 那就, 那么, 那你, 快, 快点, 快点儿, 赶紧, 赶快, 马上, 立刻, 立即, 现在, 先, 再, 来, 就,
		我想, 我要, 我想要, 我想让你, 我要你, 我需要你, 我需要, 我希望你, 你好, 您好, 早上好, 晚上好, 晚安, 谢谢, 管家, 小管家, 家庭助手, 助手, 语音助手, 不好意思, 打扰一下, 听着, 这样, 顺便, 另外, 直接`)
	beforeAsking = politeList(`
		can you, could you, would you, will you, can you please, could you please, could you kindly, can u, could u, would you be able to, are you able to, would you be so kind as to, would you be so kind and, would you mind, do you mind, is it possible to, would it be possible to, do you think you could, could you possibly,
		能, 能不能, 可不可以, 可以, 能否, 可否, 你能, 你能不能, 你可以, 你可不可以, 您能, 您能不能, 您可以, 能帮我, 可以帮我, 能给我, 能麻烦你, 可以麻烦你`)
	after = politeList(`
		please, thanks, thank you, thank you very much, thank you so much, thanks a lot, thx, cheers, now, right now, right away, for me, at once, immediately, asap, dear, ok, alright, all right, if possible, if you please, when you can, when you get a chance, quickly, then, again, mate, computer, assistant, butler, homeagent, home agent,
		吧, 啊, 呀, 哦, 噢, 啦, 嘛, 呗, 哈, 喽, 咯, 谢谢, 谢谢你, 谢谢您, 多谢, 谢了, 谢谢啦, 麻烦了, 麻烦你了, 麻烦啦, 辛苦了, 辛苦, 拜托, 拜托了, 一下, 下, 一下子, 现在, 马上, 立刻, 先, 快点, 快, 好了, 就行, 就好, 就可以了, 就行了, 感谢`)
	afterAsking = politeList(`
		will you, would you, can you, could you, if you can, if you could, if you would, if you do not mind, if you would not mind, if you like,
		好吗, 好么, 好不好, 行吗, 行不行, 可以吗, 可以不, 可不可以, 成吗, 行不, 好不`)
)

// gerunds follow "would you mind".
var gerunds = map[string]string{
	"turning": "turn", "switching": "switch", "setting": "set", "shutting": "shut", "putting": "put", "starting": "start",
	"telling": "tell", "reminding": "remind", "canceling": "cancel", "cancelling": "cancel", "making": "make", "remembering": "remember",
}

func politeList(list string) [][]string {
	var out [][]string
	for _, f := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == '\n' }) {
		toks, _ := tokenise(f)
		if len(toks) == 0 {
			continue
		}
		var words []string
		for _, t := range toks {
			words = append(words, t.text)
		}
		out = append(out, words)
	}
	return out
}

// asksAtEnd ask like a question mark.
var asksAtEnd = setOf("吗 么 呢")

// stripFront takes names and politeness off the front and never everything.
// asking reports a form that makes a polite question of a command ("could you").
func stripFront(toks []token, names [][]string) (rest []token, asking bool) {
	for changed := true; changed; {
		changed = false
		if n := addressed(toks, names); n > 0 && n < len(toks) {
			toks, changed = toks[n:], true
		}
		if n := longest(toks, before, false); n > 0 && n < len(toks) {
			toks, changed = toks[n:], true
			continue
		}
		if n := longest(toks, beforeAsking, false); n > 0 && n < len(toks) {
			if g, ok := gerunds[toks[n].text]; ok {
				toks = append([]token(nil), toks...)
				toks[n].text = g
			}
			toks, asking, changed = toks[n:], true, true
		}
	}
	return toks, asking
}

// stripEnd does the same at the end. question reports a particle that asks,
// which speaks against a command.
func stripEnd(toks []token, names [][]string) (rest []token, asking, question bool) {
	for changed := true; changed; {
		changed = false
		for _, name := range names {
			if n := endsWith(toks, name); n > 0 && n < len(toks) && toks[len(toks)-n].pause {
				toks, changed = toks[:len(toks)-n], true
			}
		}
		if n := longest(toks, after, true); n > 0 && n < len(toks) {
			toks, changed = toks[:len(toks)-n], true
		} else if n := longest(toks, afterAsking, true); n > 0 && n < len(toks) {
			toks, asking, changed = toks[:len(toks)-n], true, true
		} else if len(toks) > 1 && asksAtEnd[toks[len(toks)-1].text] {
			toks, question, changed = toks[:len(toks)-1], true, true
		}
	}
	return toks, asking, question
}

// addressed returns how many tokens at the front call the box: one of its
// names, "hey" with one other name, a Chinese pet name said twice or as 某某同学.
func addressed(toks []token, names [][]string) int {
	from := 0
	if len(toks) > 1 && greetings[toks[0].text] {
		from = 1
	}
	for _, name := range names {
		if startsWith(toks[from:], name) > 0 {
			return from + len(name)
		}
	}
	if from == 1 && len(toks) > 3 && toks[0].text != "oh" && toks[0].text != "ok" && !isHanText(toks[1].text) && !notAName[toks[1].text] {
		return 2
	}
	r := reader(toks)
	if len(toks) > 4 && isHanText(toks[0].text) && toks[0].text == toks[2].text && toks[1].text == toks[3].text && toks[0].text == "小" {
		return 4
	}
	for n := 1; n <= 3; n++ {
		if r.is(n, "同", "学") && len(toks) > n+2 && isHanText(toks[0].text) && toks[0].text == "小" {
			return n + 2
		}
	}
	return 0
}

func longest(toks []token, list [][]string, atEnd bool) int {
	best := 0
	for _, words := range list {
		if len(words) <= best {
			continue
		}
		if atEnd && endsWith(toks, words) > 0 || !atEnd && startsWith(toks, words) > 0 {
			best = len(words)
		}
	}
	return best
}

func startsWith(toks []token, words []string) int {
	if !reader(toks).is(0, words...) {
		return 0
	}
	return len(words)
}

func endsWith(toks []token, words []string) int {
	if len(toks) < len(words) || !reader(toks).is(len(toks)-len(words), words...) {
		return 0
	}
	return len(words)
}
