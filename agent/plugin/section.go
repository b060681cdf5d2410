package plugin

import (
	"bytes"
	"fmt"

	"go.yaml.in/yaml/v3"
)

// DecodeSection reads a plugin's section of config.yaml into its Config. A nil
// node leaves dst as it is; an unknown key or a value of the wrong form is an
// error that names it. name is the section's.
func DecodeSection(name string, node *yaml.Node, dst any) error {
	if node == nil || node.IsZero() {
		return nil
	}
	// A Node cannot be decoded strictly, its text can.
	text, err := yaml.Marshal(node)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	dec := yaml.NewDecoder(bytes.NewReader(text))
	dec.KnownFields(true)
	if err := dec.Decode(dst); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
