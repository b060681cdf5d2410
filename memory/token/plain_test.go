package token_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"homeagent/memory/token"
)

func TestPlain(t *testing.T) {
	tests := []struct {
		name, text string
		cut        []string
		keywords   []string // the three best
	}{
		{"nothing", "", nil, nil},
		{"only marks", "？！ \x00\xff", nil, nil},
		{"Chinese", "备用钥匙的门垫，钥匙", []string{"备用钥匙", "门垫", "钥匙"}, []string{"备用钥匙", "门垫", "钥匙"}},
		{"a clause", "打开客厅灯光打开", []string{"打开客厅灯光打开"}, []string{"打开", "开客", "客厅"}},
		{"English", "Don't open the door, the Door", []string{"Don't", "open", "the", "door", "the", "Door"}, []string{"Don't", "open", "door"}},
		{"mixed", "WiFi密码abc123", []string{"WiFi", "密码", "abc123"}, []string{"密码", "abc123", "WiFi"}},
		{"accents", "café e\u0301te\u0301", []string{"café", "e\u0301te\u0301"}, []string{"e\u0301te\u0301", "café"}},
		{"apostrophe at the end", "the dogs' bed", []string{"the", "dogs", "bed"}, []string{"dogs", "bed"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cut, err := token.Plain{}.Cut(t.Context(), tt.text)
			if err != nil || !slices.Equal(cut, tt.cut) {
				t.Errorf("Cut %q, %v", cut, err)
			}
			tagged, err := token.Plain{}.Tag(t.Context(), tt.text)
			if err != nil || len(tagged) != len(cut) || len(cut) > 0 && tagged[0] != (token.Word{Text: cut[0]}) {
				t.Errorf("Tag %v, %v", tagged, err)
			}
			words, err := token.Plain{}.Keywords(t.Context(), tt.text, 3)
			var got []string
			for _, w := range words {
				got = append(got, w.Text)
			}
			if err != nil || !slices.Equal(got, tt.keywords) {
				t.Errorf("Keywords %q, %v", got, err)
			}
		})
	}
}

// broken is a Cutter that fails.
type broken struct{ err error }

func (b broken) Tag(context.Context, string) ([]token.Word, error)           { return nil, b.err }
func (b broken) Keywords(context.Context, string, int) ([]token.Word, error) { return nil, b.err }
func (b broken) Cut(context.Context, string) ([]string, error)               { return nil, b.err }

func TestEither(t *testing.T) {
	oops := errors.New("oops")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, r := range []struct {
		name string
		ctx  context.Context
		e    token.Either
		err  error
	}{
		{"the second stands in", t.Context(), token.Either{First: broken{oops}, Second: token.Plain{}}, nil},
		{"the first is enough", t.Context(), token.Either{First: token.Plain{}, Second: broken{oops}}, nil},
		{"both fail", t.Context(), token.Either{First: broken{oops}, Second: broken{oops}}, oops},
		{"nobody waits any more", ended, token.Either{First: broken{oops}, Second: token.Plain{}}, oops},
	} {
		t.Run(r.name, func(t *testing.T) {
			_, err1 := r.e.Tag(r.ctx, "key")
			_, err2 := r.e.Keywords(r.ctx, "key", 1)
			_, err3 := r.e.Cut(r.ctx, "key")
			if !errors.Is(err1, r.err) || !errors.Is(err2, r.err) || !errors.Is(err3, r.err) {
				t.Errorf("%v, %v, %v", err1, err2, err3)
			}
		})
	}
}

func FuzzPlain(f *testing.F) {
	for _, s := range []string{"钥匙在门垫下面", "don't ''' ’", "a\u0301\u0301b", "\xff\x00", strings.Repeat("门", 20)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		cut, _ := token.Plain{}.Cut(t.Context(), text)
		for _, w := range cut {
			if w == "" || !strings.Contains(text, w) {
				t.Fatalf("%q of %q", w, text)
			}
		}
		if words, _ := (token.Plain{}).Keywords(t.Context(), text, 5); len(words) > 5 {
			t.Fatalf("%v", words)
		}
	})
}
