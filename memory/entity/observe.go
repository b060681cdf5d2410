package entity

import (
	"fmt"
	"strings"

	"homeagent/agent/pattern"
)

// Candidate is an entity as far as it matters for telling it from others.
type Candidate struct {
	Name    string
	Aliases []string
	// Type is a word for the kind of thing, in either language; "" is unknown.
	Type string
	// Sex is "m", "f" or "".
	Sex string
	// Attributes are what one bearer has one of: "phone", "birthday", "org", and
	// whatever contrast a sentence drew. A value that both have and that differs
	// sets two candidates apart.
	Attributes map[string]string
	// Speaker is who uses the name, Conversation where it was used; "" is unknown.
	Speaker, Conversation string
	// Context are sentences about the entity as they were said.
	Context []string
	// Device marks an entry of the home's device list.
	Device bool
}

// maxContext bounds the sentences that are read of one candidate.
const maxContext = 64

// set gives an attribute a value; the first stays.
func (c *Candidate) set(key, value string) {
	if c.Attributes == nil {
		c.Attributes = map[string]string{}
	}
	if _, known := c.Attributes[key]; !known && value != "" {
		c.Attributes[key] = value
	}
}

// attributeWords are the words by which a unique attribute is called.
var attributeWords = readWords(`
phone: 手机号码 电话号码 手机号 电话 手机 号码 phone telephone mobile
email: 邮箱 电子邮件 email e-mail mail
birthday: 生日 出生日期 出生年月 birthday birthdate
id: 身份证号 身份证 护照 工号 学号 编号 passport badge
wechat: 微信号 微信
qq: QQ号 QQ qq
plate: 车牌号 车牌 plate
serial: 序列号 MAC mac serial
org: 单位 公司 部门 学校 班级 company employer department school
address: 住址 地址 address
surname: 姓 surname
`)

func readWords(table string) map[string]string {
	m := map[string]string{}
	for line := range strings.Lines(strings.TrimSpace(table)) {
		canon, words, _ := strings.Cut(line, ":")
		for w := range strings.FieldsSeq(words) {
			m[w] = canon
		}
	}
	return m
}

// AttributeOf is the unique attribute that a relation names ("手机号是" and
// "phone number" are "phone"), "" if it is none.
func AttributeOf(relation string) string {
	s := clean(relation)
	s = strings.TrimPrefix(s, "的")
	for _, end := range []string{"是", "为", " is", " number", " no", "有"} {
		s = strings.TrimSuffix(s, end)
	}
	if a, ok := attributeWords[s]; ok {
		return a
	}
	return attributeWords[strings.ToLower(s)]
}

