package intent

import "strings"

// Words that change nothing about a command. No negation, tense, condition,
// person other than "you" or question word may ever stand in these lists.

// isDeterminer are words that may stand before any word of a name.
var isDeterminer = setOf("the both a an my our that this these those 's 那 这 那个 这个")

// passedOver may stand anywhere in a command but inside a free text.
var passedOver = setOf("the a an my our that 's please just um umm uh uhm er erm ehm hm hmm mm mmm kindly actually quickly 请 嗯 呃 额 吧 啊 呀 啦 嘛 呗 哦 噢 喔 哈 哟 哎 诶 欸 唉 咯 喽 呐")

// passedTogether may stand anywhere in a command as passedOver may, but only as a whole.
var passedTogether = byFirst(politeList(`
	for me, for us, right now, real quick, if you can, if you could, if possible, you know,
	一下, 一下子, 一下儿, 帮我, 帮忙, 帮个忙, 给我, 替我, 麻烦, 麻烦你, 麻烦您, 拜托, 拜托你, 劳驾, 顺便, 顺手, 赶紧, 赶快, 快点, 马上, 立刻`))

// inPassed are the single tokens of passedOver and passedTogether.
var inPassed = func() map[string]bool {
	out := map[string]bool{}
	for w := range passedOver {
		out[w] = true
	}
	for _, list := range passedTogether {
		for _, words := range list {
			for _, w := range words {
				out[w] = true
			}
		}
	}
	return out
}()

func byFirst(list [][]string) map[string][][]string {
	out := map[string][][]string{}
	for _, words := range list {
		out[words[0]] = append(out[words[0]], words)
	}
	return out
}

