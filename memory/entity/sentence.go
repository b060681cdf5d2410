package entity

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"homeagent/agent/pattern"
)

// claim is what a sentence says of two names.
type claim int

const (
	silent claim = iota
	hinted       // it may equate them, in a way that could mean something else
	equated
	parted // it says that they are two
)

// link is a way to equate two names.
type link struct {
	re     *pattern.Pattern // at the beginning of what follows the first name
	strong bool             // names the one after the other, whatever they are
	calls  bool             // 叫, which also means to shout for
	is     bool             // is, 是
}

var (
	hanLinks = []link{
		{re: pattern.New(`^[，,]?(?:他|她|它)?的?(?:小名|乳名|昵称|外号|绰号|别名|笔名|网名|艺名|英文名|中文名|曾用名|大名|全名|本名|真名|原名|学名|别称|简称|全称)(?:就)?(?:是|叫做` +
			`|叫作|叫)?[:]?`), strong: true},
		{re: pattern.New(`^[，,]?(?:他|她|它)?的?(?:名字|姓名)(?:就)?(?:是|叫做|叫作|叫)[:]?`), strong: true},
		{re: pattern.New(`^[，,]?(?:又|也|亦|人)(?:被)?(?:叫做|叫作|叫|称为|称|名)`), strong: true},
		{re: pattern.New(`^[，,]?(?:大家|我们|家里人|家里|同事|同学|朋友)?都?(?:叫|喊)(?:他|她|它)`), strong: true},
		{re: pattern.New(`^(?:名叫|真名叫|本名叫)`), strong: true},
		{re: pattern.New(`^[，,]?(?:其实|原来)?(?:也)?就是(?:那个|那位|我说的|上次说的)?`)},
		{re: pattern.New(`^(?:是)`), is: true},
		{re: pattern.New(`^(?:叫做|叫)`), calls: true},
	}
	latinLinks = []link{
		{re: pattern.New(`^,? (?:is |was )?(?:also|otherwise|better) (?:known|called|named)(?: as)? `), strong: true},
		{re: pattern.New(`^,? (?:is )?(?:known as|nicknamed|a\.k\.a\.|aka|alias) `), strong: true},
		{re: pattern.New(`^(?:'s|,? whose)? (?:full name|nickname|real name|nick|pet name|pen name|stage name|birth name)(?: is` +
			`|:)? `), strong: true},
		{re: pattern.New(`^,? (?:goes by(?: the name of| the name)?|is short for|is the nickname of` +
			`|is another name for) `), strong: true},
		{re: pattern.New(`^,? (?:everyone|everybody|we|people|they|friends)(?: all)? calls? (?:him|her|it) `), strong: true},
		{re: pattern.New(`^ (?:is|are) (?:the same (?:person|one|man|woman) as|one and the same as) `), strong: true},
		{re: pattern.New(`^ (?:is|'s) (?:actually |really |just )?`), is: true},
	}
	together = pattern.New(`^(?:和|跟|与|同| and )`)
	areOne   = pattern.New(`^(?:其实|原来)?(?:都)?(?:就)?(?:是|指)同一(?:个|位|只|条|家|台)?(?:人|东西|公司|猫|狗|设备)?|^ (?:are|is) (?:really ` +
		`|actually )?(?:the same|one and the same)`)
	areTwo = pattern.New(`^(?:并)?不是(?:同)?一(?:个|位|只|家|回)|^是(?:两|不同|2)|^没有?关系|^ (?:are|is) (?:two |not the same|different` +
		`|not one)|^ aren't `)
	notThe      = pattern.New(`^(?:可|才|并|根本)?(?:不是|不叫|并非)|^ (?:is not|isn't|is never|are not) `)
	sentenceEnd = pattern.New(`[。！!;；\n]|[?？]|\.(?:\s|$)`)
	hanHedge    = pattern.New(`可能|也许|或许|大概|好像|似乎|听说|据说|传说|是不是|难道|如果|要是|假如|假设|万一|以为|猜|怀疑|觉得|感觉|认为|骗|扮|假装|装成|戏里|剧里|电影|梦|不是|并非` +
		`|不叫|不对|谁|哪|什么|还是|或者|或|就像|应该|希望|开玩笑|假的|说|讲|吗|吧|会不会|未必|不一定|差点|当成|当作|看成|[?？]`)
	latinHedge = pattern.New(`(?i)\b(?:maybe|perhaps|possibly|probably|might|may|could|would|should|if|whether|thinks?` +
		`|thought|guess(?:es)?|suspects?|believes?|seems?|apparently|supposedly|allegedly|rumou?r|said|says?|tells?|told|claims?` +
		`|pretend(?:s|ed|ing)?|plays?|played|acts?|acting|role|dream(?:s|t|ed)?|not|never|isn't|wasn't|don't|doesn't|or|unless` +
		`|wonder(?:s|ed)?|like|imagine|suppose|jok(?:e|es|ing)|wish)\b|[?？]`)
	rightHan     = pattern.New(`^(?:啊|呀|呢|啦|了|哦|哈|嘛|喔|本人)*(?:$|[，,。.!！;；:)）…])`)
	rightLatin   = pattern.New(`^(?: too| as well| for short| himself| herself)?\s*(?:$|[,.;:!)])`)
	leftHanWords = pattern.New(`^(?:其实|原来|对了|记住|请记住|注意|那个|那位|这个|这位|我们家的?|咱们家的?|我们的?|咱们的?|我家的?|我的?|咱家的?|告诉你|你说的|我说的|以后|今天起|在家` +
		`|在公司|嗯|哦|噢|所以|因为|另外|还有|备注|补充)*$`)
	leftHanEnd = pattern.New(`(?:同事|朋友|老师|邻居|同学|老板|领导|医生|客户|室友|亲戚|先生|女士)$`)
	leftLatin  = pattern.New(`(?i)^(?:my|our|the|actually|btw|by the way|note|remember|so|well|in fact|fyi|oh|son|daughter` +
		`|brother|sister|neighbou?r|friend|boss|colleague|wife|husband|teacher|uncle|aunt|cousin|ok|okay|new|old|best|dear|please|that` +
		`| )*$`)
)

