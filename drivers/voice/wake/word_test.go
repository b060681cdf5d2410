package wake

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"homeagent/drivers/voice/wake/wakefile"
)

// unit returns n random rows of length one.
func unit(seed uint64, n int) []float32 {
	r := rand.New(rand.NewPCG(seed, 5))
	out := make([]float32, n*Dim)
	for at := 0; at < len(out); at += Dim {
		row := out[at : at+Dim]
		var norm float32
		for k := range row {
			row[k] = float32(r.NormFloat64())
			norm += row[k] * row[k]
		}
		scale(row, norm)
	}
	return out
}

// plain is a whitening that changes nothing but the length.
func plain() *whitener {
	h := &whitener{}
	for i := range h.w {
		h.w[i][i] = 1
	}
	return h
}

func sampleWord() *Word {
	w := &Word{name: "小爱同学", model: "0123456789abcdef", white: plain(),
		near: norm{-0.9, 0.05}, logit: norm{0, 1}, threshold: 6, strength: 3}
	for i := range 3 {
		w.takes = append(w.takes, [][]int8{quantise(unit(uint64(i), 8)), quantise(unit(uint64(i+9), 9))})
	}
	w.reg = regression{w: unit(99, stackRows), bias: -1}
	return w
}

func TestWordRoundTrip(t *testing.T) {
	data := sampleWord().Marshal()
	if len(data) > 100_000 {
		t.Errorf("a word has %d bytes", len(data))
	}
	w, err := Unmarshal(data)
	if err != nil {
		t.Fatal(err)
	}
	if w.Name() != "小爱同学" || w.Takes() != 3 {
		t.Errorf("name %q, %d takes", w.Name(), w.Takes())
	}
	if !bytes.Equal(w.Marshal(), data) {
		t.Error("a word read back is written differently")
	}
}

func TestUnmarshalRefuses(t *testing.T) {
	tests := []struct {
		name   string
		change func(*Word)
		want   string
	}{
		{"no name", func(w *Word) { w.name = "" }, "name"},
		{"a name with a line break", func(w *Word) { w.name = "a\nb" }, "name"},
		{"a name that is no text", func(w *Word) { w.name = "\xff" }, "name"},
		{"an empty template", func(w *Word) { w.takes[1][0] = nil }, "length"},
		{"a template of a minute", func(w *Word) { w.takes[1][0] = make([]int8, 750*Dim) }, "length"},
		{"too many takes", func(w *Word) {
			for len(w.takes) <= maxTakes {
				w.takes = append(w.takes, w.takes[0])
			}
		}, "number of takes"},
		{"scores without spread", func(w *Word) { w.near.spread = 0 }, "spread"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := sampleWord()
			tt.change(w)
			_, err := Unmarshal(w.Marshal())
			if !errors.Is(err, wakefile.ErrDamaged) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want ErrDamaged with %q", err, tt.want)
			}
		})
	}
	t.Run("cut short", func(t *testing.T) {
		data := sampleWord().Marshal()
		if _, err := Unmarshal(data[:len(data)/2]); !errors.Is(err, wakefile.ErrDamaged) {
			t.Error(err)
		}
	})
	t.Run("a file of another kind", func(t *testing.T) {
		var kind *wakefile.KindError
		if _, err := Unmarshal(sampleBank(t).Encode("")); !errors.As(err, &kind) {
			t.Error(err)
		}
	})
}

// seal puts a right checksum behind a body, so that fuzzing reaches what lies behind it.
func seal(body []byte) []byte {
	sum := sha256.Sum256(body)
	return append(bytes.Clone(body), sum[:]...)
}

// FuzzUnmarshal: what is accepted can be listened for, and is written back to
// something that reads the same.
func FuzzUnmarshal(f *testing.F) {
	data := sampleWord().Marshal()
	f.Add(data[:len(data)-sha256.Size])
	f.Add([]byte("HAWAKE\r\nword\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, body []byte) {
		w, err := Unmarshal(seal(body))
		if err != nil {
			return
		}
		again, err := Unmarshal(w.Marshal())
		if err != nil || again.name != w.name || !bytes.Equal(again.Marshal(), w.Marshal()) {
			t.Fatalf("written back: %v", err)
		}
		st := newStack()
		st.push(unit(1, 1))
		w.score(w.scorer(), unit(1, 1), st)
	})
}
