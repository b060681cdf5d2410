package intent

import (
	"strings"

	"homeagent/agent/home"
)

// kinds are the slot kinds built in; each is a slot of its own name, too.
var kinds = map[string]func(toks []token, pos int, src string) []candidate{
	"duration":  func(toks []token, pos int, _ string) []candidate { return readDuration(toks, pos) },
	"number":    func(toks []token, pos int, _ string) []candidate { return readPercent(toks, pos) },
	"clock":     func(toks []token, pos int, _ string) []candidate { return readClock(toks, pos) },
	"text":      readText,
	"thing":     readThing,
	"fact":      readFact,
	"clause":    readClause,
	"statement": readStatement,
	"task":      readTask,
	"doing":     readDoing,
	"pause":     readPause,
	"remark":    readRemark,
}

// isFree tells the kinds that take words without understanding them; a voice
// grammar cannot hold them.
func isFree(kind string) bool {
	return kinds[kind] != nil && kind != "duration" && kind != "number" && kind != "clock" && kind != "pause"
}

// slot is what a name in braces stands for: a kind or a list of phrases.
type slot struct {
	kind    string
	phrases *phrases
	devices bool
}

func (s slot) match(toks []token, pos int, src string) []candidate {
	switch {
	case s.devices:
		return matchDevices(s.phrases, toks, pos)
	case s.phrases != nil:
		return s.phrases.match(toks, pos)
	}
	return kinds[s.kind](toks, pos, src)
}

// builtinSlots are the slots that every file has.
func builtinSlots(h *home.Home) map[string]slot {
	out := map[string]slot{
		"device": {phrases: devicePhrases(h), devices: true},
		"room":   {phrases: roomPhrases(h)},
		"lit":    {phrases: litPhrases(h), devices: true},
	}
	for kind := range kinds {
		out[kind] = slot{kind: kind}
	}
	return out
}

// spanText is the source text of tokens, as it was said.
func spanText(toks []token, from, to int, src string) string {
	return strings.TrimSpace(src[toks[from].start:toks[to-1].end])
}

// spans lists the free readings of up to limit tokens that ok accepts, the
// shortest first, so that a free slot leaves to its neighbours all they understand.
func spans(toks []token, pos, limit int, src string, ok func(from, to int) bool) []candidate {
	var out []candidate
	for end := pos + 1; end <= min(len(toks), pos+limit); end++ {
		if ok(pos, end) {
			out = append(out, candidate{end: end, text: spanText(toks, pos, end, src), free: end - pos})
		}
	}
	return out
}

// readText is the slot kind text: anything.
func readText(toks []token, pos int, src string) []candidate {
	return spans(toks, pos, len(toks), src, func(int, int) bool { return true })
}

// noThing are words that a short name does not hold; where they stand, a
// clause or a question begins.
var noThing = setOf(`your his her their him them me us not no never if when while because who what why how which where whether he she they we i you it is are was were be been do does did
	and will would should could can must to about turned and then said says go going gone went
	吗 呢 是 不 没 别 谁 怎 哪 如 他 她 它 您 了 就 也 都 还 因 但 你 么 什 说 问 想 把 被 会 能 应`)

// noThingStart are verbs: with one in front, "forgot to bring the key" would be a key.
var noThingStart = setOf("的 带 拿 买 关 锁 做 写 交 吃 喝 回 给 打 发 还 告 吹 洗 收 付 去 来 刷 充 喂 浇 不 没 everything all anything something everyone")

// readThing is the slot kind thing: the name of something, a few words.
func readThing(toks []token, pos int, src string) []candidate {
	return spans(toks, pos, 12, src, func(from, to int) bool {
		if noThingStart[toks[from].text] {
			return false
		}
		words, named := 0, false
		for i := from; i < to; i++ {
			t := toks[i]
			if t.hard || noThing[t.text] || i > from && t.pause {
				return false
			}
			words += 1 + b2i(!isHanText(t.text))
			named = named || !isDeterminer[t.text]
		}
		return named && words <= 14
	})
}
