package entity

// Verdict is what Compare finds.
type Verdict int

const (
	// Unrelated: no reason to think that they might be one.
	Unrelated Verdict = iota
	// Different: alike, and something says that they are two.
	Different
	// Ask: alike, and nothing decides. To be recorded as undecided and listed.
	Ask
	// Same: one and the same by a rule.
	Same
)

// String is the verdict in a word: unrelated, diff, ask, same.
func (v Verdict) String() string {
	return [...]string{"unrelated", "diff", "ask", "same"}[v]
}

// Decision is what Compare finds and by which rule.
type Decision struct {
	Verdict Verdict
	Rule    Rule
	// Certain marks a Same that may be acted upon without anybody's judgement:
	// a stable id, or a sentence that says so.
	Certain bool
}

// Reason is the rule in a sentence for people, in lang ("zh", else English).
func (d Decision) Reason(lang string) string {
	r := reasons[d.Rule]
	if lang == "zh" {
		return r[0]
	}
	return r[1]
}

// Rule names what decided.
type Rule string

// The rules, in the order in which they are tried.
const (
	RuleNone         Rule = "none"
	RuleAccount      Rule = "account"
	RuleDevices      Rule = "devices"
	RuleSaidTwo      Rule = "said_two"
	RuleSaidOne      Rule = "said_one"
	RuleContradicted Rule = "contradicted"
	RuleType         Rule = "type"
	RuleSex          Rule = "sex"
	RuleAttribute    Rule = "attribute"
	RuleBracket      Rule = "bracket"
	RuleOwner        Rule = "owner"
	RuleSpeaker      Rule = "speaker"
	RuleKin          Rule = "kin"
	RuleTitle        Rule = "title"
	RulePrefix       Rule = "prefix"
	RuleSurname      Rule = "surname"
	RuleOtherName    Rule = "other_name"
	RuleConversation Rule = "conversation"
	RuleSpelling     Rule = "spelling"
	RuleKinship      Rule = "same_kin"
	RuleOrg          Rule = "same_org"
	RuleOwned        Rule = "same_owner"
	RuleProduct      Rule = "product"
	RuleSameName     Rule = "same_name"
	RuleAlias        Rule = "alias"
	RuleSurnameLink  Rule = "surname_title"
	RuleGivenLink    Rule = "given_name"
	RuleNickname     Rule = "nickname"
	RuleInitial      Rule = "initial"
	RuleReading      Rule = "reading"
	RuleHint         Rule = "hint"
	RuleAlike        Rule = "alike"
)

// reasons are the rules for people, Chinese and English.
var reasons = map[Rule][2]string{
	RuleNone:         {"名字不相像", "the names are not alike"},
	RuleAccount:      {"账号说明是不是同一个", "the account number tells"},
	RuleDevices:      {"两个都是登记过的设备", "both are registered devices"},
	RuleSaidTwo:      {"有一句话说这是两个", "a sentence says that they are two"},
	RuleSaidOne:      {"有一句话说这是同一个", "a sentence says that they are one"},
	RuleContradicted: {"有一句话说是同一个，但别的信息矛盾", "a sentence says that they are one, but something contradicts it"},
	RuleType:         {"不是同一类东西", "they are of different kinds"},
	RuleSex:          {"性别不同", "their sexes differ"},
	RuleAttribute:    {"只能有一个的信息（号码、生日等）不同", "what one has but once (a number, a birthday) differs"},
	RuleBracket:      {"括号里的说明不同", "what stands in brackets differs"},
	RuleOwner:        {"“某人的某某”是另一个人，或所属的人不同", "somebody's relative is another person, or the owners differ"},
	RuleSpeaker:      {"称呼是相对说话人的，说话人不同", "the word depends on who speaks, and the speakers differ"},
	RuleKin:          {"亲属关系不同", "the family relations differ"},
	RuleTitle:        {"头衔或辈分不同", "the titles differ"},
	RulePrefix:       {"老、小、大的叫法不同，指的是不同的人", "老, 小 and 大 set people apart"},
	RuleSurname:      {"姓不同", "the surnames differ"},
	RuleOtherName:    {"是两个不同的姓名", "these are two names"},
	RuleConversation: {"同一段对话里的同一个名字", "the same name in the same conversation"},
	RuleSpelling:     {"同一个名字的不同写法", "two spellings of one name"},
	RuleKinship:      {"同一个人说的同一种亲属", "the same relative of the same speaker"},
	RuleOrg:          {"同一单位里同一头衔的简称和全称", "a title and its short form in one organisation"},
	RuleOwned:        {"同名、同类、同一家的", "the same name, kind and owner"},
	RuleProduct:      {"同一个产品的两种叫法", "two calls of one product"},
	RuleSameName:     {"名字相同，但没有依据说明是同一个", "the same name, and nothing tells whether they are one"},
	RuleAlias:        {"一个的别名是另一个的名字", "an alias of the one is the name of the other"},
	RuleSurnameLink:  {"姓相同，可能是同一个人", "the surname fits; it may be the same person"},
	RuleGivenLink:    {"名字里的字相同，可能是小名", "the given name fits; it may be a pet name"},
	RuleNickname:     {"可能是同一个名字的昵称", "one may be the nickname of the other"},
	RuleInitial:      {"缩写或省略的部分能对上", "initials or missing parts fit"},
	RuleReading:      {"拼音能对上", "the reading fits"},
	RuleHint:         {"有一句话把两者连在一起，但不明确", "a sentence connects them, but not clearly"},
	RuleAlike:        {"名字很像", "the names are much alike"},
}
