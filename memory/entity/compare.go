package entity

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxAliases bounds the aliases that are looked at of one candidate.
const maxAliases = 16

// Compare decides whether two candidates are one. It is symmetric, has no
// memory and looks at nothing but its arguments.
func Compare(a, b Candidate) Decision {
	x, y := Parse(a.Name), Parse(b.Name)
	if x.Key == "" || y.Key == "" {
		return Decision{Rule: RuleNone}
	}
	if d, ok := compareAccounts(x, y); ok {
		return d
	}
	if a.Device && b.Device {
		return Decision{Verdict: Different, Rule: RuleDevices}
	}
	c := claims(a, b, x, y)
	apart := contradiction(a, b, x, y)
	switch {
	case c == parted:
		return Decision{Verdict: Different, Rule: RuleSaidTwo}
	case c == equated && apart != "":
		return Decision{Verdict: Ask, Rule: RuleContradicted}
	case c == equated:
		return Decision{Verdict: Same, Rule: RuleSaidOne, Certain: true}
	}
	d := byForm(a, b, x, y)
	if alias := sharedAlias(a, b, x, y); alias && d.Verdict < Ask && d.Rule != RuleOwner {
		d = Decision{Verdict: Ask, Rule: RuleAlias}
	}
	if c == hinted && d.Verdict < Same && d.Rule != RuleOwner {
		d = Decision{Verdict: Ask, Rule: RuleHint}
	}
	if apart != "" && d.Verdict > Different {
		return Decision{Verdict: Different, Rule: apart}
	}
	return d
}

// compareAccounts lets a stable id win over every name.
func compareAccounts(x, y Name) (Decision, bool) {
	if x.Form != Account || y.Form != Account {
		return Decision{}, false
	}
	if x.Key == y.Key {
		return Decision{Verdict: Same, Rule: RuleAccount, Certain: true}, true
	}
	xs, _, _ := strings.Cut(x.Key, ":")
	ys, _, _ := strings.Cut(y.Key, ":")
	if xs == ys {
		return Decision{Verdict: Different, Rule: RuleAccount}, true
	}
	return Decision{}, false
}

// claims is what the contexts say of the two, under all their names.
func claims(a, b Candidate, x, y Name) claim {
	best := silent
	contexts := a.Context[:min(len(a.Context), maxContext):min(len(a.Context), maxContext)]
	if len(b.Context) > 0 {
		contexts = append(contexts, b.Context[:min(len(b.Context), maxContext)]...)
	}
	if len(contexts) == 0 {
		return silent
	}
	xs, ys := names(a, x), names(b, y)
	for _, text := range contexts {
		s := sentences(text)
		for _, n := range xs {
			for _, m := range ys {
				if n.full() == m.full() {
					continue
				}
				best = max(best, s.of(n, m))
			}
		}
	}
	return best
}

// names are the candidate's name and aliases, parsed.
func names(c Candidate, own Name) []Name {
	out := []Name{own}
	for _, alias := range c.Aliases[:min(len(c.Aliases), maxAliases)] {
		if n := Parse(alias); n.Key != "" && n.Form != Class {
			out = append(out, n)
		}
	}
	return out
}

// contradiction is the rule that keeps two candidates from being one, "" if none does.
func contradiction(a, b Candidate, x, y Name) Rule {
	if t, u := typeOf(a, x), typeOf(b, y); t != "" && u != "" && !typesFit(t, u) {
		return RuleType
	}
	if s, t := or(a.Sex, x.Sex), or(b.Sex, y.Sex); s != "" && t != "" && s != t {
		return RuleSex
	}
	for k, v := range a.Attributes {
		if w := b.Attributes[k]; w != "" && v != "" && v != w && !changing[k] {
			return RuleAttribute
		}
	}
	if x.Bracket != "" && y.Bracket != "" && x.Bracket != y.Bracket {
		return RuleBracket
	}
	return ""
}

// changing are attributes that one bearer has several of in the course of time.
var changing = set("age address")

func typeOf(c Candidate, n Name) string {
	if c.Type != "" {
		return CanonicalType(c.Type)
	}
	if n.Form == Titled || n.Form == Kinship {
		return "person"
	}
	return ""
}

// typesFit reports whether one of two types may be the other: "animal" and
// "animal dog" may.
func typesFit(t, u string) bool {
	return t == u || strings.HasPrefix(t, u+" ") || strings.HasPrefix(u, t+" ") || t == "text" || u == "text"
}

// sharedAlias reports whether some name of the one is a name of the other.
func sharedAlias(a, b Candidate, x, y Name) bool {
	if len(a.Aliases)+len(b.Aliases) == 0 {
		return false
	}
	for _, n := range names(a, x) {
		for _, m := range names(b, y) {
			if n.full() == m.full() {
				return true
			}
		}
	}
	return false
}

