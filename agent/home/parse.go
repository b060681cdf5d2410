package home

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// Bounds of a household; they keep the generated grammar and the parsing of
// sentences small. maxName counts characters.
const (
	maxRooms   = 200
	maxDevices = 500
	maxAliases = 30
	maxName    = 60
)

var idForm = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)

// isKind reports whether a word may stand for a kind of device: 1 to 40
// letters, digits, blanks, hyphens and underscores. As an expression the class
// of letters, forty times over, would cost more than a megabyte.
func isKind(s string) bool {
	n := utf8.RuneCountInString(s)
	return n >= 1 && n <= 40 && utf8.ValidString(s) && strings.IndexFunc(s, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && r != '_' && r != ' ' && r != '-'
	}) < 0
}

// Parse reads the section `home`, as YAML text, and returns it with everything
// that is wrong, each error a *Problem. The Home is nil if there is any error;
// empty text is an empty household. Parse never changes an alias.
func Parse(text []byte) (*Home, []error) {
	dec := yaml.NewDecoder(bytes.NewReader(text))
	var doc yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return &Home{}, nil
	case err != nil:
		return nil, []error{&Problem{
			zh: "不是有效的 YAML（" + err.Error() + "）；请检查缩进和冒号",
			en: "this is not valid YAML (" + err.Error() + "); check indentation and colons",
		}}
	}
	return ParseNode(&doc)
}

// ParseNode is Parse for a node of a document that has been read already; the
// lines of its errors are those of that document. A nil node is an empty household.
func ParseNode(n *yaml.Node) (*Home, []error) {
	p := &parser{names: map[string]string{}}
	h := &Home{}
	if n != nil && n.Kind == yaml.DocumentNode {
		if len(n.Content) == 0 {
			return h, nil
		}
		n = n.Content[0]
	}
	if n == nil || isNull(n) {
		return h, nil
	}
	p.mapping(n, "home", func(key string, v *yaml.Node) bool {
		switch key {
		case "rooms":
			p.list(v, "rooms", maxRooms, func(item *yaml.Node) { p.room(h, item) })
		case "devices":
			p.list(v, "devices", maxDevices, func(item *yaml.Node) { p.device(h, item) })
		default:
			return false
		}
		return true
	})
	// Rooms may stand below the devices that name them, so rooms are looked up last.
	for i, d := range h.Devices {
		if _, ok := h.Room(d.Room); d.Room != "" && !ok {
			p.add(p.roomLine[i],
				fmt.Sprintf("设备 %q 的房间 %q 不存在；请在 rooms 里加上它，或改成已有的：%s", d.Name, d.Room, roomList(h)),
				fmt.Sprintf("device %q is in room %q, which does not exist; add it to rooms or use one of: %s", d.Name, d.Room, roomList(h)))
		}
	}
	if len(p.found.list) > 0 {
		return nil, p.found.list
	}
	return h, nil
}

// parser reads one household.
type parser struct {
	found    problems
	names    map[string]string // folded alias -> what bears it, in words
	ids      map[string]bool
	roomLine []int // by device
}

func (p *parser) add(line int, zh, en string) { p.found.add(line, zh, en) }

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }

// resolve follows an alias node; yaml has already refused recursion by then,
// but a chain of them is bounded here as well.
func resolve(n *yaml.Node) *yaml.Node {
	for i := 0; i < 10 && n.Kind == yaml.AliasNode; i++ {
		n = n.Alias
	}
	return n
}

// mapping calls each for every key; each returns false for a key it does not know.
func (p *parser) mapping(n *yaml.Node, what string, each func(key string, v *yaml.Node) bool) {
	n = resolve(n)
	if n.Kind != yaml.MappingNode {
		p.add(n.Line, what+" 应当是“键: 值”的列表", what+" must be a list of `key: value`")
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := n.Content[i]
		if seen[k.Value] {
			p.add(k.Line, fmt.Sprintf("%s 里 %q 写了两次；请删掉一个", what, k.Value), fmt.Sprintf("%q stands twice in %s; remove one", k.Value, what))
			continue
		}
		seen[k.Value] = true
		if !each(k.Value, resolve(n.Content[i+1])) {
			p.add(k.Line, fmt.Sprintf("%s 里不认识的键 %q；请检查拼写", what, k.Value), fmt.Sprintf("unknown key %q in %s; check its spelling", k.Value, what))
		}
	}
}

func (p *parser) list(n *yaml.Node, what string, limit int, each func(*yaml.Node)) {
	if isNull(n) {
		return
	}
	if n.Kind != yaml.SequenceNode {
		p.add(n.Line, what+" 应当是列表，每项以“- ”开头", what+" must be a list whose items begin with `- `")
		return
	}
	if len(n.Content) > limit {
		p.add(n.Line, fmt.Sprintf("%s 最多 %d 项，现在有 %d 项", what, limit, len(n.Content)),
			fmt.Sprintf("%s holds %d items, at most %d are possible", what, len(n.Content), limit))
		return
	}
	for _, item := range n.Content {
		each(resolve(item))
	}
}

func (p *parser) text(n *yaml.Node, what string) string {
	if n.Kind != yaml.ScalarNode {
		p.add(n.Line, what+" 应当是文字", what+" must be text")
		return ""
	}
	if isNull(n) {
		return ""
	}
	return n.Value
}

