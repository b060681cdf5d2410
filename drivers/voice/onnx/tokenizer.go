package onnx

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// maxVocabulary bounds the ids a tokenizer file may use.
const maxVocabulary = 1 << 20

// tokenizer turns token ids into text: a SentencePiece vocabulary in which
// "▁" is a space and "<0xE6>" a byte.
type tokenizer struct {
	tokens  []string
	special map[int64]bool
}

// parseTokenizer reads the parts of a tokenizer.json that decoding takes:
// model.vocab (token to id) and, where there are any, added_tokens.
func parseTokenizer(data []byte) (*tokenizer, error) {
	var doc struct {
		Model struct {
			Vocab map[string]int64 `json:"vocab"`
		} `json:"model"`
		Added []struct {
			ID      int64  `json:"id"`
			Content string `json:"content"`
			Special bool   `json:"special"`
		} `json:"added_tokens"`
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		return nil, fmt.Errorf("tokenizer: %w", err)
	}
	if len(doc.Model.Vocab) == 0 {
		return nil, fmt.Errorf("tokenizer: it has no vocabulary")
	}
	t := &tokenizer{special: map[int64]bool{startToken: true, endToken: true}}
	for tok, id := range doc.Model.Vocab {
		if err := t.set(id, tok); err != nil {
			return nil, err
		}
	}
	for _, a := range doc.Added {
		if err := t.set(a.ID, a.Content); err != nil {
			return nil, err
		}
		if a.Special {
			t.special[a.ID] = true
		}
	}
	return t, nil
}

func (t *tokenizer) set(id int64, tok string) error {
	if id < 0 || id >= maxVocabulary {
		return fmt.Errorf("tokenizer: token %q has id %d", tok, id)
	}
	for int64(len(t.tokens)) <= id {
		t.tokens = append(t.tokens, "")
	}
	t.tokens[id] = tok
	return nil
}

func readTokenizer(file string) (*tokenizer, error) {
	if err := present(file); err != nil {
		return nil, err
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("tokenizer: %w", err)
	}
	return parseTokenizer(data)
}

// decode joins tokens to valid UTF-8 text; unknown ids and special tokens give nothing.
func (t *tokenizer) decode(ids []int64) string {
	var b strings.Builder
	for _, id := range ids {
		if id < 0 || id >= int64(len(t.tokens)) || t.special[id] {
			continue
		}
		tok := t.tokens[id]
		if x, ok := byteToken(tok); ok {
			b.WriteByte(x)
			continue
		}
		b.WriteString(strings.ReplaceAll(tok, "▁", " "))
	}
	return strings.TrimSpace(strings.ToValidUTF8(b.String(), "\uFFFD"))
}

// byteToken reads "<0x41>".
func byteToken(tok string) (byte, bool) {
	if len(tok) != 6 || !strings.HasPrefix(tok, "<0x") || tok[5] != '>' {
		return 0, false
	}
	x, err := strconv.ParseUint(tok[3:5], 16, 8)
	return byte(x), err == nil
}