// passes returns how many tokens at pos change nothing about a command.
func passes(toks []token, pos int) int {
	if pos >= len(toks) {
		return 0
	}
	n := b2i(passedOver[toks[pos].text])
	for _, words := range passedTogether[toks[pos].text] {
		if len(words) > n && startsWith(toks[pos:], words) > 0 {
			n = len(words)
		}
	}
	return n
}

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
		please, well, shh, shush, got a minute, got a second, have you got a minute, do you have a minute, do you have a second, um, uh, er, erm, hmm, oh, ah, aha, umm, uhm,
		sorry to bother you, sorry to disturb you, pardon me, pardon, if it is not too much trouble, if you would, if you would be so kind, if possible, if that is ok,
		when you have a moment, when you have a second, when you get a chance, when you are ready, whenever you are ready, hey you, hey there, pretty please,
		now then, right then, ok then, so then, ok ok, ok so, ok now, yes, yep, yup, go on, come on, look, listen up, let us see, let me see, actually, quick question, one question,
		be a love and, be a pal and, be a sweetheart and, be good and, be nice and, be a good box and, i need your help, for your information, fyi, by the way, before i forget,
		one more thing, one last thing, another thing, oh and, and, also, first, next, i would love you to, i would love it if you could, i would love for you to,
		i would appreciate it if you could, i would appreciate it if you would, it would be great if you could, it would be nice if you could, it would be lovely if you could,
		i would be grateful if you could, i was wondering if you could, i am wondering if you could, wondering if you could, i would like it if you could, i want to ask you to, i would ask you to,
		i need to ask you to, i have to ask you to, i am asking you to, help me, sweetheart, quick, good day, good afternoon, thanks in advance, real quick,
		go and, alright, all right, hey, hi, hello, hi there, hello there, yes please, yeah, sure, thanks, thank you, sorry, excuse me, kindly,
		go ahead and, be so kind as to, be so kind and, be a dear and, do me a favor and, do me a favour and, i want you to, i would like you to, i need you to,
		i said, and now, good morning, good evening, good night, goodnight, home agent, homeagent, if you could, if you can, if you do not mind, quickly now,
		it is dark, it is dark in here, it is getting dark, it is too dark, it is too dark in here, it is so dark in here, it is too bright, it is too bright in here,
		i am home, i am back, i am going to bed, i am off to bed, i am leaving, i am going out, time for bed, it is bedtime,
		问一下, 问下, 想问一下, 我想问一下, 想问下, 我想问下, 麻烦问一下, 请问一下, 请教一下, 跟你说, 我跟你说, 对了, 哦对了, 啊对了, 去, 有空吗, 忙吗, 在吗, 在不在, 小盒子, 盒子, 小家伙, 小助手, 小助理, 小机器人, 机器人, 宝贝, 亲爱的, 亲, 老伙计, 伙计, 那什么,
		算了, 嘘, 哎呀, 哎哟, 哎呦, 唉呀, 哇, 好吧, 行吧, 好好好, 好了好了, 行了行了, 行了, 嗯嗯, 这样吧, 求你了, 求求你, 求求你了, 有劳, 有劳你, 烦请, 烦劳, 辛苦你, 辛苦一下, 可以的话, 方便的话, 如果可以的话, 要是方便的话, 有空的话, 要是可以的话, 如果方便的话,
		我想请你, 我想麻烦你, 想请你, 想麻烦你, 希望你, 希望你能, 我希望你能, 想让你, 你去, 你给我, 你来, 你先, 你现在, 你就, 你赶紧, 你快, 你快点, 你马上, 给我去, 老规矩, 嗨喽, 哈喽, 哈罗, 喂喂, 下午好, 中午好, 上午好, 早安, 早啊, 不好意思啊, 抱歉, 抱歉打扰, 打扰了, 打扰你了, 那个啥, 话说,
		就现在, 现在请, 你好啊, 嘿嘿, 呵呵, 额, 呃呃, 嗯那个, 呃那个, 哦那个, 啊那个, 顺便帮我, 然后, 接着, 还有, 再就是,
		请, 请问, 请你, 请您, 麻烦, 麻烦你, 麻烦您, 帮我, 帮忙, 帮个忙, 给我, 替我, 你帮我, 拜托, 拜托你, 劳驾, 劳烦, 劳烦你, 嗯, 呃, 喂, 嘿, 嗨, 哎, 诶, 唉, 哦, 噢, 啊, 好的, 那就, 那么, 快点, 快点儿, 赶紧, 赶快, 马上, 立刻, 立即,
		我想, 我要, 我想要, 我想让你, 我要你, 我需要你, 我需要, 我希望你, 你好, 您好, 早上好, 晚上好, 晚安, 谢谢, 小管家, 家庭助手, 语音助手, 不好意思, 打扰一下, 听着, 顺便, 另外,
		天黑了, 天亮了, 太黑了, 太暗了, 有点暗, 有点黑, 太亮了, 太刺眼了, 好黑, 好暗, 好亮, 屋里太暗了, 这里太暗了, 看不清了, 看不见了, 我要睡了, 我要睡觉了, 要睡觉了, 睡觉了, 我困了, 我要出门了, 我出门了, 出门了, 我回来了, 我到家了, 我走了`)
	beforeDoubtful = politeList(`
		ok, so, now, right, quickly, listen, just, then, box, little box, my friend, friend, buddy, pal, dear, my dear, darling, honey, computer, assistant, butler, house,
		帮, 你, 您, 好, 好了, 行, 那, 那你, 那个, 这个, 就是, 快, 现在, 先, 再, 来, 管家, 助手, 这样, 直接`)
	beforeAsking = politeList(`
		can someone, could someone, can somebody, could somebody, can anyone, can anybody,
		can you, could you, would you, will you, can you please, could you please, could you kindly, can u, could u, would you be able to, are you able to, would you be so kind as to, would you be so kind and,
		would you mind, do you mind, mind, is it possible to, would it be possible to, do you think you could, could you possibly, may i ask you to, can i ask you to, could i ask you to, might i ask you to, may i trouble you to, can i get you to, could i get you to,
		do you think you can, any chance you could, any chance you can, is there any chance you could, is there a chance you could, do you reckon you could, why do not you, could you maybe, can you maybe,
		could you go ahead and, can you go ahead and, would you be a dear and, could you be a dear and, would you be a love and, could you quickly, can you quickly, are you able, can you help me, could you help me,
		can you manage to, would you please, will you please, would you kindly, might you, wo not you, will not you, would you care to, would you like to, would it be too much to ask you to,
		能不能请你, 能不能麻烦你, 可不可以请你, 可不可以麻烦你, 能请你, 可以请你, 能否请你, 可否请你, 是否可以, 是不是可以, 可不可以帮我, 能不能帮我, 你能帮我, 你可以帮我, 你方便, 你可否, 您可否, 您可不可以, 你愿意, 你能否, 可以的话能不能,
		方便的话能不能, 有没有可能, 我可以请你, 我能请你, 我能不能请你, 我可以麻烦你, 不知道能不能, 不知道可不可以, 你会不会, 有空的话能不能, 行不行,
		能不能, 可不可以, 能否, 可否, 你能, 你能不能, 你可以, 你可不可以, 您能, 您能不能, 您可以, 能帮我, 可以帮我, 能给我, 能麻烦你, 可以麻烦你`)
	beforeAskingDoubtful = politeList(`能, 可以`)
	after                = politeList(`
		pretty please, please and thank you, many thanks, over there, around here, in here please, thanks a million, thanks a bunch, thanks so much, thanks in advance, thank you kindly, thank you dear, thank you box, thanks box, much appreciated, i appreciate it, ta, tia, would be great, that would be great, that would be nice, that would be lovely,
		that would be wonderful, that would be good, that would help, that is all, if it is not too much trouble, if that is ok, if it is ok, when you are ready, when you have a moment, when you have a second, as soon as possible, as soon as you can, real quick, straight away, right this minute,
		this instant, this minute, this very moment, this second, without delay, for us, for me please, ok thanks, and thank you, and thanks, there is a dear, there is a good box, would you kindly, if you would be so kind, if you can please, come on, for once, i am asking you, i beg you, you hear me, you hear, for a change,
		please, thanks, thank you, thank you very much, thank you so much, thanks a lot, thx, cheers, right now, right away, for me, at once, immediately, asap, all right, if possible, if you please, when you can, when you get a chance, homeagent, home agent,
		谢谢啊, 谢谢你啊, 谢谢哈, 谢谢喽, 谢谢咯, 多谢啦, 多谢了, 多谢你, 感谢你, 感谢啦, 感恩, 辛苦啦, 辛苦你了, 辛苦您了, 麻烦你啦, 麻烦您了, 拜托啦, 拜托你了, 劳驾, 劳驾了, 劳驾您了, 好啦, 就好了, 就成, 就可以, 可以的话, 方便的话, 如果可以的话, 要是可以的话, 哟, 呦, 喔, 嗯, 哎, 呐, 诶,
		就现在, 现在就, 立即, 赶紧的, 赶紧, 赶快, 快点儿, 速度, 求你了, 求求你, 求求你了, 嘞, 呢谢谢, 行么, 可以么, 一声, 为好,
		吧, 啊, 呀, 哦, 啦, 嘛, 呗, 哈, 喽, 咯, 谢谢, 谢谢你, 谢谢您, 多谢, 谢了, 谢谢啦, 麻烦了, 麻烦你了, 麻烦啦, 辛苦了, 辛苦, 拜托, 拜托了, 来着, 一下, 一下子, 马上, 立刻, 就行, 就好, 就可以了, 就行了, 感谢`)
	afterDoubtful = politeList(`
		now, dear, ok, quickly, then, again, mate, box, little box, my dear, my friend, friend, buddy, pal, honey, darling, love, sweetheart, sir, man, home, house, robot, 小盒子, 盒子, 小家伙, 宝贝, 亲, 哥们, 兄弟, 小助手, computer, assistant, butler,
		下, 现在, 先, 快点, 快, 好了`)
	afterAsking = politeList(`
		will you, would you, can you, could you, wo not you, will not you, can not you, could not you, will you please, would you please, can you please, could you please, can you do that, could you do that, can you do that for me, is that ok, is that possible, if that is possible, would that be ok, do you mind, if i may, if i may ask, if you know, if you can, if you could, if you would, if you do not mind, if you would not mind, if you like,
		好吗谢谢, 可以吗谢谢, 行吗谢谢, 行么, 可以么, 成不, 中不, 好不啦, 能行吗, 可以不可以, 能不能, 没问题吧, 没问题吗, 方便吗, 听到没, 听见没, 听到了吗, 听见了吗, 知道吗, 知道了吗, 知道没, 好伐,
		好吗, 好么, 好不好, 行吗, 行不行, 可以吗, 可以不, 可不可以, 成吗, 行不, 好不`)
)

// afterAskingDoubtful ask as well, and may be a part of what stands before them.
var afterAskingDoubtful = politeList(`ok, all right, right, yeah, yes, eh, huh, 行, 好, 可以, 成`)

// gerunds follow "would you mind".
var gerunds = map[string]string{
	"turning": "turn", "switching": "switch", "setting": "set", "shutting": "shut", "putting": "put", "starting": "start",
	"lowering": "lower", "raising": "raise", "getting": "get", "giving": "give", "killing": "kill", "deleting": "delete", "removing": "remove", "checking": "check", "showing": "show",
	"speaking": "speak", "talking": "talk", "being": "be", "keeping": "keep", "forgetting": "forget", "noting": "note", "saving": "save", "listing": "list", "timing": "time", "counting": "count",
	"lighting": "light", "increasing": "increase", "decreasing": "decrease", "reducing": "reduce", "running": "run", "adding": "add", "creating": "create", "reading": "read", "helping": "help",
	"explaining": "explain", "writing": "write", "letting": "let", "waking": "wake", "nudging": "nudge", "bringing": "bring", "flipping": "flip", "cutting": "cut", "clearing": "clear", "ending": "end",
	"scrapping": "scrap", "erasing": "erase", "wiping": "wipe", "stopping": "stop", "dropping": "drop", "cranking": "crank", "quieting": "quiet", "jotting": "jot", "beginning": "begin", "powering": "power",
	"having": "have", "changing": "change", "adjusting": "adjust", "ringing": "ring", "taking": "take", "describing": "describe", "reporting": "report", "calling": "call",
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
		if m := longest(toks, afterAskingDoubtful, true); m > n && m < len(toks) && toks[len(toks)-m].pause {
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
