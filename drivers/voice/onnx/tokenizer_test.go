package onnx

import (
	"strings"
	"testing"
	"unicode/utf8"
)

const smallTokenizer = `{"model":{"vocab":{"<unk>":0,"<s>":1,"</s>":2,"<0xE5>":3,"<0xAE>":4,"<0xB6>":5,"▁turn":6,"ing":7,"收":8}},
"added_tokens":[{"id":9,"content":"<<ST_0>>","special":true},{"id":10,"content":"▁kept","special":false}]}`

func TestTokenizer(t *testing.T) {
	tok, err := parseTokenizer([]byte(smallTokenizer))
	if err != nil {
		t.Fatal(err)
	}
	rows := []struct {
		name string
		ids  []int64
		want string
	}{
		{"none", nil, ""},
		{"words", []int64{1, 6, 7, 10, 2}, "turning kept"},
		{"bytes make a rune", []int64{3, 4, 5}, "家"},
		{"bytes cut short", []int64{6, 3, 4}, "turn\uFFFD"},
		{"unknown ids", []int64{-1, 8, 11, 1 << 40}, "收"},
		{"special", []int64{9, 8}, "收"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			if got := tok.decode(row.ids); got != row.want {
				t.Errorf("%q, want %q", got, row.want)
			}
		})
	}
}

func TestParseTokenizerRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"empty": "", "not JSON": "x", "no vocabulary": "{}", "negative id": `{"model":{"vocab":{"a":-1}}}`,
		"huge id": `{"model":{"vocab":{"a":1048576}}}`, "id no number": `{"model":{"vocab":{"a":"b"}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := parseTokenizer([]byte(text)); err == nil || !strings.HasPrefix(err.Error(), "tokenizer: ") {
				t.Errorf("error %v", err)
			}
		})
	}
}

func FuzzTokenizer(f *testing.F) {
	f.Add([]byte(smallTokenizer), int64(6))
	f.Add([]byte(`{"model":{"vocab":{"<0xZZ>":5}}}`), int64(5))
	f.Fuzz(func(t *testing.T, data []byte, id int64) {
		tok, err := parseTokenizer(data)
		if err != nil {
			return
		}
		if got := tok.decode([]int64{id, id}); !utf8.ValidString(got) {
			t.Errorf("%q is not UTF-8", got)
		}
	})
}