// byForm compares by what kinds of names they are.
func byForm(a, b Candidate, x, y Name) Decision {
	if x.Key == y.Key {
		return sameKey(a, b, x, y)
	}
	if d, ok := compareOwned(a, b, x, y); ok {
		return d
	}
	if x.Form > y.Form {
		x, y, a, b = y, x, b, a
	}
	if hasHan(x.Key) && hasHan(y.Key) {
		if d := compareHan(a, b, x, y); d.Verdict != Unrelated {
			return d
		}
	} else if !hasHan(x.Key) && !hasHan(y.Key) {
		if d := compareLatin(x, y); d.Verdict != Unrelated {
			return d
		}
	}
	for _, r := range romanKeys(x) {
		if slices.Contains(romanKeys(y), r) {
			return Decision{Verdict: Ask, Rule: RuleReading}
		}
	}
	if jaccard(bigrams(x.Key), bigrams(y.Key)) >= 0.5 {
		if x.named() && y.named() || opposed(x.Key, y.Key) {
			return Decision{Verdict: Different, Rule: RuleOtherName}
		}
		return Decision{Verdict: Ask, Rule: RuleAlike}
	}
	return Decision{Rule: RuleNone}
}

// sameKey compares two candidates of one name.
func sameKey(a, b Candidate, x, y Name) Decision {
	if x.Bracket != y.Bracket {
		return Decision{Verdict: Ask, Rule: RuleSameName}
	}
	kin := x.Form == Kinship
	if kin && a.Speaker != "" && b.Speaker != "" {
		if a.Speaker != b.Speaker {
			return Decision{Verdict: Different, Rule: RuleSpeaker}
		}
		if !many(x) {
			return Decision{Verdict: Same, Rule: RuleKinship}
		}
	}
	dangling := x.Form == Owned && strings.ContainsAny(first(x.Owner, 1), "他她它你")
	if kin || dangling || x.Form == Class {
		return Decision{Verdict: Ask, Rule: RuleSameName}
	}
	if a.Conversation != "" && a.Conversation == b.Conversation {
		return Decision{Verdict: Same, Rule: RuleConversation}
	}
	spelled := strip(clean(a.Name)) != strip(clean(b.Name)) || a.Name != b.Name
	switch {
	case a.Type != "" && CanonicalType(a.Type) == CanonicalType(b.Type) &&
		a.Attributes["owner"] != "" && a.Attributes["owner"] == b.Attributes["owner"]:
		return Decision{Verdict: Same, Rule: RuleOwned}
	case spelled && products[key(clean(a.Name))]+products[key(clean(b.Name))] != "":
		return Decision{Verdict: Same, Rule: RuleProduct}
	case spelled && x.Form == Titled && key(clean(a.Name)) != key(clean(b.Name)):
		// 张工 and 张工程师: two words for one title, which many bear.
		if org := a.Attributes["org"]; org != "" && org == b.Attributes["org"] {
			return Decision{Verdict: Same, Rule: RuleOrg}
		}
		return Decision{Verdict: Ask, Rule: RuleSurnameLink}
	case spelled && hasHan(x.Key) && x.Form != Owned && x.Form != Titled:
		return Decision{Verdict: Same, Rule: RuleSpelling}
	}
	return Decision{Verdict: Ask, Rule: RuleSameName}
}

// compareOwned compares where somebody's relative takes part.
func compareOwned(a, b Candidate, x, y Name) (Decision, bool) {
	ownedX, ownedY := x.Form == Owned || x.Form == Kinship, y.Form == Owned || y.Form == Kinship
	switch {
	case ownedX && ownedY:
		switch {
		case x.Owner != y.Owner:
			if x.Kin != y.Kin && x.Owner != y.full() && y.Owner != x.full() {
				return Decision{Rule: RuleNone}, true
			}
			return Decision{Verdict: Different, Rule: RuleOwner}, true
		case kinFits(x.Kin, y.Kin):
			return Decision{Verdict: Ask, Rule: RuleKinship}, true
		default:
			return Decision{Verdict: Different, Rule: RuleKin}, true
		}
	case ownedX || ownedY:
		if ownedY {
			x, y = y, x
		}
		// 张三的妈妈 and 张三, 小张 or 张先生.
		o := Parse(x.Owner)
		meant := o.full() == y.full() || o.Surname != "" && o.Surname == y.Surname || o.Given != "" && o.Given == y.Given
		if x.Form == Owned && meant {
			return Decision{Verdict: Different, Rule: RuleOwner}, true
		}
		return Decision{Rule: RuleNone}, true
	}
	return Decision{}, false
}

