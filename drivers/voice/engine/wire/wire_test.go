package wire

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRoundTrip(t *testing.T) {
	rows := []struct {
		name  string
		req   Request
		sound []int16
	}{
		{"empty", Request{}, nil},
		{"recognize", Request{ID: 7, Op: Recognize, Grammar: "#JSGF V1.0;\n"}, []int16{0, 1, -1, 32767, -32768}},
		{"open again", Request{ID: 1 << 63, Op: Open, TrailingMS: 500, Speech: &Speech{Started: true, Start: 3, Heard: 512}}, nil},
		{"longest sound", Request{ID: 1, Op: Feed, Stream: 9}, make([]int16, MaxSound/2)},
	}
	var pipe []byte
	for _, row := range rows {
		var err error
		if pipe, err = Append(pipe, row.req, row.sound); err != nil {
			t.Fatalf("%s: %v", row.name, err)
		}
	}
	r := bytes.NewReader(pipe)
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			var got Request
			sound, err := Read(r, &got)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(row.req, got); d != "" {
				t.Error(d)
			}
			if !slices.Equal(row.sound, sound) {
				t.Error("the sound differs")
			}
		})
	}
	if _, err := Read(r, new(Request)); err != io.EOF {
		t.Errorf("at the end: %v", err)
	}
}

func TestReadRefuses(t *testing.T) {
	rows := []struct {
		name, bytes string
		want        error
	}{
		{"header too long", "\xff\x00\x00\x00\x00\x00\x00\x00", ErrFrame},
		{"sound too long", "\x00\x00\x00\x02\xff\x00\x00\x00{}", ErrFrame},
		{"half a sample", "\x00\x00\x00\x02\x00\x00\x00\x01{}x", ErrFrame},
		{"no JSON", "\x00\x00\x00\x02\x00\x00\x00\x00{]", ErrFrame},
		{"no header", "\x00\x00\x00\x00\x00\x00\x00\x00", ErrFrame},
		{"text from a program that prints", "panic: runtime error", ErrFrame},
		{"prefix cut", "\x00\x00\x00", io.ErrUnexpectedEOF},
		{"nothing after the prefix", "\x00\x00\x00\x02\x00\x00\x00\x00", io.ErrUnexpectedEOF},
		{"body cut", "\x00\x00\x00\x02\x00\x00\x00\x04{}x", io.ErrUnexpectedEOF},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			if _, err := Read(strings.NewReader(row.bytes), new(Request)); !errors.Is(err, row.want) {
				t.Errorf("error %v, want %v", err, row.want)
			}
		})
	}
}

func TestAppendRefuses(t *testing.T) {
	if _, err := Append(nil, Request{Grammar: strings.Repeat("x", MaxHeader)}, nil); err == nil {
		t.Error("a header that is too long gave no error")
	}
	if _, err := Append(nil, Request{}, make([]int16, MaxSound/2+1)); err == nil {
		t.Error("a sound that is too long gave no error")
	}
}

// What can be read can be written and read again to the same meaning.
func FuzzRead(f *testing.F) {
	for _, req := range []Request{{}, {ID: 1, Op: Recognize, Grammar: "g"}, {ID: 2, Op: Open, Speech: &Speech{Started: true}}, {ID: 3, Op: Cancel, Target: 2}} {
		b, err := Append(nil, req, []int16{1, -2})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte("\x00\x00\x00\x02\x00\x00\x00\x01{}x"))
	f.Add([]byte("panic: runtime error"))
	f.Fuzz(func(t *testing.T, b []byte) {
		var first, second Request
		sound, err := Read(bytes.NewReader(b), &first)
		if err != nil {
			return
		}
		again, err := Append(nil, first, sound)
		if err != nil {
			// Escaping can make a header longer than the one that was read.
			if len(b) < MaxHeader/6 {
				t.Fatal(err)
			}
			return
		}
		sound2, err := Read(bytes.NewReader(again), &second)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(first, second); d != "" {
			t.Error(d)
		}
		if !slices.Equal(sound, sound2) {
			t.Error("the sound differs")
		}
	})
}
