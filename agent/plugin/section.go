package plugin

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// DecodeSection reads a plugin's section of config.yaml into its Config. A nil
// node leaves dst as it is; an unknown key or a value of the wrong form is an
// error that names it with its line in the file and, where one is near, the key
// that may have been meant. All of them are named. name is the section's.
func DecodeSection(name string, node *yaml.Node, dst any) error {
	if node == nil || node.IsZero() || node.Tag == "!!null" {
		return nil
	}
	var errs []error
	unknownKeys(node, reflect.TypeOf(dst), func(line int, key, near string) {
		if near != "" {
			near = fmt.Sprintf("; did you mean %q?", near)
		}
		errs = append(errs, fmt.Errorf("%s: line %d: unknown key %q%s", name, line, key, near))
	})
	if err := node.Decode(dst); err != nil {
		var te *yaml.TypeError
		if !errors.As(err, &te) {
			return errors.Join(append(errs, fmt.Errorf("%s: %s", name, strings.TrimPrefix(err.Error(), "yaml: ")))...)
		}
		for _, text := range te.Errors {
			errs = append(errs, fmt.Errorf("%s: %s", name, plainYAML(text)))
		}
	}
	return errors.Join(errs...)
}

// plainYAML says a decoder's complaint without the names of Go types:
// "line 3: cannot unmarshal !!str `loud` into int".
func plainYAML(text string) string {
	where, rest, ok := strings.Cut(text, ": cannot unmarshal ")
	if !ok {
		return text
	}
	value, into, ok := strings.Cut(rest, " into ")
	if !ok {
		return text
	}
	if _, quoted, ok := strings.Cut(value, " "); ok {
		value = strings.Trim(quoted, "`")
	} else {
		value = map[string]string{"!!map": "a mapping", "!!seq": "a list"}[value]
	}
	want := "another kind of value"
	switch {
	case strings.HasSuffix(into, "time.Duration"):
		want = "a time such as 500ms or 5s"
	case strings.HasPrefix(into, "int"), strings.HasPrefix(into, "uint"):
		want = "a whole number"
	case strings.HasPrefix(into, "float"):
		want = "a number"
	case into == "bool":
		want = "true or false"
	case into == "string":
		want = "a text"
	case strings.HasPrefix(into, "[]"):
		want = "a list"
	}
	return fmt.Sprintf("%s: %s stands where %s belongs", where, value, want)
}

// unknownKeys walks a section beside the type that it is read into.
func unknownKeys(node *yaml.Node, t reflect.Type, found func(line int, key, near string)) {
	if reflect.PointerTo(t).Implements(reflect.TypeFor[yaml.Unmarshaler]()) || t.Implements(reflect.TypeFor[yaml.Unmarshaler]()) {
		return // it reads itself
	}
	if node.Kind == yaml.AliasNode {
		return // its anchor was looked at where it stands
	}
	switch t.Kind() {
	case reflect.Pointer:
		unknownKeys(node, t.Elem(), found)
	case reflect.Slice, reflect.Array:
		if node.Kind == yaml.SequenceNode {
			for _, n := range node.Content {
				unknownKeys(n, t.Elem(), found)
			}
		}
	case reflect.Map:
		if node.Kind == yaml.MappingNode {
			for i := 1; i < len(node.Content); i += 2 {
				unknownKeys(node.Content[i], t.Elem(), found)
			}
		}
	case reflect.Struct:
		if node.Kind != yaml.MappingNode {
			return
		}
		fields, open := yamlFields(t)
		for i := 0; i+1 < len(node.Content); i += 2 {
			key := node.Content[i]
			if ft, ok := fields[key.Value]; ok {
				unknownKeys(node.Content[i+1], ft, found)
			} else if !open && key.Tag != "!!merge" {
				found(key.Line, key.Value, nearest(key.Value, fields))
			}
		}
	}
}

// yamlFields are the keys of a struct as the yaml package reads it; open tells
// that an inline map takes any other.
func yamlFields(t reflect.Type) (fields map[string]reflect.Type, open bool) {
	fields = map[string]reflect.Type{}
	for i := range t.NumField() {
		f := t.Field(i)
		key, options, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		switch {
		case !f.IsExported() && !f.Anonymous, key == "-":
		case strings.Contains(options, "inline"):
			inner := f.Type
			if inner.Kind() == reflect.Pointer {
				inner = inner.Elem()
			}
			if inner.Kind() != reflect.Struct {
				open = true
				continue
			}
			more, o := yamlFields(inner)
			open = open || o
			for k, ft := range more {
				fields[k] = ft
			}
		case key == "":
			fields[strings.ToLower(f.Name)] = f.Type
		default:
			fields[key] = f.Type
		}
	}
	return fields, open
}

// nearest is the key that a mistyped one may have meant: at most two letters
// off, and the first in order where several are.
func nearest(got string, fields map[string]reflect.Type) string {
	best, least := "", 3
	for _, k := range slices.Sorted(maps.Keys(fields)) {
		if d := distance(got, k); d < least && d < len(k) {
			best, least = k, d
		}
	}
	return best
}

// distance is the Levenshtein distance in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
