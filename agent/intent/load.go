package intent

import (
	"bytes"
	_ "embed"
	"errors"
	"io"
	"regexp"

	"go.yaml.in/yaml/v3"

	"homeagent/agent/home"
)

// toolDevice stands for the tool of the device that was named.
const toolDevice = "device"

// Bounds of one file.
const (
	maxIntents   = 300
	maxTemplates = 300 // of one intent in one language
	maxValues    = 1000
)

var (
	nameForm   = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)
	slotInText = regexp.MustCompile(`\{([a-z][a-z0-9_]{0,31})(?:\|([^{}|]*))?\}`)
)

//go:embed intents.yaml
var builtin []byte

// Builtin is the text of the intents that are built in, for whoever wants to
// see or change them.
func Builtin() []byte { return bytes.Clone(builtin) }

// Default is the set built in, for a household. A nil home is an empty one.
func Default(h *home.Home) (*Set, error) { return Load(builtin, h) }

// Load reads a file of intents for a household; a nil home is an empty one.
// The error joins an *Error for each thing that is wrong.
func Load(text []byte, h *home.Home) (*Set, error) {
	if h == nil {
		h = &home.Home{}
	}
	l := &loader{words: newWords(), known: map[string]seqNode{}, set: &Set{home: h, slots: builtinSlots(h)}}
	defer func() { l.set.words = l.words.list }()
	var doc yaml.Node
	if err := yaml.NewDecoder(bytes.NewReader(text)).Decode(&doc); err != nil {
		if errors.Is(err, io.EOF) {
			return l.set, nil
		}
		return nil, &Error{Err: faultf("不是有效的 YAML，请检查缩进和冒号：%v", "not valid YAML, check indentation and colons: %v", err)}
	}
	root := deref(doc.Content[0])
	if root.Kind == yaml.ScalarNode && root.Tag == "!!null" {
		return l.set, nil
	}
	keys := l.mapping(root, "", "the file", "slots", "asides", "intents")
	if n := keys["slots"]; n != nil {
		l.slots(n)
	}
	if n := keys["asides"]; n != nil {
		l.asides(n, nil)
	}
	if n := keys["intents"]; n != nil {
		switch {
		case n.Kind == yaml.ScalarNode && n.Tag == "!!null":
		case n.Kind != yaml.SequenceNode || len(n.Content) > maxIntents:
			l.fail(n.Line, "", "intents 应当是列表，最多 %d 项，每项以 `- name:` 开头", "intents must be a list of at most %d, each beginning with `- name:`", maxIntents)
		default:
			for _, item := range n.Content {
				l.intent(deref(item))
			}
		}
	}
	if err := l.err(); err != nil {
		return nil, err
	}
	return l.set, nil
}

type loader struct {
	set   *Set
	words *words
	known map[string]seqNode
	errs  []error
}

func (l *loader) err() error { return errors.Join(l.errs...) }

func (l *loader) fail(line int, intent, zh, en string, args ...any) {
	l.failErr(line, intent, faultf(zh, en, args...))
}

func (l *loader) failErr(line int, intent string, err error) {
	if len(l.errs) < 50 {
		l.errs = append(l.errs, &Error{Line: line, Intent: intent, Err: err})
	}
}

func deref(n *yaml.Node) *yaml.Node {
	for i := 0; i < 10 && n.Kind == yaml.AliasNode; i++ {
		n = n.Alias
	}
	return n
}

// mapping reads a mapping whose keys are known; without a list any key is.
func (l *loader) mapping(n *yaml.Node, intent, what string, known ...string) map[string]*yaml.Node {
	out := map[string]*yaml.Node{}
	if n.Kind != yaml.MappingNode {
		l.fail(n.Line, intent, "%s 应当是“键: 值”的列表", "%s must be a list of `key: value`", what)
		return out
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := n.Content[i]
		ok := len(known) == 0
		for _, name := range known {
			ok = ok || name == k.Value
		}
		switch {
		case !ok:
			l.fail(k.Line, intent, "不认识的键 %q（在 %s 里）；可以用的有 %v", "unknown key %q in %s; possible are %v", k.Value, what, known)
		case out[k.Value] != nil:
			l.fail(k.Line, intent, "%q 在 %s 里写了两次；请删掉一个", "%q stands twice in %s; remove one", k.Value, what)
		default:
			out[k.Value] = deref(n.Content[i+1])
		}
	}
	return out
}

// slots reads the section of that name: a kind, or values by language.
func (l *loader) slots(n *yaml.Node) {
	if n.Kind != yaml.MappingNode {
		l.fail(n.Line, "", "slots 应当是“名字: 取值”的列表", "slots must be a list of `name: values`")
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, v := n.Content[i].Value, deref(n.Content[i+1])
		line := n.Content[i].Line
		switch {
		case !slotForm.MatchString(name):
			l.fail(line, "", "槽位 %q 的名字只能用小写字母、数字和下划线", "the slot %q needs a name of small letters, digits and _", name)
			continue
		case name == "device" || name == "room" || name == "lit" || kinds[name] != nil:
			l.fail(line, "", "槽位 %q 是内置的；请换一个名字", "the slot %q is built in; choose another name", name)
			continue
		}
		if v.Kind == yaml.ScalarNode {
			if kinds[v.Value] == nil {
				l.fail(v.Line, "", "槽位 %q 的类型 %q 不存在；可以用 clock、duration、number、text、thing、clause、fact、statement、task、doing、remark、pause", "the slot %q is of the unknown kind %q; possible are clock, duration, number, text, thing, clause, fact, statement, task, doing, remark, pause", name, v.Value)
				continue
			}
			l.set.slots[name] = slot{kind: v.Value}
			continue
		}
		ps := newPhrases(true)
		langs := l.mapping(v, "", "slot "+name, "zh", "en")
		for _, lang := range []string{"zh", "en"} {
			if langs[lang] != nil {
				l.values(langs[lang], name, lang, ps)
			}
		}
		l.set.slots[name] = slot{phrases: ps}
	}
}

func (l *loader) values(n *yaml.Node, name, lang string, ps *phrases) {
	if n.Kind != yaml.SequenceNode || len(n.Content) > maxValues {
		l.fail(n.Line, "", "槽位 %s：%s 应当是 {value, words} 的列表，最多 %d 项", "slot %s: %s must be a list of {value, words}, at most %d", name, lang, maxValues)
		return
	}
	for _, item := range n.Content {
		item = deref(item)
		m := l.mapping(item, "", "a value of slot "+name, "value", "words")
		var value string
		var words []string
		if m["value"] == nil || m["value"].Decode(&value) != nil || value == "" {
			l.fail(item.Line, "", "槽位 %s：缺少 value，或它不是文字", "slot %s: a value is missing or no text", name)
			continue
		}
		if m["words"] != nil && m["words"].Decode(&words) != nil {
			l.fail(item.Line, "", "槽位 %s：%q 的 words 应当是文字的列表", "slot %s: the words of %q must be a list of texts", name, value)
			continue
		}
		if len(words) == 0 {
			words = []string{value}
		}
		for _, w := range words {
			if toks, _ := tokenise(w); len(toks) == 0 {
				l.fail(item.Line, "", "槽位 %s：%q 里没有字", "slot %s: %q is no word", name, w)
				continue
			}
			ps.add(lang, w, value, "slot "+name, value, true)
		}
	}
}
