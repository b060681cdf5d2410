package wake

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"homeagent/drivers/voice/wake/wakefile"
)

// raw returns n random embeddings whose values hang together and differ in size.
func raw(seed uint64, n int) []float32 {
	r := rand.New(rand.NewPCG(seed, 6))
	out := make([]float32, n*Dim)
	for at := 0; at < len(out); at += Dim {
		common := r.NormFloat64()
		for k := range Dim {
			out[at+k] = float32(3 + float64(k)/10*(r.NormFloat64()+common))
		}
	}
	return out
}

func sampleBank(t testing.TB) *Bank {
	t.Helper()
	b, err := NewBank([]BankSource{
		{Name: "one", Rows: raw(1, 700), Speech: true},
		{Name: "two", Rows: raw(2, 700), Speech: true},
		{Name: "noise", Rows: raw(3, 50)},
	}, make([]int16, 6*rate))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestWhiteningMakesAxesAlike(t *testing.T) {
	rows := raw(4, 4000)
	h, err := newWhitener(rows)
	if err != nil {
		t.Fatal(err)
	}
	var mean, square [Dim]float64
	n := len(rows) / Dim
	var x [Dim]float32
	for i := range n {
		h.apply(rows[i*Dim:], x[:])
		length := 0.0
		for k, v := range x {
			mean[k] += float64(v) / float64(n)
			square[k] += float64(v) * float64(v) / float64(n)
			length += float64(v) * float64(v)
		}
		if math.Abs(length-1) > 1e-4 {
			t.Fatalf("row %d has length %v", i, math.Sqrt(length))
		}
	}
	// Axes with little variance are held back by the ridge; none may stand out.
	for k := range Dim {
		if math.Abs(mean[k]) > 0.02 || square[k] > 3.0/Dim {
			t.Errorf("axis %d: mean %.3f, mean square %.4f of %.4f", k, mean[k], square[k], 1.0/Dim)
		}
	}
}

func TestWhiteningRefusesTooLittle(t *testing.T) {
	if _, err := newWhitener(raw(1, 50)); err == nil {
		t.Error("50 embeddings gave a covariance of 96 axes")
	}
}

func TestBankRoundTrip(t *testing.T) {
	b := sampleBank(t)
	data := b.Encode("where it comes from")
	f, err := wakefile.Decode(data, wakefile.Bank, fileVersion)
	if err != nil {
		t.Fatal(err)
	}
	got, err := parseBank(f)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Encode("where it comes from"), data) {
		t.Error("a bank read back is written differently")
	}
	if g := got.Groups(); len(g) != 3 || g[2] != (Group{"noise", 1400, 1450}) {
		t.Errorf("groups %v", g)
	}
	var want, have [Dim]float32
	b.white.apply(raw(1, 1), want[:])
	got.row(0, have[:])
	if d := 1 - dotProduct(want[:], have[:]); d > 0.01 {
		t.Errorf("the first row is %.3f away from what was put in", d)
	}
}

func TestBankRefuses(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*Bank)
	}{
		{"groups that end early", func(b *Bank) { b.groups = b.groups[:2] }},
		{"groups that go on too long", func(b *Bank) { b.groups[2].End++ }},
		{"one group only", func(b *Bank) { b.groups = []Group{{"all", 0, b.Len()}} }},
		{"no voices", func(b *Bank) { b.voices = nil }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := sampleBank(t)
			tt.change(b)
			f, err := wakefile.Decode(b.Encode(""), wakefile.Bank, fileVersion)
			if err == nil {
				_, err = parseBank(f)
			}
			if !errors.Is(err, wakefile.ErrDamaged) {
				t.Errorf("error %v", err)
			}
		})
	}
}

// FuzzBank: what is accepted can be read row by row.
func FuzzBank(f *testing.F) {
	data := sampleBank(f).Encode("x")
	f.Add(data[:len(data)-sha256.Size])
	f.Add([]byte(strings.Repeat("\x00", 60)))
	f.Fuzz(func(t *testing.T, body []byte) {
		file, err := wakefile.Decode(seal(body), wakefile.Bank, fileVersion)
		if err != nil {
			return
		}
		b, err := parseBank(file)
		if err != nil {
			return
		}
		var x [Dim]float32
		for i := range b.Len() {
			b.row(i, x[:])
		}
	})
}