var (
	sameTalk    = pattern.New(`同一(?:段|个|次|场)?(?:对话|会话|聊天)|(?i)same conversation`)
	sameMouth   = pattern.New(`同一(?:个|位)?(?:说话人|说话者|人说)|(?i)same speaker`)
	otherMouths = pattern.New(`(?:两个|两位|不同的?)(?:不同的?)?(?:说话人|说话者|人说)|说话人不同|各自(?:说|叫|称)` +
		`|(?i)(?:two|different) (?:different )?speakers|each (?:speaks|says)`)
	sameOrg    = pattern.New(`同一(?:家|个)?(?:公司|单位|部门|学校|班)|(?i)same (?:company|school|department|employer|office)`)
	bothListed = pattern.New(`设备(?:表|列表|清单)里?(?:两者|两个|二者)?都有|两个(?:都)?是?(?:已)?(?:登记|注册)的?设备` +
		`|(?i)both (?:are )?(?:registered|listed)|two registered devices`)
	oneListed = pattern.New(`设备(?:表|列表|清单)里?(?:只|仅)有一个|(?i)only one (?:is )?(?:registered|listed)`)
	card      = pattern.New(`(?:群名片|群昵称|名片|备注|昵称)(?:是|为|写着)?[:]?([^，,。相不]+)$` +
		`|(?i)(?:group card|display name|group nickname)(?: is|:)? ([^,.]+)$`)
	differs = pattern.New(`(?:两人|二人|他们|她们|两者|二者|两个|双方)?的?([\p{Han}A-Za-z]+?)(?:不同|不一样|不一致|各不相同)$` +
		`|(?i)(?:different|differing) ([a-z-]+)(?: numbers?| addresses| address)?$` +
		`|(?i)([a-z-]+)(?: numbers?| addresses)? (?:differ|are different|do not match)$`)
	oneAndOne = pattern.New(`^(?:.*[，,])?(?:有)?(?:一个|一位|一只|一条|一台|一家)(.+?)[，,和、]?(?:另?一个|另?一位|另?一只|另?一条|另?一台|另?一家)(.+)$` +
		`|(?i)^(?:.*[,:] )?one (.+?)[,;]?(?: and)? (?:the other|one|another) (.+)$`)
	oneEach = pattern.New(`^(.+?)(?:和|与|跟|、)(.+?)(?:各|各有)(?:一|有一)(?:位|个|名|只|台|家)` +
		`|(?i)^one (?:at|in|from) (.+?) and one (?:at|in|from) (.+)$`)
	bothAre     = pattern.New(`^(?:两者|两个|二者)?都是(.+的)?(.+)$|(?i)^both (?:are|is) (?:(my|our|the family's|the household's) )?(.+)$`)
	kindAndKind = pattern.New(`^(.+?)(?:和|与|跟)(.+)$|(?i)^an? (.+?) and (?:an?|the|our|my) (.+)$`)
	sexIs       = pattern.New(`^(.*?)(?:已知)?(?:是|为)(?:一个|个)?(男|女)(?:性|的|生|人|孩|孩子|士)?$|^(.*?)，?性别(?:是|为)?[:]?(男|女)性?$` +
		`|(?i)^(.+?) is (?:known to be )?(?:an? )?(male|female|man|woman|boy|girl)$`)
	ageIs  = pattern.New(`^(.*?)(?:今年|已经|是)?(\d{1,3})(?:周)?岁$|(?i)^(.+?) is (\d{1,3})(?: years old)?$`)
	kindIs = pattern.New(`^(.*?)是(?:一|我家|我们家|家里|我)?(?:的)?(?:只|条|个|位|家|台|名|部|本)?(?:的)?([\p{Han}]{1,4})$` +
		`|(?i)^(.+?) is (?:an?|our|my|the) ([a-z ]+)$`)
	hasValue = pattern.New(`^(.*?)的?(手机号码|电话号码|手机号|电话|手机|邮箱|生日|身份证号|身份证|微信号|车牌号|车牌|工号|学号)(?:是|为|[:])\s*([^，,。]+)$` +
		`|(?i)^(.+?)(?:'s)? (phone|telephone|mobile|email|birthday|passport|plate)(?: number)?(?: is|:) ?([^,]+)$`)
	atOrg = pattern.New(`^(.+?)在(.+?(?:公司|单位|学校|医院|银行|大学))(?:上班|工作|上学|任职)?$|(?i)^(.+?) works? (?:at|for) (.+)$`)
)

// Observe reads a text about two candidates and fills in what it tells of
// them: sex, type, unique attributes, speakers, whether they are devices. What
// it cannot read stays as context of both, where identity sentences are
// looked for. For facts of one entity both may be the same candidate.
func Observe(text string, a, b *Candidate) {
	for _, sentence := range sentences(text) {
		s := strings.TrimRight(sentence, "。.!！;；")
		if s == "" || s == "无" || strings.EqualFold(s, "none") {
			continue
		}
		if strings.ContainsAny(s, "?？") {
			keep(sentence, a, b)
			continue
		}
		if !(about(s, a, b) || aboutOne(s, a, b)) {
			for part := range strings.FieldsFuncSeq(s, func(r rune) bool { return r == '，' || r == ',' }) {
				aboutOne(strings.TrimSpace(part), a, b)
			}
		}
		keep(sentence, a, b)
	}
}

