package offline

import (
	"regexp"
	"strings"

	"homeagent/agent/intent"
)

// triple is a fact as memory_commit takes it. Its parts read as the sentence
// when they stand one after the other.
type triple struct {
	Subject  string `json:"subject"`
	Relation string `json:"relation"`
	Object   string `json:"object"`
}

var (
	// zhAttribute is "X的生日是Y": the relation keeps the words, so that the
	// graph knows it has one answer at a time.
	zhAttribute = regexp.MustCompile(`^(.+?)(的(?:生日|密码|电话号码|电话|手机号|地址|名字|位置|年龄)是)(.+)$`)
	zhRelation  = regexp.MustCompile(`^(.+?)(放在|停在|藏在|收在|搁在|存在|挂在|住在|位于|名叫|属于|最喜欢|不喜欢|喜欢|讨厌|不吃|不喝|不能吃|等于|在|是|叫|爱|有|对|姓|为)(.+)$`)

	enAttribute = regexp.MustCompile(`(?i)^(my|our|(?:[\w ]+)'s)\s+(birthday|address|phone number|phone|password|name|age)\s+(is)\s+(.+)$`)
	enRelation  = regexp.MustCompile(`(?i)^(.+?)\s+(` +
		`(?:is|are|am|was|were)\s+(?:called|named|located in|located at|kept in|kept at|parked in|parked at|parked on|allergic to|born on|born in|under|in|on|at|behind|beside|near|next to|above|below|inside|from)|` +
		`(?:lives?|works?)\s+(?:in|at|for|on)|belongs to|(?:do not|don't|does not|doesn't|can't|cannot|can not)\s+(?:like|eat|drink|want|have)|` +
		`is|are|am|was|were|has|have|likes?|loves?|hates?|prefers?|owns?|needs?|wants?|drinks?|eats?|parked|put|left|keeps?|kept|takes?|means|costs?|weighs?|speaks?)\s+(.+)$`)
)

// factOf takes a statement apart into subject, relation and object; one that
// it cannot take apart is kept whole as what the user said.
func factOf(s string) triple {
	s = strings.TrimRight(strings.TrimSpace(s), ".。!！,，;；")
	if intent.Lang(s, "en") == "zh" {
		for _, re := range []*regexp.Regexp{zhAttribute, zhRelation} {
			if m := re.FindStringSubmatch(s); m != nil {
				return trimmed(m[1], m[2], m[3])
			}
		}
		return triple{"用户", "说", s}
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
	return triple{"the user", "said", s}
}

func trimmed(subject, relation, object string) triple {
	return triple{strings.TrimSpace(subject), strings.Join(strings.Fields(relation), " "), strings.TrimSpace(object)}
}

var (
	enOwned = regexp.MustCompile(`(?i)^(\S+) (birthday|address|phone number|phone|password|name|age) is\b`)
	enSaid  = regexp.MustCompile(`(?i)^the user said\s+`)
	enWords = regexp.MustCompile(`(?i)\b(I am|I was|I have|I|me|my|mine|our|we are|we)\b`)
)

// enTurned says to you what you said of yourself.
var enTurned = map[string]string{
	"i am": "you are", "i was": "you were", "i have": "you have", "i": "you", "me": "you", "my": "your", "mine": "yours",
	"our": "your", "we are": "you are", "we": "you",
}

// turned is a remembered sentence as it is told to the one who said it.
func turned(s, lang string) string {
	if lang == "zh" {
		if rest, ok := strings.CutPrefix(s, "用户说"); ok {
			s = "你说过：" + strings.TrimSpace(rest)
		}
		return strings.NewReplacer("我们", "你们", "咱们", "你们", "我", "你").Replace(s)
	}
	s = enOwned.ReplaceAllStringFunc(s, func(m string) string {
		who, rest, _ := strings.Cut(m, " ")
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
	s = enSaid.ReplaceAllString(s, "you said ")
	return enWords.ReplaceAllStringFunc(s, func(w string) string { return enTurned[strings.ToLower(w)] })
}
