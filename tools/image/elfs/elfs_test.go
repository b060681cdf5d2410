package elfs

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"testing"
)

// header is an ELF file of nothing but its head.
func header(machine, kind uint16) []byte {
	b := make([]byte, 64)
	copy(b, "\x7fELF\x02\x01\x01")
	for at, v := range map[int]uint16{16: kind, 18: machine, 52: 64, 54: 56, 58: 64} {
		binary.LittleEndian.PutUint16(b[at:], v)
	}
	binary.LittleEndian.PutUint32(b[20:], 1)
	return b
}

func TestRead(t *testing.T) {
	rows := []struct {
		name string
		file []byte
		err  error
	}{
		{"static program", header(183, 2), nil},
		{"another machine", header(62, 2), ErrMachine},
		{"kernel module", header(183, 1), ErrNotELF},
		{"script", []byte("#!/bin/sh\n"), ErrNotELF},
		{"empty", nil, ErrNotELF},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			o, err := Read("usr/bin/x", bytes.NewReader(row.file))
			if !errors.Is(err, row.err) || len(o.Needed) > 0 || o.Interp != "" {
				t.Errorf("%v, %v", o, err)
			}
		})
	}
}

func TestClosure(t *testing.T) {
	tree := map[string]bool{"usr/lib/aarch64-linux-gnu/libc.so.6": true, "usr/lib/private/libp.so": true, "usr/lib/ld.so": true}
	rows := []struct {
		name    string
		objects map[string]Object
		missing []string
	}{
		{"all there", map[string]Object{"a": {Needed: []string{"libc.so.6"}, Interp: "usr/lib/ld.so"}}, nil},
		{"library", map[string]Object{"a": {Needed: []string{"libx.so.1"}}}, []string{"a needs libx.so.1"}},
		{"loader", map[string]Object{"a": {Interp: "lib/ld.so"}}, []string{"a needs lib/ld.so"}},
		{"private folder", map[string]Object{"a": {Needed: []string{"libp.so"}, Search: []string{"usr/lib/private"}}}, nil},
		{"private folder of another", map[string]Object{"b": {Needed: []string{"libp.so"}}}, []string{"b needs libp.so"}},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			var got []string
			for _, m := range Closure(row.objects, func(n string) bool { return tree[n] }) {
				got = append(got, m.String())
			}
			if !slices.Equal(got, row.missing) {
				t.Errorf("missing %v, want %v", got, row.missing)
			}
		})
	}
}

// FuzzRead holds that no file breaks the reader.
func FuzzRead(f *testing.F) {
	f.Add(header(183, 2))
	f.Fuzz(func(_ *testing.T, b []byte) { _, _ = Read("x", bytes.NewReader(b)) })
}
