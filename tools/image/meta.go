package main

import (
	"fmt"
	"strings"
)

// meta is a board's file of plain variables.
type meta map[string]string

// parseMeta reads NAME=VALUE lines as the shell would: a value may stand in
// double quotes. Nothing is expanded, so a dollar sign is refused.
func parseMeta(text string) (meta, error) {
	m := meta{}
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, value, ok := strings.Cut(line, "=")
		if len(value) >= 2 && value[0] == '"' && value[len(value)-1] == '"' {
			value = value[1 : len(value)-1]
		} else if strings.ContainsAny(value, " \t") {
			ok = false
		}
		if !ok || name == "" || strings.ContainsAny(name, " \t\"") || strings.ContainsAny(value, "\"$`\\") {
			return nil, fmt.Errorf("line %d is no NAME=VALUE", n)
		}
		m[name] = value
	}
	return m, nil
}

// words splits a variable.
func (m meta) words(name string) []string { return strings.Fields(m[name]) }