// say judges what one text says of two names. Sentences are judged one by one;
// to part outweighs to equate, and that outweighs a hint.
func (s said) of(a, b Name) claim {
	best := silent
	for _, sentence := range s {
		c := claimOf(sentence, a, b)
		if back := claimOf(sentence, b, a); back > c {
			c = back
		}
		best = max(best, c)
	}
	return best
}

// said is a text as its cleaned sentences.
type said []string

// maxSaid bounds what is read of one text, in bytes.
const maxSaid = 2048

func sentences(text string) said {
	if len(text) > maxSaid {
		text = strings.ToValidUTF8(text[:maxSaid], "")
	}
	var out said
	for rest := text; rest != ""; {
		end := len(rest)
		if loc := sentenceEnd.FindStringIndex(rest); loc != nil {
			// "J. Smith" and "Mr. Smith" do not end.
			end = loc[1]
			for loc != nil && abbreviation(rest[:loc[0]], rest[loc[0]:loc[1]]) {
				next := sentenceEnd.FindStringIndex(rest[end:])
				if next == nil {
					end = len(rest)
					break
				}
				loc = []int{end + next[0], end + next[1]}
				end = loc[1]
			}
		}
		if s := strip(clean(rest[:end])); s != "" {
			out = append(out, s)
		}
		rest = rest[end:]
	}
	return out
}

// abbreviation reports whether a full stop behind head belongs to its word.
func abbreviation(head, end string) bool {
	if !strings.HasPrefix(end, ".") {
		return false
	}
	i := strings.LastIndexAny(head, " \t,(“\"")
	word := strings.ToLower(strings.Trim(head[i+1:], "."))
	if utf8.RuneCountInString(word) == 1 {
		return true
	}
	_, title := englishTitles[word]
	return title || word == "a.k.a" || word == "st"
}

// claimOf judges a sentence in which x stands before y.
func claimOf(s string, x, y Name) claim {
	best := silent
	for _, at := range occurrences(s, x) {
		c := claimAt(s, at[0], at[1], x, y)
		best = max(best, c)
	}
	return best
}

// occurrences are where a name stands in a sentence: the text itself, with
// neither letters beside it nor signs that make it another word.
func occurrences(s string, n Name) [][2]int {
	text := strip(clean(n.Text))
	if text == "" || len(text) > maxName {
		return nil
	}
	low, name := lower(s), lower(text)
	var out [][2]int
	for from := 0; from < len(low); {
		i := strings.Index(low[from:], name)
		if i < 0 {
			break
		}
		i += from
		if wordEdge(low, i, len(name)) {
			out = append(out, [2]int{i, i + len(name)})
		}
		from = i + len(name)
	}
	return out
}