// kinFits reports whether two unlike kin terms may mean one relative: a sister
// may be the elder one, a grandmother the paternal one, an aunt the second.
func kinFits(k, l string) bool { return finer(k, l) || finer(l, k) }

// finer reports whether term says more of the relative that base names.
func finer(term, base string) bool {
	if rest, ok := strings.CutPrefix(term, base+" "); ok {
		return strings.ContainsAny(rest, ordinals)
	}
	for _, adj := range []string{"elder ", "younger ", "paternal ", "maternal "} {
		if term == adj+base {
			return true
		}
	}
	return false
}

// compareHan compares two Chinese names; x.Form <= y.Form.
func compareHan(a, b Candidate, x, y Name) Decision {
	switch {
	case x.Form == Full && y.Form == Full:
		if jaccard(bigrams(x.Key), bigrams(y.Key)) > 0 || x.Surname == y.Surname || sameReading(x, y) {
			return Decision{Verdict: Different, Rule: RuleOtherName}
		}
	case x.Form == Full && y.Form == Titled:
		return surnameLink(x, y)
	case x.Form == Full && y.Form == Prefixed:
		if strings.Contains(x.Given, y.Given) && y.Given != "" {
			return Decision{Verdict: Ask, Rule: RuleGivenLink}
		}
		return surnameLink(x, y)
	case x.Form == Full && y.Form == Doubled, x.Form == Prefixed && y.Form == Doubled:
		if x.Given != "" && strings.Contains(x.Given, y.Given) {
			return Decision{Verdict: Ask, Rule: RuleGivenLink}
		}
	case x.Form == Plain && y.Form == Full:
		// 建国 and 陈建国.
		if utf8.RuneCountInString(x.Key) >= 2 && x.Key == y.Given {
			return Decision{Verdict: Ask, Rule: RuleGivenLink}
		}
	case x.Form == Titled && y.Form == Titled:
		return compareTitled(x, y)
	case x.Form == Titled && y.Form == Prefixed:
		if x.Title == "elder" && y.Surname == x.Surname {
			return Decision{Verdict: Different, Rule: RuleTitle}
		}
		if y.Surname != "" && y.Surname == x.Surname {
			return Decision{Verdict: Ask, Rule: RuleSurnameLink}
		}
		if x.Given != "" && x.Given == y.Given {
			return Decision{Verdict: Ask, Rule: RuleGivenLink}
		}
	case x.Form == Titled && y.Form == Doubled:
		if x.Given != "" && strings.Contains(x.Given, y.Given) {
			return Decision{Verdict: Ask, Rule: RuleGivenLink}
		}
	case x.Form == Prefixed && y.Form == Prefixed:
		return comparePrefixed(x, y)
	}
	return Decision{Rule: RuleNone}
}

// sameReading reports whether two full names are read alike.
func sameReading(x, y Name) bool {
	ys := romanKeys(y)
	return slices.ContainsFunc(romanKeys(x), func(r string) bool { return slices.Contains(ys, r) })
}

// surnameLink compares a full name with a surname and title or prefix.
func surnameLink(full, short Name) Decision {
	switch {
	case short.Surname == "":
		return Decision{Rule: RuleNone}
	case full.Surname == short.Surname && short.Given != "" && short.Form == Titled:
		// 王芳老师: her whole name is there.
		if short.Given == full.Given {
			return Decision{Verdict: Ask, Rule: RuleSurnameLink}
		}
		return Decision{Verdict: Different, Rule: RuleOtherName}
	case full.Surname == short.Surname:
		return Decision{Verdict: Ask, Rule: RuleSurnameLink}
	case strings.HasPrefix(full.Surname, short.Surname) || strings.HasPrefix(short.Surname, full.Surname):
		return Decision{Verdict: Different, Rule: RuleSurname} // 欧先生 and 欧阳锋
	}
	return Decision{Rule: RuleNone}
}

// compareTitled compares two surnames with titles.
func compareTitled(x, y Name) Decision {
	if x.Surname != y.Surname {
		return Decision{Rule: RuleNone}
	}
	if x.Given != "" && y.Given != "" && x.Given != y.Given {
		return Decision{Verdict: Different, Rule: RuleOtherName}
	}
	g, h := titleGroup[x.Title], titleGroup[y.Title]
	pair := [2]string{min(x.Title, y.Title), max(x.Title, y.Title)}
	if x.Title == y.Title || g != h && x.Title != "elder" && y.Title != "elder" || compatible[pair] {
		return Decision{Verdict: Ask, Rule: RuleSurnameLink}
	}
	return Decision{Verdict: Different, Rule: RuleTitle}
}

