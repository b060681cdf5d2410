package config

import (
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"homeagent/firmware/words"
)

// Notice is one sentence about the configuration for a person: what is wrong
// where, what holds meanwhile, and what to do.
type Notice struct {
	words.Text
	// Line is where in config.yaml, counted from 1; 0 if it has no line.
	Line int
}

// Texts are the sentences of the notices in the language, "zh" or "en".
func Texts(notes []Notice, lang string) []string {
	said := make([]string, len(notes))
	for i, n := range notes {
		said[i] = n.In(lang)
	}
	return said
}

// maxNotices bounds what is said about one file.
const maxNotices = 50

func bounded(notes []Notice) []Notice {
	if len(notes) <= maxNotices {
		return notes
	}
	more := words.Format("config.yaml 里还有 %d 处问题没有列出；请先改正上面这些", "config: %d more faults are not listed; mend these first", len(notes)-maxNotices)
	return append(notes[:maxNotices:maxNotices], Notice{Text: more})
}

// notice makes a Notice that begins with its line. The formats count the line
// as their first argument, so their own begin with %[2].
func notice(line int, zh, en string, args ...any) Notice {
	prefixZH, prefixEN := "config.yaml 第 %[1]d 行：", "config line %[1]d: "
	return Notice{Text: words.Format(prefixZH+zh, prefixEN+en, append([]any{line}, args...)...), Line: line}
}

// lineOf is where key stands in a section, else where the section begins.
func lineOf(section *yaml.Node, key string) int {
	if section == nil {
		return 0
	}
	if section.Kind == yaml.AliasNode {
		section = section.Alias
	}
	if section.Kind == yaml.MappingNode {
		if _, val := get(section, key); val != nil {
			return val.Line
		}
	}
	return section.Line
}

// itemLine is where the item of a list stands.
func itemLine(list *yaml.Node, i int) int {
	if list == nil {
		return 0
	}
	if list.Kind == yaml.AliasNode {
		list = list.Alias
	}
	if i < len(list.Content) {
		return list.Content[i].Line
	}
	return list.Line
}

// What the YAML library says of values that do not fit.
var (
	wrongType = regexp.MustCompile("(?s)^line (\\d+): cannot unmarshal !!(\\w+)(?: `(.*)`)? into (.*)$")
	twice     = regexp.MustCompile(`(?s)^line (\d+): mapping key "(.*)" already defined at line (\d+)$`)
	anyLine   = regexp.MustCompile(`(?s)^line (\d+): (.*)$`)
)

// typeFault puts the library's words on a value of a section in words for a person.
func typeFault(section *yaml.Node, text string) (line int, why words.Text) {
	if m := wrongType.FindStringSubmatch(text); m != nil {
		line, _ = strconv.Atoi(m[1])
		got := words.Format("%q", "%q", m[3])
		switch {
		case m[2] == "map":
			got = words.Text{ZH: "一组键值", EN: "a group of keys"}
		case m[2] == "seq":
			got = words.Text{ZH: "一个列表", EN: "a list"}
		}
		return line, words.Format("%[1]s里写的是%[2]s，应当是%[3]s", "%[1]s has %[2]s where %[3]s belongs", keyAt(section, line), got, wanted(m[4]))
	}
	if m := twice.FindStringSubmatch(text); m != nil {
		line, _ = strconv.Atoi(m[1])
		return line, words.Format("键 %[1]q 在第 %[2]s 行已经有了，请删掉一个", "key %[1]q stands already in line %[2]s; remove one", m[2], m[3])
	}
	if m := anyLine.FindStringSubmatch(text); m != nil {
		line, _ = strconv.Atoi(m[1])
		text = m[2]
	}
	return line, words.Text{ZH: text, EN: text}
}

// wanted names the type of Go that a value should have had.
func wanted(goType string) words.Text {
	switch {
	case strings.HasPrefix(goType, "int"):
		return words.Text{ZH: "整数", EN: "a whole number"}
	case goType == "bool":
		return words.Text{ZH: " true 或 false", EN: "true or false"}
	case goType == "string":
		return words.Text{ZH: "一段文字", EN: "a text"}
	case strings.HasPrefix(goType, "[]"):
		return words.Text{ZH: "以 - 开头的列表", EN: "a list of lines with -"}
	}
	return words.Text{ZH: "一组键值（键: 值）", EN: "a group of keys (key: value)"}
}

// keyAt names the key whose value stands in the line, if there is just one.
func keyAt(section *yaml.Node, line int) words.Text {
	keys := keysAt(section, line, nil)
	if len(keys) != 1 {
		return words.Text{ZH: "这一行", EN: "the line"}
	}
	return words.Format("%q ", "%q", keys[0])
}

func keysAt(n *yaml.Node, line int, keys []string) []string {
	for i, child := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 1 && child.Line == line && child.Kind == yaml.ScalarNode {
			keys = append(keys, n.Content[i-1].Value)
		}
		keys = keysAt(child, line, keys)
	}
	return keys
}
