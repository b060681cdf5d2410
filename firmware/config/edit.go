package config

import (
	"bytes"
	"encoding/json"
	"slices"

	"go.yaml.in/yaml/v3"

	"homeagent/firmware/words"
)

// Patch changes the keys of config.yaml that a JSON object names and leaves
// everything else, comments included, as it is. An object is merged into the
// section of its name, null removes a key, any other value replaces it. The
// result parses, or an error says why not.
func Patch(text []byte, patch json.RawMessage) ([]byte, error) {
	var p yaml.Node
	if err := yaml.Unmarshal(patch, &p); err != nil || len(p.Content) != 1 || p.Content[0].Kind != yaml.MappingNode || !json.Valid(patch) {
		return nil, words.Errorf(`修改内容应当是一个 JSON 对象，例如 {"daemon":{"log_level":"debug"}}`,
			`config: the change must be a JSON object such as {"daemon":{"log_level":"debug"}}`)
	}
	root, doc, err := mapping(text)
	if err != nil {
		return nil, err
	}
	merge(root, p.Content[0])
	return render(doc)
}

// SetProvider puts a provider at the head of the chain, in place of one of the
// same kind and base_url.
func SetProvider(text []byte, p Provider) ([]byte, error) {
	root, doc, err := mapping(text)
	if err != nil {
		return nil, err
	}
	c, _, err := Parse(text)
	if err != nil {
		return nil, err
	}
	list := append([]Provider{p}, slices.DeleteFunc(c.Providers, func(o Provider) bool { return o.Kind == p.Kind && o.BaseURL == p.BaseURL })...)
	var value yaml.Node
	if err := value.Encode(list); err != nil {
		return nil, unwritable(err)
	}
	set(root, "providers", &value)
	return render(doc)
}

// View is the configuration as JSON for people to see. A provider's key is the
// name of a secret; where it is no known secret's name somebody may have
// written the key itself there, so it is blanked.
func View(text []byte, secrets []string) (json.RawMessage, error) {
	root, _, err := mapping(text)
	if err != nil {
		return nil, err
	}
	blank(root, secrets)
	var v map[string]any
	if err := root.Decode(&v); err != nil {
		return nil, unwritable(err)
	}
	if v == nil {
		v = map[string]any{}
	}
	return json.Marshal(v)
}

// blanked stands where a secret was written into the configuration itself.
const blanked = "(hidden)"

// secretKeys are keys whose values never leave the box.
var secretKeys = []string{"key", "password", "token", "secret", "api_key", "access_token"}

func blank(n *yaml.Node, secrets []string) {
	for i, child := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 1 && child.Kind == yaml.ScalarNode &&
			slices.Contains(secretKeys, n.Content[i-1].Value) && child.Value != "" && !slices.Contains(secrets, child.Value) {
			child.SetString(blanked)
		}
		blank(child, secrets)
	}
}

// mapping returns the top mapping of the text and its document, both new if it is empty.
func mapping(text []byte) (root, doc *yaml.Node, err error) {
	doc = &yaml.Node{}
	if err := yaml.Unmarshal(text, doc); err != nil {
		return nil, nil, syntaxError(err)
	}
	if doc.Kind == 0 {
		doc.Kind = yaml.DocumentNode
	}
	if len(doc.Content) == 0 || doc.Content[0].Tag == "!!null" {
		doc.Content = []*yaml.Node{{Kind: yaml.MappingNode}}
	}
	if doc.Content[0].Kind != yaml.MappingNode {
		return nil, nil, noSections()
	}
	return doc.Content[0], doc, nil
}

func get(m *yaml.Node, key string) (int, *yaml.Node) {
	for i := 0; i+1 < len(m.Content); i += 2 {
		if m.Content[i].Value == key {
			return i, m.Content[i+1]
		}
	}
	return -1, nil
}

func set(m *yaml.Node, key string, value *yaml.Node) {
	if i, _ := get(m, key); i >= 0 {
		m.Content[i+1] = value
		return
	}
	name := &yaml.Node{}
	name.SetString(key)
	m.Content = append(m.Content, name, value)
}

func merge(into, from *yaml.Node) {
	for i := 0; i+1 < len(from.Content); i += 2 {
		key, value := from.Content[i].Value, from.Content[i+1]
		at, old := get(into, key)
		switch {
		case value.Tag == "!!null":
			if at >= 0 {
				into.Content = slices.Delete(into.Content, at, at+2)
			}
		case value.Kind == yaml.MappingNode && old != nil && old.Kind == yaml.MappingNode:
			merge(old, value)
		default:
			plain(value)
			set(into, key, value)
		}
	}
}

// plain writes what came as JSON in YAML's usual style.
func plain(n *yaml.Node) {
	n.Style &^= yaml.FlowStyle | yaml.DoubleQuotedStyle
	if n.Kind == yaml.ScalarNode && n.Tag == "!!str" {
		n.SetString(n.Value)
	}
	for _, c := range n.Content {
		plain(c)
	}
}

// unwritable is a configuration that YAML or JSON cannot express.
func unwritable(err error) *words.Error {
	return words.Errorf("这份配置写不出来（%v）；请检查改动里的值", "config: it cannot be written (%v); check the values of the change", err)
}

func render(doc *yaml.Node) ([]byte, error) {
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(doc); err != nil {
		return nil, unwritable(err)
	}
	if err := enc.Close(); err != nil {
		return nil, unwritable(err)
	}
	if _, _, err := Parse(b.Bytes()); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