func keep(s string, a, b *Candidate) {
	a.Context = append(a.Context, s)
	if b != a {
		b.Context = append(b.Context, s)
	}
}

// about reads what a sentence says of two candidates at once.
func about(s string, a, b *Candidate) bool {
	if a == b {
		return false
	}
	switch m := match(oneAndOne, s); {
	case m != nil:
		contrast(a, b, m[0], m[1])
		return true
	case sameTalk.MatchString(s):
		share(&a.Conversation, &b.Conversation)
		return true
	case otherMouths.MatchString(s):
		a.Speaker, b.Speaker = or(a.Speaker, "speaker 1"), or(b.Speaker, "speaker 2")
		return true
	case sameMouth.MatchString(s):
		share(&a.Speaker, &b.Speaker)
		return true
	case bothListed.MatchString(s):
		a.Device, b.Device = true, true
		return true
	case oneListed.MatchString(s):
		a.Device = true
		return true
	}
	if m := match(oneEach, s); m != nil {
		a.set("org", key(m[0]))
		b.set("org", key(m[1]))
		return true
	}
	if m := match(bothAre, s); m != nil {
		if t := typeIn(m[1]); t != "" {
			a.Type, b.Type = or(a.Type, t), or(b.Type, t)
			if m[0] != "" {
				a.set("owner", ownerWord(m[0]))
				b.set("owner", ownerWord(m[0]))
			}
			return true
		}
	}
	if m := match(differs, s); m != nil {
		word := strings.TrimSuffix(m[0], "s")
		if attr := AttributeOf(word); attr != "" {
			a.set(attr, "first")
			b.set(attr, "second")
			return true
		}
	}
	if m := match(kindAndKind, s); m != nil {
		if t, u := typeIn(m[0]), typeIn(m[1]); t != "" && u != "" {
			a.Type, b.Type = or(a.Type, t), or(b.Type, u)
			return true
		}
	}
	if sameOrg.MatchString(s) {
		a.set("org", "the same")
		b.set("org", a.Attributes["org"])
		return true
	}
	if t := classOf(key(s)); t != "" {
		a.Type, b.Type = or(a.Type, t), or(b.Type, t)
		return true
	}
	return false
}

// aboutOne reads what a sentence says of one of the two.
func aboutOne(s string, a, b *Candidate) bool {
	if m := match(sexIs, s); m != nil {
		c := whose(m[0], a, b)
		if c == nil {
			return strings.Contains(m[0], "说话人")
		}
		switch strings.ToLower(m[1]) {
		case "男", "male", "man", "boy":
			c.Sex = or(c.Sex, "m")
		default:
			c.Sex = or(c.Sex, "f")
		}
		return true
	}
	if m := match(card, s); m != nil {
		for _, c := range []*Candidate{a, b} {
			if Parse(c.Name).Form == Account {
				c.Aliases = append(c.Aliases, strings.TrimSpace(m[0]))
				return true
			}
		}
	}
	if m := match(hasValue, s); m != nil {
		if c := whose(m[0], a, b); c != nil {
			c.set(AttributeOf(m[1]), key(m[2]))
			return true
		}
	}
	if m := match(ageIs, s); m != nil {
		if c := whose(m[0], a, b); c != nil {
			c.set("age", m[1])
			return true
		}
	}
	if m := match(atOrg, s); m != nil {
		if c := whose(m[0], a, b); c != nil {
			c.set("org", key(clean(m[1])))
			return true
		}
	}
	if m := match(kindIs, s); m != nil {
		if c, t := whose(m[0], a, b), typeIn(m[1]); c != nil && t != "" {
			c.Type = or(c.Type, t)
			return true
		}
	}
	return false
}

