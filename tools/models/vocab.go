package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// derivations are the steps a lock file may name: each computes the file of
// the models folder from a file of the package.
func derivations() map[string]func([]byte) ([]byte, error) {
	return map[string]func([]byte) ([]byte, error){"llama-vocab": llamaVocab}
}

// llamaVocab finds the vocabulary in a script that bundles llama-tokenizer-js
// and writes it as the part of a tokenizer.json that a decoder needs:
//
//	{"model":{"type":"BPE","vocab":{"<unk>":0,"<s>":1,…}}}
//
// The library carries its tokens as one base64 string of lines, the line
// number being the token's id; it is told from other strings by its first
// three tokens.
func llamaVocab(script []byte) ([]byte, error) {
	head := base64.StdEncoding.EncodeToString([]byte("<unk>\n<s>\n</s>\n"))
	re := regexp.MustCompile(`"(` + regexp.QuoteMeta(head) + `[A-Za-z0-9+/=]+)"`)
	m := re.FindSubmatch(script)
	if m == nil {
		return nil, fmt.Errorf("the script carries no vocabulary")
	}
	raw, err := base64.StdEncoding.DecodeString(string(m[1]))
	if err != nil {
		return nil, fmt.Errorf("the script's vocabulary: %w", err)
	}
	tokens := strings.Split(string(raw), "\n")
	seen := make(map[string]bool, len(tokens))
	var b bytes.Buffer
	b.WriteString(`{"model":{"type":"BPE","vocab":{`)
	for id, tok := range tokens {
		if seen[tok] {
			return nil, fmt.Errorf("the script's vocabulary has token %q twice", tok)
		}
		seen[tok] = true
		if id > 0 {
			b.WriteByte(',')
		}
		key, err := json.Marshal(tok)
		if err != nil {
			return nil, fmt.Errorf("token %d of the script's vocabulary: %w", id, err)
		}
		fmt.Fprintf(&b, "\n%s:%d", key, id)
	}
	b.WriteString("\n}}}\n")
	return b.Bytes(), nil
}