// lower is strings.ToLower for signs that keep their length, so that places in
// the result are places in the text.
func lower(s string) string {
	return strings.Map(func(r rune) rune {
		if l := unicode.ToLower(r); utf8.RuneLen(l) == utf8.RuneLen(r) {
			return l
		}
		return r
	}, s)
}

func wordEdge(s string, at, n int) bool {
	before, _ := utf8.DecodeLastRuneInString(s[:at])
	first, _ := utf8.DecodeRuneInString(s[at:])
	last, _ := utf8.DecodeLastRuneInString(s[:at+n])
	after, _ := utf8.DecodeRuneInString(s[at+n:])
	word := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	apart := func(a, b rune) bool {
		return !word(a) || !word(b) || unicode.Is(unicode.Han, a) || unicode.Is(unicode.Han, b)
	}
	return (at == 0 || apart(before, first)) && (at+n == len(s) || apart(last, after))
}

func claimAt(s string, from, to int, x, y Name) claim {
	head, rest := s[:from], s[to:]
	if loc := together.FindStringIndex(rest); loc != nil {
		return claimTogether(head, rest[loc[1]:], y)
	}
	if loc := notThe.FindStringIndex(rest); loc != nil && leftFree(head) {
		if tail, ok := begins(rest[loc[1]:], y); ok && rightFree(tail) && !asked(tail) && !hedged(head) {
			return parted
		}
		return silent
	}
	links := latinLinks
	if hasHan(s) {
		links = append(append(make([]link, 0, len(hanLinks)+len(latinLinks)), hanLinks...), latinLinks...)
	}
	for _, l := range links {
		loc := l.re.FindStringIndex(lower(rest))
		if loc == nil {
			continue
		}
		words := rest[:loc[1]]
		tail, ok := begins(rest[loc[1]:], y)
		if !ok {
			if l.is && isRole(rest[loc[1]:], x, y) && leftFree(head) && !hedged(head) {
				return equated
			}
			continue
		}
		switch {
		case !leftFree(head), !rightFree(tail), asked(tail), hedged(head), hedged(words), hedged(first(tail, 8)):
			return silent
		case x.kind() || y.kind():
			return silent // 豆豆就是狗: that is what it is, not who
		case l.fits(x, y):
			return equated
		}
		return hinted
	}
	return silent
}

// claimTogether reads "X and Y are one" and "are two".
func claimTogether(head, rest string, y Name) claim {
	tail, ok := begins(rest, y)
	if !ok || !leftFree(head) || hedged(head) || asked(tail) {
		return silent
	}
	switch {
	case areTwo.MatchString(tail):
		return parted
	case areOne.MatchString(lower(tail)) && !hedged(tail):
		return equated
	}
	return silent
}

// begins cuts y off the beginning of s.
func begins(s string, y Name) (tail string, ok bool) {
	s = strings.TrimLeft(s, " ")
	for _, at := range occurrences(s, y) {
		if at[0] == 0 {
			return s[at[1]:], true
		}
	}
	return "", false
}

// isRole reads "王芳是我的老师" for 王芳 and 王老师.
func isRole(rest string, x, y Name) bool {
	if x.Form != Full || y.Form != Titled || x.Surname != y.Surname || y.Given != "" {
		return false
	}
	for _, owner := range []string{"我们的", "我们", "我的", "我"} {
		if word, ok := strings.CutPrefix(rest, owner); ok {
			for w, t := range titles {
				tail, ok := strings.CutPrefix(word, w)
				if ok && t.canon == y.Title && rightFree(tail) && !asked(tail) && !hedged(first(tail, 8)) {
					return true
				}
			}
		}
	}
	return false
}

// fits tells whether a link says of names of these forms that they are one.
func (l link) fits(x, y Name) bool {
	if l.strong {
		return true
	}
	if !x.named() || !y.named() {
		return false
	}
	latin := !hasHan(x.Text) && !hasHan(y.Text)
	switch {
	case latin:
		if many(x) || many(y) {
			return false
		}
		known := func(n Name) bool { return n.Form != First || givenNames[n.Given] != nil }
		return known(x) && known(y)
	case l.calls:
		// 妈妈叫李明 may mean that she calls him.
		return y.Form == Full && x.Surname == y.Surname && (x.Form == Titled || x.Form == Prefixed)
	case l.is:
		return !many(x) && !many(y) && !(x.Form == Full && y.Form == Full)
	}
	return true
}