// match returns the groups of the alternative that fits.
func match(re *pattern.Pattern, s string) []string {
	m := re.FindStringSubmatch(s)
	if m == nil {
		return nil
	}
	var out []string
	for _, g := range m[1:] {
		if g != "" || len(out) > 0 {
			out = append(out, strings.TrimSpace(g))
		}
	}
	// A first group may be empty where the second is not.
	for len(out) < 2 {
		out = append([]string{""}, out...)
	}
	if re == card || re == differs {
		out = out[len(out)-1:]
		for _, g := range m[1:] {
			if g != "" {
				out[0] = strings.TrimSpace(g)
			}
		}
	}
	return out
}

// whose finds the candidate that a subject means; "对方" is the second. Nil is neither.
func whose(subject string, a, b *Candidate) *Candidate {
	subject = strings.TrimSpace(subject)
	if subject == "对方" || strings.EqualFold(subject, "the other") {
		return b
	}
	k := Key(subject)
	for _, c := range []*Candidate{a, b} {
		if k != "" && (k == Key(c.Name)) {
			return c
		}
		for _, alias := range c.Aliases {
			if k != "" && k == Key(alias) {
				return c
			}
		}
	}
	if a == b && subject == "" {
		return a
	}
	return nil
}

// contrast takes over what tells one from the other.
func contrast(a, b *Candidate, x, y string) {
	t, u := typeIn(x), typeIn(y)
	if t != "" && u != "" && t != u {
		a.Type, b.Type = or(a.Type, t), or(b.Type, u)
		return
	}
	if key(x) == key(y) {
		return
	}
	a.set("contrast", key(x))
	b.set("contrast", key(y))
}

// typeIn is the type of the word that a phrase ends with ("家里的猫", "a big dog").
func typeIn(phrase string) string {
	phrase = strings.TrimSpace(phrase)
	if !hasHan(phrase) {
		words := strings.Fields(lower(phrase))
		if len(words) == 0 {
			return ""
		}
		return classOf(words[len(words)-1])
	}
	for cut := range phrase {
		if t := classOf(phrase[cut:]); t != "" {
			return t
		}
	}
	return ""
}

func ownerWord(s string) string {
	s = strings.TrimSuffix(strings.TrimSpace(lower(s)), "的")
	switch s {
	case "家里", "我家", "我们家", "我", "my", "our", "the family's", "the household's":
		return "home"
	}
	return s
}

// share gives both one value, that of either if it has one.
func share(a, b *string) {
	v := or(or(*a, *b), "shared")
	*a, *b = or(*a, v), or(*b, v)
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// Fact is one statement about an entity, as a store of triples has it.
type Fact struct{ Subject, Relation, Object string }

// Text is the fact as a sentence.
func (f Fact) Text() string {
	if hasHan(f.Subject + f.Relation + f.Object) {
		return f.Subject + f.Relation + f.Object
	}
	return strings.TrimSpace(fmt.Sprintf("%s %s %s", f.Subject, f.Relation, f.Object))
}

// Learn takes facts about the candidate over: unique attributes by their
// relation, the rest by what its sentence says. Facts in which it is not the
// subject are context only.
func (c *Candidate) Learn(facts ...Fact) {
	for _, f := range facts {
		if len(c.Context) >= maxContext {
			return
		}
		own := Key(f.Subject) == Key(c.Name)
		for _, alias := range c.Aliases {
			own = own || Key(f.Subject) == Key(alias)
		}
		if !own {
			c.Context = append(c.Context, f.Text())
			continue
		}
		if attr := AttributeOf(f.Relation); attr != "" && attr != "surname" {
			c.set(attr, key(clean(f.Object)))
			c.Context = append(c.Context, f.Text())
			continue
		}
		switch clean(f.Relation) {
		case "性别", "sex", "gender":
			Observe(c.Name+"是"+f.Object, c, c)
		default:
			Observe(f.Text(), c, c)
		}
	}
}