// comparePrefixed compares 老张, 小张, 大张, 阿明, 小明.
func comparePrefixed(x, y Name) Decision {
	switch {
	case x.Prefix == y.Prefix:
		return Decision{Rule: RuleNone} // unlike names, or they had one key
	case x.Given != "" && x.Given == y.Given:
		return Decision{Verdict: Ask, Rule: RuleGivenLink}
	case x.Surname != "" && x.Surname == y.Surname:
		return Decision{Verdict: Different, Rule: RulePrefix}
	}
	return Decision{Rule: RuleNone}
}

// compareLatin compares two names in letters; x.Form <= y.Form.
func compareLatin(x, y Name) Decision {
	person := func(n Name) bool { return n.Form == Full || n.Form == First || n.Form == Titled }
	if !person(x) || !person(y) {
		return Decision{Rule: RuleNone}
	}
	if x.Form == Titled && y.Form == Titled {
		g, h := titleGroup[x.Title], titleGroup[y.Title]
		pair := [2]string{min(x.Title, y.Title), max(x.Title, y.Title)}
		fits := x.Surname != "" && x.Surname == y.Surname || x.Given != "" && y.Given != "" && sameGiven(x.Given, y.Given)
		if fits && x.Title != y.Title && g == h && !compatible[pair] {
			return Decision{Verdict: Different, Rule: RuleTitle}
		}
	}
	switch {
	case x.Surname != "" && y.Surname != "":
		if x.Surname != y.Surname {
			return Decision{Rule: RuleNone}
		}
		return compareGiven(x, y)
	case x.Given != "" && y.Given != "":
		switch {
		case x.Given == y.Given:
			return Decision{Verdict: Ask, Rule: RuleSameName}
		case sameGiven(x.Given, y.Given):
			return Decision{Verdict: Ask, Rule: RuleNickname}
		case alike(x.Given, y.Given):
			return Decision{Verdict: Different, Rule: RuleOtherName}
		}
	case x.Surname != "" && x.Surname == y.Given, y.Surname != "" && y.Surname == x.Given:
		return Decision{Verdict: Ask, Rule: RuleSurnameLink} // Smith and Mr. Smith
	}
	return Decision{Rule: RuleNone}
}

// compareGiven compares given and middle names where the surnames are one.
func compareGiven(x, y Name) Decision {
	if x.Middle != "" && y.Middle != "" && !initialFits(x.Middle, y.Middle) {
		return Decision{Verdict: Different, Rule: RuleOtherName}
	}
	switch {
	case x.Given == "" || y.Given == "":
		return Decision{Verdict: Ask, Rule: RuleSurnameLink}
	case x.Given == y.Given:
		return Decision{Verdict: Ask, Rule: RuleInitial}
	case sameGiven(x.Given, y.Given):
		return Decision{Verdict: Ask, Rule: RuleNickname}
	case initialFits(x.Given, y.Given):
		return Decision{Verdict: Ask, Rule: RuleInitial}
	}
	return Decision{Verdict: Different, Rule: RuleOtherName}
}

// initialFits reports whether two words are the same or one the other's initial.
func initialFits(a, b string) bool {
	if a == b {
		return true
	}
	ra, na := utf8.DecodeRuneInString(a)
	rb, nb := utf8.DecodeRuneInString(b)
	return ra == rb && (na == len(a) || nb == len(b))
}

// alike reports whether one word begins the other or half their pairs are common.
func alike(a, b string) bool {
	return strings.HasPrefix(a, b) || strings.HasPrefix(b, a) || jaccard(bigrams(a), bigrams(b)) >= 0.5
}

// opposed reports whether two names differ in words that set things apart:
// 大/小, 左/右, 前/后, numbers.
func opposed(a, b string) bool {
	for _, pair := range opposites {
		x, y := pair[0], pair[1]
		if strings.Contains(a, x) && strings.Contains(b, y) && !strings.Contains(b, x) ||
			strings.Contains(a, y) && strings.Contains(b, x) && !strings.Contains(b, y) {
			return true
		}
	}
	return digits(a) != digits(b)
}

var opposites = [][2]string{{"大", "小"}, {"左", "右"}, {"前", "后"}, {"上", "下"}, {"主", "次"}, {"男", "女"}, {"东", "西"}, {"南", "北"}, {"新", "旧"},
	{"里", "外"}, {"内", "外"}, {"冷", "热"}, {"一", "二"}, {"一", "三"}, {"二", "三"}, {"父", "母"}, {"公", "母"}, {"left", "right"}, {"upper", "lower"},
	{"front", "back"}, {"big", "small"}, {"old", "new"}, {"north", "south"}, {"east", "west"}, {"first", "second"}, {"inner", "outer"}}

func digits(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return r
		}
		return -1
	}, s)
}
