package main

import (
	"bytes"
	"errors"
)

// applets finds the names of busybox's applets in its binary, so that no
// arm64 program has to run for them. They stand there sorted, each with a zero
// at its end, beginning with "[" and "[[".
func applets(busybox []byte) ([]string, error) {
	start := bytes.Index(busybox, []byte("\x00[\x00[[\x00"))
	if start < 0 {
		return nil, errors.New("busybox: no table of applets in the binary")
	}
	var out []string
	for rest := busybox[start+1:]; ; {
		name, more, ok := bytes.Cut(rest, []byte{0})
		if !ok || !isApplet(name) || len(out) > 0 && string(name) <= out[len(out)-1] {
			break
		}
		out, rest = append(out, string(name)), more
	}
	if len(out) < 100 {
		return nil, errors.New("busybox: the table of applets in the binary is cut short")
	}
	return out, nil
}

func isApplet(name []byte) bool {
	if len(name) == 0 || len(name) > 32 {
		return false
	}
	for _, c := range name {
		if !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '[' || c == '_' || c == '-') {
			return false
		}
	}
	return true
}
