package intent

import "strings"

// Words that change nothing about a command. No negation, tense, condition,
// person other than "you" or question word may ever stand in these lists.

// isDeterminer are words that may stand before any word of a name.
var isDeterminer = setOf("the both a an my our that this these those 's 那 这 那个 这个")

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

// The lists of politeness. What stands in a plain list is never part of a name;
// what stands in a doubtful one may be (快 of 快递, 下 of 楼下, "now"), so it
// does not count where a free slot would begin or end beside it.
var (
	before = politeList(`
		please, well, um, uh, er, oh, alright, all right, hey, hi, hello, hi there, hello there, yes please, yeah, sure, thanks, thank you, sorry, excuse me, kindly,
		go ahead and, be so kind as to, be so kind and, be a dear and, do me a favor and, do me a favour and, i want you to, i would like you to, i need you to,
		i said, and now, good morning, good evening, good night, goodnight, home agent, homeagent, if you could, if you can, if you do not mind, quickly now,
		it is dark, it is dark in here, it is getting dark, it is too dark, it is too dark in here, it is so dark in here, it is too bright, it is too bright in here,
		i am home, i am back, i am going to bed, i am off to bed, i am leaving, i am going out, time for bed, it is bedtime,
		请, 请问, 请你, 请您, 麻烦, 麻烦你, 麻烦您, 帮我, 帮忙, 帮个忙, 给我, 替我, 你帮我, 拜托, 拜托你, 劳驾, 劳烦, 劳烦你, 嗯, 呃, 喂, 嘿, 嗨, 哎, 诶, 唉, 哦, 噢, 啊, 好的, 那就, 那么, 快点, 快点儿, 赶紧, 赶快, 马上, 立刻, 立即,
		我想, 我要, 我想要, 我想让你, 我要你, 我需要你, 我需要, 我希望你, 你好, 您好, 早上好, 晚上好, 晚安, 谢谢, 小管家, 家庭助手, 语音助手, 不好意思, 打扰一下, 听着, 顺便, 另外,
		天黑了, 天亮了, 太黑了, 太暗了, 有点暗, 有点黑, 太亮了, 太刺眼了, 好黑, 好暗, 好亮, 屋里太暗了, 这里太暗了, 看不清了, 看不见了, 我要睡了, 我要睡觉了, 要睡觉了, 睡觉了, 我困了, 我要出门了, 我出门了, 出门了, 我回来了, 我到家了, 我走了`)
	beforeDoubtful = politeList(`
		ok, so, now, right, quick, quickly, listen, just, then, computer, assistant, butler, house,
		帮, 你, 您, 好, 好了, 行, 那, 那你, 那个, 这个, 就是, 快, 现在, 先, 再, 来, 就, 管家, 助手, 这样, 直接`)
	beforeAsking = politeList(`
		can you, could you, would you, will you, can you please, could you please, could you kindly, can u, could u, would you be able to, are you able to, would you be so kind as to, would you be so kind and,
		would you mind, do you mind, mind, is it possible to, would it be possible to, do you think you could, could you possibly, may i ask you to,
		能不能, 可不可以, 能否, 可否, 你能, 你能不能, 你可以, 你可不可以, 您能, 您能不能, 您可以, 能帮我, 可以帮我, 能给我, 能麻烦你, 可以麻烦你`)
	beforeAskingDoubtful = politeList(`能, 可以`)
	after                = politeList(`
		please, thanks, thank you, thank you very much, thank you so much, thanks a lot, thx, cheers, right now, right away, for me, at once, immediately, asap, all right, if possible, if you please, when you can, when you get a chance, homeagent, home agent,
		吧, 啊, 呀, 哦, 啦, 嘛, 呗, 哈, 喽, 咯, 谢谢, 谢谢你, 谢谢您, 多谢, 谢了, 谢谢啦, 麻烦了, 麻烦你了, 麻烦啦, 辛苦了, 辛苦, 拜托, 拜托了, 来着, 一下, 一下子, 马上, 立刻, 就行, 就好, 就可以了, 就行了, 感谢`)
	afterDoubtful = politeList(`
		now, dear, ok, alright, quickly, then, again, mate, computer, assistant, butler,
		下, 现在, 先, 快点, 快, 好了`)
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
var asksAtEnd = setOf("吗 呢")

// politeness is what was taken off a sentence.
type politeness struct {
	// asking is a form that makes a polite question of a command ("could you").
	asking bool
	// question is a particle that asks, which speaks against a command.
	question bool
	// doubtful is set where the sentence may have lost a part of a name at its
	// front or its end.
	doubtfulFront, doubtfulEnd bool
}

// stripFront takes names and politeness off the front and never everything.
func stripFront(toks []token, names [][]string, doubtful bool) (rest []token, p politeness) {
	for {
		if n := addressed(toks, names); n > 0 && n < len(toks) {
			toks = toks[n:]
			continue
		}
		n, asks := longest(toks, before, false), false
		if m := longest(toks, beforeAsking, false); m > n {
			n, asks = m, true
		}
		if m := longest(toks, beforeDoubtful, false); m > n && m < len(toks) && (doubtful || toks[m].pause) {
			n, asks = m, false
			p.doubtfulFront = p.doubtfulFront || !toks[m].pause
		}
		if m := longest(toks, beforeAskingDoubtful, false); m > n && m < len(toks) && (doubtful || toks[m].pause) {
			n, asks = m, true
			p.doubtfulFront = true
		}
		if n == 0 || n >= len(toks) {
			return toks, p
		}
		toks = toks[n:]
		if asks {
			p.asking = true
			if g, ok := gerunds[toks[0].text]; ok {
				toks = append([]token(nil), toks...)
				toks[0].text = g
			}
		}
	}
}

// stripEnd does the same at the end.
func stripEnd(toks []token, names [][]string, doubtful bool) (rest []token, p politeness) {
	for {
		last := len(toks)
		for _, name := range names {
			if n := endsWith(toks, name); n > 0 && n < len(toks) && toks[len(toks)-n].pause {
				toks = toks[:len(toks)-n]
			}
		}
		n := longest(toks, after, true)
		if m := longest(toks, afterAsking, true); m > n && m < len(toks) {
			n, p.asking = m, true
		}
		if m := longest(toks, afterDoubtful, true); m > n && m < len(toks) && (doubtful || toks[len(toks)-m].pause) {
			p.doubtfulEnd = p.doubtfulEnd || !toks[len(toks)-m].pause
			n = m
		}
		switch {
		case n > 0 && n < len(toks):
			toks = toks[:len(toks)-n]
		case len(toks) > 1 && asksAtEnd[toks[len(toks)-1].text]:
			toks, p.question = toks[:len(toks)-1], true
		}
		if len(toks) == last {
			return toks, p
		}
	}
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