func (p *parser) id(v, what string, line int) {
	if p.ids == nil {
		p.ids = map[string]bool{}
	}
	switch {
	case !idForm.MatchString(v):
		p.add(line, fmt.Sprintf("%s 的 name %q 不合要求：用小写字母开头，只含小写字母、数字和下划线，例如 living_room", what, v),
			fmt.Sprintf("%s has the name %q: it must begin with a small letter and hold only small letters, digits and _, such as living_room", what, v))
	case p.ids[what+" "+v]:
		p.add(line, fmt.Sprintf("有两个 %s 叫 %q；请改掉一个", what, v), fmt.Sprintf("two %ss are named %q; rename one", what, v))
	}
	p.ids[what+" "+v] = true
}

func (p *parser) room(h *Home, n *yaml.Node) {
	var r Room
	var aliases *yaml.Node
	p.mapping(n, "room", func(key string, v *yaml.Node) bool {
		switch key {
		case "name":
			r.Name = p.text(v, "room.name")
		case "aliases":
			aliases = v
		default:
			return false
		}
		return true
	})
	p.id(r.Name, "room", n.Line)
	r.Aliases = p.aliases(aliases, "room "+r.Name)
	h.Rooms = append(h.Rooms, r)
}

func (p *parser) device(h *Home, n *yaml.Node) {
	var d Device
	var aliases *yaml.Node
	roomLine := n.Line
	p.mapping(n, "device", func(key string, v *yaml.Node) bool {
		switch key {
		case "name":
			d.Name = p.text(v, "device.name")
		case "kind":
			d.Kind = p.text(v, "device.kind")
		case "room":
			d.Room, roomLine = p.text(v, "device.room"), v.Line
		case "aliases":
			aliases = v
		case "tool":
			d.Tool = p.text(v, "device.tool")
		case "args":
			d.Args = p.args(v)
		default:
			return false
		}
		return true
	})
	p.id(d.Name, "device", n.Line)
	if d.Kind != "" && !isKind(d.Kind) {
		p.add(n.Line, fmt.Sprintf("设备 %q 的 kind %q 不合要求；例如 lamp、plug、fan", d.Name, d.Kind),
			fmt.Sprintf("device %q has the kind %q, which is no word; for example lamp, plug, fan", d.Name, d.Kind))
	}
	if !idForm.MatchString(d.Tool) {
		p.add(n.Line, fmt.Sprintf("设备 %q 缺少 tool（用哪个工具去操作它，例如 virtual_set），现在是 %q", d.Name, d.Tool),
			fmt.Sprintf("device %q needs a tool that acts on it, such as virtual_set; it has %q", d.Name, d.Tool))
	}
	d.Aliases = p.aliases(aliases, "device "+d.Name)
	h.Devices = append(h.Devices, d)
	p.roomLine = append(p.roomLine, roomLine)
}

func (p *parser) args(n *yaml.Node) map[string]string {
	if isNull(n) {
		return nil
	}
	out := map[string]string{}
	p.mapping(n, "args", func(key string, v *yaml.Node) bool {
		out[key] = p.text(v, "args."+key)
		return true
	})
	return out
}

func (p *parser) aliases(n *yaml.Node, owner string) Names {
	if n == nil || isNull(n) {
		return nil
	}
	out := Names{}
	p.mapping(n, owner+" aliases", func(lang string, v *yaml.Node) bool {
		if lang != "zh" && lang != "en" {
			return false
		}
		if v.Kind == yaml.ScalarNode && !isNull(v) { // one name need not be a list
			out[lang] = p.alias(out[lang], v, owner)
			return true
		}
		p.list(v, owner+" aliases."+lang, maxAliases, func(item *yaml.Node) { out[lang] = p.alias(out[lang], item, owner) })
		return true
	})
	return out
}

// alias checks one name and remembers who bears it.
func (p *parser) alias(to []string, n *yaml.Node, owner string) []string {
	s := strings.TrimSpace(p.text(n, owner+" alias"))
	folded := Fold(s)
	bad := strings.IndexFunc(s, func(r rune) bool { return unicode.IsControl(r) || r == unicode.ReplacementChar }) >= 0
	switch {
	case folded == "" || bad || len([]rune(s)) > maxName:
		p.add(n.Line, fmt.Sprintf("%s 的别名 %q 不能用：要有字，不超过 %d 个字符，不含控制字符", owner, s, maxName),
			fmt.Sprintf("%s has the alias %q: it needs letters, at most %d characters and no control characters", owner, s, maxName))
		return to
	case p.names[folded] != "" && p.names[folded] != owner:
		p.add(n.Line, fmt.Sprintf("别名 %q 同时属于 %s 和 %s；说出来就分不清了，请改掉一个", s, p.names[folded], owner),
			fmt.Sprintf("the alias %q belongs to both %s and %s, so nobody could tell them apart; change one", s, p.names[folded], owner))
		return to
	}
	p.names[folded] = owner
	return append(to, s)
}

func roomList(h *Home) string {
	if len(h.Rooms) == 0 {
		return "-"
	}
	var ids []string
	for _, r := range h.Rooms {
		ids = append(ids, r.Name)
	}
	return strings.Join(ids, ", ")
}