// named reports whether the form is one that names somebody.
func (n Name) named() bool {
	switch n.Form {
	case Full, Titled, Prefixed, Doubled, Kinship, Account, First:
		return true
	case Owned:
		return kinKnown[n.Kin]
	}
	return false
}

// many reports whether a kin term is one that several persons bear at once.
func many(n Name) bool {
	return (n.Form == Kinship || n.Form == Owned) && !kinOne[n.Kin] && !strings.ContainsAny(n.Kin, ordinals)
}

// kind reports whether a name is but a word for a kind or a title: 狗, 经理.
func (n Name) kind() bool {
	_, zh := titles[n.Key]
	_, en := englishTitles[n.Key]
	return n.Form == Class || zh || en
}

// leftFree reports whether a name may begin a clause behind head.
func leftFree(head string) bool {
	head = strings.TrimRight(head, " ")
	if head == "" {
		return true
	}
	if r, _ := utf8.DecodeLastRuneInString(head); strings.ContainsRune("，,。.:：(（-—!！", r) {
		return true
	}
	if i := strings.LastIndexAny(head, "，,。:：(（—!！"); i >= 0 {
		_, n := utf8.DecodeRuneInString(head[i:])
		head = strings.TrimLeft(head[i+n:], " ")
	}
	if !hasHan(head) {
		return leftLatin.MatchString(head)
	}
	if loc := leftHanEnd.FindStringIndex(head); loc != nil {
		head = head[:loc[0]]
	}
	for cut := range head { // 我儿子李明: the kin term says who he is
		if _, ok := kinOf(head[cut:]); ok && leftHanWords.MatchString(head[:cut]) {
			return true
		}
	}
	return leftHanWords.MatchString(head)
}

func rightFree(tail string) bool {
	return rightHan.MatchString(tail) || rightLatin.MatchString(lower(tail))
}

// asked reports whether the rest of a sentence makes it a question.
func asked(tail string) bool {
	return strings.ContainsAny(tail, "?？") || strings.Contains(tail, "吗") || strings.Contains(tail, "吧") || strings.Contains(tail, "对不对")
}

func hedged(s string) bool {
	return hanHedge.MatchString(exempt.Replace(s)) || latinHedge.MatchString(s)
}

// exempt takes words out of sight that hold a sign of doubt without doubting.
var exempt = strings.NewReplacer("我说的", "", "上次说的", "", "你说的", "", "小说", "")

// first is the beginning of s, at most n runes.
func first(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// otherNames are texts that a sentence may equate with n: what stands behind
// the linking words, and what stands before them. They only nominate.
func otherNames(s string, n Name) (out []string) {
	for _, at := range occurrences(s, n) {
		rest := lower(s[at[1]:])
		for _, l := range append(append([]link(nil), hanLinks...), latinLinks...) {
			if loc := l.re.FindStringIndex(rest); loc != nil {
				out = append(out, clause(s[at[1]+loc[1]:]))
			}
		}
		head := s[:at[0]]
		for cut := range head {
			for _, l := range hanLinks {
				if loc := l.re.FindStringIndex(head[cut:]); loc != nil && loc[1] == len(head)-cut {
					rs := []rune(strings.TrimRight(head[:cut], "，, "))
					for k := 1; k <= 4 && k <= len(rs); k++ {
						out = append(out, string(rs[len(rs)-k:]))
					}
				}
			}
			for _, l := range latinLinks {
				if loc := l.re.FindStringIndex(lower(head[cut:])); loc != nil && loc[1] == len(head)-cut {
					words := strings.Fields(strings.TrimRight(head[:cut], ", "))
					for k := 1; k <= 3 && k <= len(words); k++ {
						out = append(out, strings.Join(words[len(words)-k:], " "))
					}
				}
			}
		}
	}
	return out
}

// clause is what a name at the beginning of s may be: up to the next mark.
func clause(s string) string {
	if i := strings.IndexAny(s, "，,。.;；!！?？:：()（）"); i >= 0 {
		s = s[:i]
	}
	return strings.TrimSpace(s)
}
