package intent

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxText bounds, in bytes, what is looked at: a command is never longer, and
// what is longer is something for a language model.
const maxText = 2000

// token is one word, one Han character, one number or one sign that counts.
type token struct {
	text       string
	start, end int // bytes in the sentence it was cut from
	// pause is set where a comma, a stop or a line end stands before the token.
	pause bool
	// hard marks a sign that no template explains: a quotation mark, a broken
	// character. Only a free text slot takes it in.
	hard bool
}

// tokenise cuts a sentence. question reports a question mark at its end.
func tokenise(s string) (toks []token, question bool) {
	pause := false
	add := func(text string, start, end int, hard bool) {
		toks = append(toks, token{text: text, start: start, end: end, pause: pause, hard: hard})
		pause, question = false, false
	}
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError || r == 0 {
			add("\ufffd", i, i+size, true)
			i += size
			continue
		}
		if _, other := simplified[r]; r >= 0x4e00 && r < 0xa000 && !other {
			add(s[i:i+size], i, i+size, false) // a plain Han character stays as it is
			i += size
			continue
		}
		folded := foldRune(r)
		f, _ := utf8.DecodeRuneInString(folded)
		switch {
		case unicode.Is(unicode.Han, f):
			add(folded, i, i+size, false)
		case unicode.IsLetter(f) || unicode.IsMark(f):
			word, end := scanWord(s, i)
			for _, w := range expand(word) {
				add(w, i, end, false)
			}
			i = end
			continue
		case unicode.IsDigit(f):
			num, end := scanNumber(s, i)
			add(num, i, end, false)
			i = end
			continue
		case f == '%' || f == ':' && betweenDigits(s, i, size):
			add(folded, i, i+size, false)
		case f == '?':
			question, pause = true, true
		case strings.ContainsRune(",.;!、。…\n", f) || f == ':':
			pause = true
		case strings.ContainsRune("\"“”„«»「」『』《》<>`{}", f):
			add(folded, i, i+size, true)
		}
		i += size
	}
	return toks, question
}

// foldRune is a character in its plain form: narrow, small, simplified.
func foldRune(r rune) string {
	if r < utf8.RuneSelf {
		return string(unicode.ToLower(r))
	}
	if s, ok := simplified[r]; ok {
		return string(s)
	}
	return strings.ToLower(norm.NFKC.String(string(r)))
}

// scanWord reads a run of letters with the apostrophes and the dots of "p.m." inside.
func scanWord(s string, i int) (string, int) {
	var b strings.Builder
	for i < len(s) {
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError {
			break
		}
		folded := foldRune(r)
		f, _ := utf8.DecodeRuneInString(folded)
		next, nsize := utf8.DecodeRuneInString(s[i+size:])
		switch {
		case unicode.Is(unicode.Han, f):
			return b.String(), i
		case unicode.IsLetter(f) || unicode.IsMark(f):
			b.WriteString(folded)
		case (f == '\'' || f == '’' || f == '‘' || f == 'ʼ') && unicode.IsLetter(next) && !unicode.Is(unicode.Han, next):
			b.WriteByte('\'')
		case f == '.' && (b.String() == "a" || b.String() == "p") && (next == 'm' || next == 'M'):
			// "p.m." is one word; its last dot ends it.
			b.WriteByte('m')
			i += size + nsize
			if strings.HasPrefix(s[i:], ".") {
				i++
			}
			return b.String(), i
		default:
			return b.String(), i
		}
		i += size
	}
	return b.String(), i
}

// scanNumber reads digits with one decimal point.
func scanNumber(s string, i int) (string, int) {
	var b strings.Builder
	point := false
	for i < len(s) {
		r, size := utf8.DecodeRuneInString(s[i:])
		folded := foldRune(r)
		switch {
		case len(folded) == 1 && folded[0] >= '0' && folded[0] <= '9':
			b.WriteString(folded)
		case folded == "." && !point && i+size < len(s) && s[i+size] >= '0' && s[i+size] <= '9':
			point = true
			b.WriteByte('.')
		case b.Len() == 0: // a digit of another script
			return folded, i + size
		default:
			return b.String(), i
		}
		i += size
	}
	return b.String(), i
}

