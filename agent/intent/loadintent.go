package intent

import (
	"encoding/json"

	"go.yaml.in/yaml/v3"
)

// intent reads one item of the list.
func (l *loader) intent(n *yaml.Node) {
	keys := l.mapping(n, "", "an intent", "name", "tool", "args", "say", "also", "asides", "asks")
	def := &intentDef{}
	if keys["name"] == nil || keys["name"].Decode(&def.name) != nil || !nameForm.MatchString(def.name) {
		l.fail(n.Line, "", "意图要有 name：小写字母开头，只含小写字母、数字和下划线", "an intent needs a name that begins with a small letter and holds only small letters, digits and _")
		return
	}
	for _, other := range l.set.intents {
		if other.name == def.name {
			l.fail(n.Line, def.name, "有两个意图叫这个名字；请合并或改名", "two intents have this name; join them or rename one")
			return
		}
	}
	if v := keys["tool"]; v != nil && (v.Decode(&def.tool) != nil || !nameForm.MatchString(def.tool)) {
		l.fail(v.Line, def.name, "tool 应当是工具的名字，例如 virtual_set，或者 device", "tool must be a tool's name, such as virtual_set, or device")
	}
	if v := keys["asks"]; v != nil && v.Decode(&def.asks) != nil {
		l.fail(v.Line, def.name, "asks 只能是 true 或 false", "asks must be true or false")
	}
	if v := keys["args"]; v != nil {
		if v.Decode(&def.args) != nil {
			l.fail(v.Line, def.name, "args 应当是“键: 值”的列表", "args must be a list of `key: value`")
		} else if _, err := json.Marshal(def.args); err != nil {
			l.fail(v.Line, def.name, "args 里只能有文字、数字、true 或 false、列表和“键: 值”：%v", "args must hold texts, numbers, true or false, lists and `key: value` only: %v", err)
		}
	}
	used := map[string]bool{}
	if keys["say"] == nil && keys["also"] == nil {
		l.fail(n.Line, def.name, "缺少 say：没有句子就没人能说出它", "say is missing: without a sentence nobody can ask for it")
	}
	for _, key := range []string{"say", "also"} {
		if v := keys[key]; v != nil {
			l.say(v, def, key, used)
		}
	}
	if v := keys["asides"]; v != nil {
		l.asides(v, def)
	}
	l.checkArgs(n.Line, def, def.args, used)
	if def.tool == toolDevice && !used["device"] && !used["lit"] {
		l.fail(n.Line, def.name, "tool 是 device，但没有一个句子含有 {device}", "tool is device, but no sentence has the slot {device}")
	}
	l.set.intents = append(l.set.intents, def)
}

// say reads the templates of the key say or also.
func (l *loader) say(n *yaml.Node, def *intentDef, key string, used map[string]bool) {
	l.templates(n, def.name, key, func(lang string, line int, root node) {
		slotsOf(root, func(name string) { used[name] = true })
		t := l.template(lang, root)
		t.def = def
		if key == "say" && lang == grammarLang {
			t.spoken = root
		}
		l.set.templates = append(l.set.templates, t)
	})
}

// asides reads sentences that may stand beside an intent, or beside any where
// def is nil.
func (l *loader) asides(n *yaml.Node, def *intentDef) {
	name := ""
	if def != nil {
		name = def.name
	}
	l.templates(n, name, "asides", func(lang string, line int, root node) {
		t := l.template(lang, root)
		t.def = def
		l.set.asides = append(l.set.asides, t)
	})
}

func (l *loader) template(lang string, root node) *template {
	return &template{lang: lang, prog: compile(root, l.words), first: borderOf(root, false), last: borderOf(root, true)}
}

// templates reads sentences by language and hands on those that are right.
func (l *loader) templates(n *yaml.Node, intent, key string, each func(lang string, line int, root node)) {
	langs := l.mapping(n, intent, key, "zh", "en")
	for _, lang := range []string{"zh", "en"} {
		v := langs[lang]
		if v == nil {
			continue
		}
		if v.Kind != yaml.SequenceNode || len(v.Content) > maxTemplates {
			l.fail(v.Line, intent, "%s.%s 应当是句子的列表，最多 %d 句", "%s.%s must be a list of at most %d sentences", key, lang, maxTemplates)
			continue
		}
		for _, item := range v.Content {
			item = deref(item)
			if item.Kind != yaml.ScalarNode {
				l.fail(item.Line, intent, "%s.%s 里有一句不是文字；请加上引号", "a sentence of %s.%s is no text; put it in quotation marks", key, lang)
				continue
			}
			root, err := parseKnowing(item.Value, l.known)
			if err != nil {
				l.failErr(item.Line, intent, err)
				continue
			}
			known := true
			slotsOf(root, func(name string) {
				if _, ok := l.set.slots[name]; !ok {
					known = false
					l.fail(item.Line, intent, "没有 {%s} 这个槽位；请加到 slots 里，或检查拼写", "{%s} is no slot; add it to slots or check its spelling", name)
				}
			})
			if known {
				each(lang, item.Line, root)
			}
		}
	}
}

// checkArgs looks for slots in arguments that no sentence can fill.
func (l *loader) checkArgs(line int, def *intentDef, v any, used map[string]bool) {
	switch v := v.(type) {
	case map[string]any:
		for _, e := range v {
			l.checkArgs(line, def, e, used)
		}
	case []any:
		for _, e := range v {
			l.checkArgs(line, def, e, used)
		}
	case string:
		for _, m := range slotInText.FindAllStringSubmatch(v, -1) {
			if !used[m[1]] {
				l.fail(line, def.name, "参数用到了 {%s}，但没有一个句子含有它", "an argument takes {%s}, which stands in none of its sentences", m[1])
			}
		}
	}
}
