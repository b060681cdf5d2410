package entity

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Form is what kind of name a text is.
type Form int

const (
	// Plain is what no rule knows: things, places, given names alone.
	Plain Form = iota
	// Full has surname and given name: 张三, 欧阳锋, Robert Smith.
	Full
	// Titled is a surname (or a given name) with a title: 王老师, Dr. Smith, Aunt Mary.
	Titled
	// Prefixed is 老, 小, 大 before a surname, or 阿 and 小 before a given name.
	Prefixed
	// Doubled is one sign said twice: 明明, 豆豆.
	Doubled
	// Kinship is a kin term of the speaker's: 妈妈, 我妈, my mother.
	Kinship
	// Owned belongs to somebody named: 张三的妈妈, Tom's mother, 她妈.
	Owned
	// Account is a stable id: QQ:10001, an e-mail address.
	Account
	// First is one English given name: Bob.
	First
	// Class is no name but a word for a kind: 狗, 老师, company.
	Class
)

// Name is a text read as a name. Fields that do not apply are empty.
type Name struct {
	// Text is as it was written, Key is what spellings are compared by:
	// compatibility forms unified, simplified signs, lower case, neither spaces
	// between Han signs nor the particle 的.
	Text, Key string
	Form      Form
	// Surname and Given are in simplified signs or lower case. Middle is English.
	Surname, Given, Middle string
	// Title is the canonical title ("teacher"), Prefix one of 老 小 大 阿.
	Title, Prefix string
	// Owner is whose it is, by key: a name, or 我 她 他 你 for pronouns. Kin is the
	// canonical kin term ("mother", "aunt 2"), or what else is owned.
	Owner, Kin string
	// Bracket is what stands in brackets behind the name: 张伟（财务）.
	Bracket string
	// Sex is "m" or "f" where title, kin term or given name tells.
	Sex string
}

// maxName bounds what is read as a name, in bytes; a longer text is Plain and
// equals nothing but itself.
const maxName = 160

// Parse reads a name. It never fails: what it does not understand is Plain.
func Parse(text string) Name {
	n := Name{Text: text}
	if len(text) > maxName {
		n.Key = text
		return n
	}
	s := clean(text)
	s, n.Bracket = bracket(s)
	n.Key = key(s)
	if n.Bracket != "" {
		n.Bracket = key(n.Bracket)
	}
	if n.Key == "" {
		return n
	}
	if id, ok := account(s); ok {
		n.Form, n.Key = Account, id
		return n
	}
	if alias, ok := products[n.Key]; ok {
		n.Key = alias
		return n
	}
	if classOf(n.Key) != "" {
		n.Form = Class
		return n
	}
	if hasHan(s) {
		parseHan(&n, strip(s))
	} else {
		parseLatin(&n, s)
	}
	return n
}

// clean unifies compatibility forms and quotation marks, and drops what cannot
// be seen.
func clean(s string) string {
	s = norm.NFKC.String(strings.ToValidUTF8(s, " "))
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '“', r == '”', r == '「', r == '」', r == '『', r == '』', r == '"':
			return -1
		case r == '’', r == '‘':
			return '\''
		case r == '·', r == '•', r == '・':
			return '·'
		case unicode.IsControl(r), unicode.IsSpace(r):
			return ' '
		case unicode.Is(unicode.Cf, r):
			return -1
		}
		return simplified(r)
	}, s)
	return strings.Join(strings.Fields(s), " ")
}

// strip drops spaces beside Han signs.
func strip(s string) string {
	var b strings.Builder
	rs := []rune(s)
	for i, r := range rs {
		if r == ' ' && i > 0 && i+1 < len(rs) && (unicode.Is(unicode.Han, rs[i-1]) || unicode.Is(unicode.Han, rs[i+1])) {
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// key is the form in which cleaned names are compared.
func key(s string) string {
	s = strings.ToLower(strip(s))
	if hasHan(s) {
		// 客厅的灯 is 客厅灯; 的 at an end belongs to a word (目的).
		if rs := []rune(s); len(rs) > 3 {
			s = string(rs[:1]) + strings.ReplaceAll(string(rs[1:len(rs)-1]), "的", "") + string(rs[len(rs)-1:])
		}
	}
	return s
}

// Key is the form in which the package compares a name: two names with one key
// are one spelling.
func Key(name string) string { return Parse(name).full() }

// full is the key with the bracket.
func (n Name) full() string {
	if n.Bracket != "" {
		return n.Key + "(" + n.Bracket + ")"
	}
	return n.Key
}

// bracket parts a name from what stands in brackets at its end.
func bracket(s string) (name, inside string) {
	for _, pair := range []string{"()", "[]", "【】"} {
		open, shut := []rune(pair)[0], []rune(pair)[1]
		if i := strings.IndexRune(s, open); i > 0 && strings.HasSuffix(s, string(shut)) {
			in := strings.TrimSuffix(s[i+len(string(open)):], string(shut))
			return strings.TrimSpace(s[:i]), strings.TrimSpace(in)
		}
	}
	return s, ""
}

// account reads a stable id: scheme and number, or an e-mail address.
func account(s string) (string, bool) {
	low := strings.ToLower(strings.ReplaceAll(s, " ", ""))
	if scheme, id, ok := strings.Cut(low, ":"); ok && accounts[scheme] && id != "" {
		return low, true
	}
	if user, host, ok := strings.Cut(low, "@"); ok && user != "" && strings.Contains(host, ".") && !hasHan(low) {
		return low, true
	}
	if len(low) >= 2 && strings.HasPrefix(low, "@") {
		return low, true
	}
	return "", false
}

var accounts = set("qq wechat wx 微信 微信号 weixin tel phone 电话 手机 手机号 mailto email 邮箱 " +
	"telegram tg onebot id user uid imei mac device serial sn isbn")

// set makes a set of words that stand apart by spaces.
func set(words string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		m[w] = true
	}
	return m
}

func hasHan(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return unicode.Is(unicode.Han, r) })
}

// person reports whether the form is one that only persons bear.
func (n Name) person() bool {
	switch n.Form {
	case Full, Titled, Prefixed, Kinship:
		return true
	case Owned:
		return kinKnown[n.Kin]
	}
	return false
}

// Proper reports whether the form is one that names somebody: a person's name,
// title, kin term or account.
func (n Name) Proper() bool { return n.named() }

// Bare is a name without what stands in brackets behind it: 豆豆（狗） is 豆豆.
func Bare(text string) string {
	s, _ := bracket(clean(text))
	return s
}