func betweenDigits(s string, i, size int) bool {
	before, _ := utf8.DecodeLastRuneInString(s[:i])
	after, _ := utf8.DecodeRuneInString(s[i+size:])
	return unicode.IsDigit(before) && unicode.IsDigit(after)
}

// expand writes out a contraction, so that "what's" and "what is" are one.
func expand(w string) []string {
	if full, ok := contractions[w]; ok {
		return strings.Fields(full)
	}
	i := strings.LastIndexByte(w, '\'')
	if i <= 0 {
		return []string{w}
	}
	stem, tail := w[:i], w[i+1:]
	switch tail {
	case "t":
		if n, ok := strings.CutSuffix(stem, "n"); ok && n != "" {
			return []string{n, "not"}
		}
	case "s":
		if isAfter[stem] {
			return []string{stem, "is"}
		}
		return []string{stem, "'s"}
	case "d":
		return []string{stem, "would"}
	case "ll":
		return []string{stem, "will"}
	case "re":
		return []string{stem, "are"}
	case "ve":
		return []string{stem, "have"}
	case "m":
		return []string{stem, "am"}
	}
	return []string{strings.ReplaceAll(w, "'", "")}
}

var contractions = map[string]string{
	"o'clock": "oclock", "can't": "can not", "cannot": "can not", "cant": "can not", "won't": "will not", "wont": "will not",
	"shan't": "shall not", "don't": "do not", "dont": "do not", "doesnt": "does not", "didnt": "did not", "isnt": "is not",
	"let's": "let us", "lets": "let us", "whats": "what is", "wheres": "where is", "whos": "who is", "whens": "when is",
	"im": "i am", "ive": "i have", "gonna": "going to", "wanna": "want to", "gotta": "got to",
	"its": "it is", "thats": "that is", "youre": "you are", "theyre": "they are", "hows": "how is", "theres": "there is", "id": "i would",
	"wouldnt": "would not", "couldnt": "could not", "arent": "are not", "wasnt": "was not", "shouldnt": "should not", "havent": "have not", "hasnt": "has not",
	"gimme": "give me", "lemme": "let me", "dunno": "do not know", "couldya": "could you", "wouldya": "would you", "ya": "you", "u": "you", "ur": "your", "em": "them", "'em": "them",
	"til": "until", "till": "until", "tmrw": "tomorrow", "pls": "please", "plz": "please", "thx": "thanks", "ty": "thanks", "okay": "ok", "okey": "ok", "k": "ok",
	"alright": "all right", "favour": "favor", "colour": "color", "favourite": "favorite",
}

// isAfter are the words after which 's is "is"; after others it marks whose.
var isAfter = setOf("long much what where who when how why it that there here he she time day everything anything something date timer nobody somebody dinner lunch breakfast food volume sound")

// simplified maps the traditional characters that household commands are made
// of; it is no converter.
var simplified = pairs(
	"開开關关廳厅燈灯臥卧廚厨鐘钟鍾钟點点時时間间後后幫帮請请記记憶忆聲声現现幾几號号麼么設设個个兩两條条鬧闹嗎吗這这來来讓让" +
		"鑰钥門门墊垫書书會会說说話话誰谁裡里裏里嗎吗亮亮電电視视機机風风氣气簾帘對对從从還还沒没為为們们給给調调" +
		"單单訊讯週周禮礼買买藥药車车媽妈爸爸貓猫鳥鸟魚鱼錢钱銀银碼码過过遠远長长發发計计劃划倒倒數数鎖锁靜静動动" +
		"響响醒醒謝谢麻麻煩烦嘗尝試试覺觉腦脑樓楼衛卫陽阳臺台檯台廁厕擋挡滅灭熱热暫暂認认識识問问題题應应該该" +
		"並并與与當当歲岁愛爱歡欢習习慣惯鄰邻護护證证師师東东場场飯饭湯汤雞鸡蛋蛋麵面爐炉")

func pairs(s string) map[rune]rune {
	m := map[rune]rune{}
	r := []rune(s)
	for i := 0; i+1 < len(r); i += 2 {
		m[r[i]] = r[i+1]
	}
	return m
}

func setOf(words string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}

func isHanText(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.Is(unicode.Han, r)
}
