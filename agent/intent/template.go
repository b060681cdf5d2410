package intent

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// Bounds of one template.
const (
	maxTemplate = 600 // bytes
	maxDepth    = 10  // groups within groups
)

// node is a part of a parsed template.
type node interface{ isNode() }

type (
	// wordNode is a word as it is written and the tokens it is compared by:
	// "what's" is written as one and compared as two.
	wordNode struct {
		written string
		toks    []string
	}
	slotNode struct{ name string }
	seqNode  []node
	altNode  []node
	optNode  struct{ body node }
)

func (wordNode) isNode() {}
func (slotNode) isNode() {}
func (seqNode) isNode()  {}
func (altNode) isNode()  {}
func (optNode) isNode()  {}

var slotForm = regexp.MustCompile(`^[a-z][a-z0-9_]{0,31}$`)

// templateParser reads one template; pos is in bytes.
type templateParser struct {
	src   string
	pos   int
	depth int
	// known keeps what plain texts were cut into: a file repeats its words.
	known map[string]seqNode
}

// parseTemplate reads words, {slot}, [optional] and (one|of|these). A template
// that says nothing, because everything in it is optional, is an error.
func parseTemplate(src string) (node, error) {
	return parseKnowing(src, map[string]seqNode{})
}

func parseKnowing(src string, known map[string]seqNode) (node, error) {
	if len(src) > maxTemplate {
		return nil, faultf("句子模板超过了 %d 字节", "the template is longer than %d bytes", maxTemplate)
	}
	p := &templateParser{src: src, known: known}
	n, err := p.alternatives("")
	if err != nil {
		return nil, err
	}
	if canBeEmpty(n) {
		return nil, faultf("模板 %q 可以是空的：至少要有一个词不在方括号里", "the template %q can be empty: at least one word must not be optional", src)
	}
	return n, nil
}

// alternatives reads up to the closing sign, which is "" for the whole template.
func (p *templateParser) alternatives(closing string) (node, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, faultf("括号嵌套超过 %d 层（第 %d 个字符）", "groups stand more than %d deep at character %d", maxDepth, p.here())
	}
	defer func() { p.depth-- }()
	var alts altNode
	if closing != "" {
		alts = make(altNode, 0, 8)
	}
	for {
		s, err := p.sequence()
		if err != nil {
			return nil, err
		}
		if len(s) == 0 {
			return nil, faultf("第 %d 个字符处是空的；括号和每个选项里都要有词", "nothing stands at character %d; a group and each of its choices needs a word", p.here())
		}
		alts = append(alts, s)
		if p.pos < len(p.src) && p.src[p.pos] == '|' && closing != "" {
			p.pos++
			continue
		}
		break
	}
	switch rest := p.src[p.pos:]; {
	case closing == "" && rest != "":
		return nil, faultf("%q（第 %d 个字符）没有对应的括号", "%q at character %d closes or divides nothing", rest[:1], p.here())
	case closing != "" && !strings.HasPrefix(rest, closing):
		return nil, faultf("缺少 %q（第 %d 个字符处）", "%q is missing at character %d", closing, p.here())
	}
	p.pos += len(closing)
	if len(alts) == 1 {
		return alts[0], nil
	}
	return alts, nil
}

func (p *templateParser) sequence() (seqNode, error) {
	var s seqNode
	for p.pos < len(p.src) {
		switch c := p.src[p.pos]; c {
		case ' ', '\t', '\n', '\r':
			p.pos++
		case '|', ')', ']':
			return s, nil
		case '}':
			return nil, faultf("%q（第 %d 个字符）没有对应的括号", "%q at character %d closes nothing", "}", p.here())
		case '(', '[':
			p.pos++
			closing := map[byte]string{'(': ")", '[': "]"}[c]
			n, err := p.alternatives(closing)
			if err != nil {
				return nil, err
			}
			if c == '[' {
				n = optNode{n}
			}
			s = append(s, n)
		case '{':
			end := strings.IndexByte(p.src[p.pos:], '}')
			if end < 0 {
				return nil, faultf("缺少 %q（第 %d 个字符处）", "%q is missing at character %d", "}", p.here())
			}
			name := p.src[p.pos+1 : p.pos+end]
			if !slotForm.MatchString(name) {
				return nil, faultf("{%s} 不是槽位：名字只能用小写字母、数字和下划线", "{%s} is no slot: its name holds small letters, digits and _", name)
			}
			p.pos += end + 1
			s = append(s, slotNode{name})
		default:
			ws, err := p.words()
			if err != nil {
				return nil, err
			}
			if s == nil && p.pos < len(p.src) && strings.IndexByte("|)]", p.src[p.pos]) >= 0 {
				return ws, nil // a choice of plain words is shared, not copied
			}
			s = append(s, ws...)
		}
	}
	return s, nil
}

// words reads a run of plain text: words with spaces, Han characters without.
func (p *templateParser) words() (seqNode, error) {
	end := strings.IndexAny(p.src[p.pos:], " \t\n\r[](){}|")
	if end < 0 {
		end = len(p.src) - p.pos
	}
	written := p.src[p.pos : p.pos+end]
	if s, ok := p.known[written]; ok {
		p.pos += end
		return s, nil
	}
	toks, _ := tokenise(written)
	if len(toks) == 0 {
		return nil, faultf("%q（第 %d 个字符）里没有字", "%q at character %d is no word", written, p.here())
	}
	var s seqNode
	start := 0 // of the word that grows
	for _, t := range toks {
		if t.hard {
			return nil, faultf("%q（第 %d 个字符）里没有字", "%q at character %d is no word", written, p.here())
		}
		// What is written without a space is one word, "what's" and "wake-up" as
		// well, but for the borders between Han characters and letters.
		if n := len(s); n > 0 {
			if w := s[n-1].(wordNode); isHanText(t.text) == isHanText(w.toks[0]) {
				s[n-1] = wordNode{written: written[start:t.end], toks: append(w.toks, t.text)}
				continue
			}
		}
		start = t.start
		s = append(s, wordNode{written: written[t.start:t.end], toks: []string{t.text}})
	}
	p.pos += end
	p.known[written] = s
	return s, nil
}

// here counts characters from 1.
func (p *templateParser) here() int {
	return utf8.RuneCountInString(p.src[:min(p.pos, len(p.src))]) + 1
}

func canBeEmpty(n node) bool {
	switch n := n.(type) {
	case optNode:
		return true
	case seqNode:
		for _, c := range n {
			if !canBeEmpty(c) {
				return false
			}
		}
		return true
	case altNode:
		for _, c := range n {
			if canBeEmpty(c) {
				return true
			}
		}
	}
	return false
}

// slotsOf calls f for every slot that n names.
func slotsOf(n node, f func(name string)) {
	switch n := n.(type) {
	case slotNode:
		f(n.name)
	case optNode:
		slotsOf(n.body, f)
	case seqNode:
		for _, c := range n {
			slotsOf(c, f)
		}
	case altNode:
		for _, c := range n {
			slotsOf(c, f)
		}
	}
}
