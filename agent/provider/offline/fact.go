package offline

import (
	"strings"

	"homeagent/agent/intent"
	"homeagent/agent/pattern"
)

var (
	// zhAttribute is "X的生日是Y": the relation keeps the words, so that the
	// graph knows it has one answer at a time.
	zhAttribute = pattern.New(`^(.+?)(的(?:生日|密码|电话号码|电话|手机号|地址|名字|位置|年龄)是)(.+)$`)
	zhRelation  = pattern.New(`^(.+?)(放在|停在|藏在|收在|搁在|存在|挂在|住在|位于|名叫|属于|最喜欢|不喜欢|喜欢|讨厌|不吃|不喝|不能吃|等于|在|是|叫|爱|有|对|姓|为)(.+)$`)

	enAttribute = pattern.New(`(?i)^(my|our|(?:[\w ]+)'s)\s+(birthday|address|phone number|phone|password|name|age)\s+(is)\s+(.+)$`)
	enRelation  = pattern.New(`(?i)^(.+?)\s+(` +
		`(?:is|are|am|was|were)\s+(?:called|named|located in|located at|kept in|kept at|parked in|parked at|parked on|allergic to|born on|born in|under|in|on|at|behind|beside|near|next to|above|below|inside|from)|` +
		`(?:lives?|works?)\s+(?:in|at|for|on)|belongs to|(?:do not|don't|does not|doesn't|can't|cannot|can not)\s+(?:like|eat|drink|want|have)|` +
		`is|are|am|was|were|has|have|likes?|loves?|hates?|prefers?|owns?|needs?|wants?|drinks?|eats?|parked|put|left|keeps?|kept|takes?|means|costs?|weighs?|speaks?)\s+(.+)$`)
)

// factOf takes a statement apart into subject, relation and object, which read
// as the sentence when they stand one after the other; one that it cannot take
// apart is kept whole as what the user said.
func factOf(s string) Fact {
	s = strings.TrimRight(strings.TrimSpace(s), ".。!！,，;；")
	if intent.Lang(s, "en") == "zh" {
		for _, re := range []*pattern.Pattern{zhAttribute, zhRelation} {
			if m := re.FindStringSubmatch(s); m != nil {
				return trimmed(m[1], m[2], m[3])
			}
		}
		return Fact{"用户", "说", s}
	}
	if m := enAttribute.FindStringSubmatch(s); m != nil {
		owner := strings.TrimSuffix(m[1], "'s")
		switch strings.ToLower(owner) {
		case "my":
			owner = "I"
		case "our":
			owner = "we"
		}
		return trimmed(owner, strings.ToLower(m[2]+" "+m[3]), m[4])
	}
	if m := enRelation.FindStringSubmatch(s); m != nil {
		return trimmed(m[1], m[2], m[3])
	}
	return Fact{"the user", "said", s}
}

func trimmed(subject, relation, object string) Fact {
	return Fact{strings.TrimSpace(subject), strings.Join(strings.Fields(relation), " "), strings.TrimSpace(object)}
}

var (
	enOwned = pattern.New(`(?i)^((?:your )?\S+) (birthday|anniversary|address|phone number|phone|password|name|age|doctor|dentist|teacher|boss|nurse|vet|` +
		`wife|husband|son|daughter|mother|mom|father|dad|brother|sister|friend|neighbor|neighbour) is\b`)
	enSaid = pattern.New(`(?i)^the user said\s+`)
	// enUser is the user as the subject of a fact, with the verb that follows.
	ofUser  = pattern.New(`(?i)^(?:the )?user's `)
	enUser  = pattern.New(`(?i)^(?:the )?user (\w+)\b`)
	enWords = pattern.New(`(?i)\b(I am|I was|I have|I|me|my|mine|our|we are|we)\b`)
)

// enTurned says to you what you said of yourself.
var enTurned = map[string]string{
	"i am": "you are", "i was": "you were", "i have": "you have", "i": "you", "me": "you", "my": "your", "mine": "yours",
	"our": "your", "we are": "you are", "we": "you",
}

// enSecond is a verb's form for "you" where it is not its third person less an s.
var enSecond = map[string]string{"is": "are", "was": "were", "has": "have", "does": "do", "goes": "go", "watches": "watch",
	"teaches": "teach", "studies": "study", "carries": "carry", "always": "always", "misses": "miss", "wishes": "wish"}

// toYou says of you what is known of the user.
func toYou(s string) string {
	return enUser.ReplaceAllStringFunc(s, func(m string) string {
		verb := m[strings.LastIndexByte(m, ' ')+1:]
		if v, ok := enSecond[strings.ToLower(verb)]; ok {
			verb = v
		} else if strings.HasSuffix(verb, "s") && !strings.HasSuffix(verb, "ss") {
			verb = strings.TrimSuffix(verb, "s")
		}
		return "you " + verb
	})
}

// turned is a remembered sentence as it is told to the one who said it.
func turned(s, lang string) string {
	if intent.Lang(s, lang) == "zh" {
		if rest, ok := strings.CutPrefix(s, "用户说"); ok {
			s = "你说过：" + strings.TrimSpace(rest)
		}
		if rest, ok := strings.CutPrefix(s, "用户"); ok {
			s = "你" + rest
		}
		return strings.NewReplacer("我们", "你们", "咱们", "你们", "我", "你").Replace(s)
	}
	s = ofUser.ReplaceAllString(s, "your ")
	s = enOwned.ReplaceAllStringFunc(s, func(m string) string {
		parts := enOwned.FindStringSubmatch(m)
		who, rest := parts[1], parts[2]+" is"
		switch strings.ToLower(who) {
		case "i":
			return "your " + rest
		case "we":
			return "your " + rest
		case "your", "my", "our", "the", "his", "her", "their":
			return m
		}
		if strings.HasSuffix(who, "'s") {
			return m
		}
		return who + "'s " + rest
	})
	s = toYou(enSaid.ReplaceAllString(s, "you said "))
	return enWords.ReplaceAllStringFunc(s, func(w string) string { return enTurned[strings.ToLower(w)] })
}
