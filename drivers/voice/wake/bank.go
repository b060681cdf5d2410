package wake

import (
	"fmt"
	"strings"

	"homeagent/drivers/voice/wake/wakefile"
)

// rowScale is the step of a bank's whitened values: they are below 0.6 nearly
// always, and clipped there.
const rowScale = 0.6 / 127

// Bank is other people's speech as embeddings: what a wake word must not be
// mistaken for. It also carries the whitening and a stretch of voices as sound that
// enrolment puts around and under the takes. It is only read, by any number of goroutines.
type Bank struct {
	white *whitener
	// rows are whitened embeddings of length one in steps of rowScale.
	rows   []int8
	groups []Group
	voices []int16
}

// Group is a run of a bank's rows that belongs together: one speaker or kind
// of noise, in the order in which it was heard.
type Group struct {
	Name       string
	Start, End int // rows [Start, End)
}

// BankSource is one group's sound for NewBank.
type BankSource struct {
	Name string
	// Rows are raw embeddings of one stream, Dim values each.
	Rows []float32
	// Speech tells that the rows count for the whitening.
	Speech bool
}

// NewBank makes a bank from embedded sound and from voices, 16 kHz samples of
// several people speaking one after the other for the same time, without pauses.
func NewBank(sources []BankSource, voices []int16) (*Bank, error) {
	var speech []float32
	for _, s := range sources {
		if s.Speech {
			speech = append(speech, s.Rows...)
		}
	}
	white, err := newWhitener(speech)
	if err != nil {
		return nil, fmt.Errorf("speech bank: %w", err)
	}
	b := &Bank{white: white, voices: voices}
	var w [Dim]float32
	for _, s := range sources {
		g := Group{Name: s.Name, Start: len(b.rows) / Dim}
		for i := 0; i+Dim <= len(s.Rows); i += Dim {
			white.apply(s.Rows[i:], w[:])
			b.rows = append(b.rows, quantise(w[:])...)
		}
		g.End = len(b.rows) / Dim
		b.groups = append(b.groups, g)
	}
	return b, nil
}

func roundToInt(v float32) int {
	if v < 0 {
		return int(v - 0.5)
	}
	return int(v + 0.5)
}

// row writes one embedding of length one to to.
func (b *Bank) row(i int, to []float32) { restoreRow(b.rows[i*Dim:][:Dim], to) }

// Len is the number of embeddings, each of speech.Frame samples.
func (b *Bank) Len() int { return len(b.rows) / Dim }

// Groups lists the bank's parts in order. The caller may keep the slice.
func (b *Bank) Groups() []Group { return append([]Group(nil), b.groups...) }

// Encode returns the bank as a file. about says where the sound comes from and
// under which licence, and is kept in the file.
func (b *Bank) Encode(about string) []byte {
	f := &wakefile.File{Kind: wakefile.Bank, Version: 1}
	f.AddText("about", about)
	f.AddFloat32("mean", b.white.mean[:], Dim)
	w := make([]float32, 0, Dim*Dim)
	for i := range b.white.w {
		w = append(w, b.white.w[i][:]...)
	}
	f.AddFloat32("whiten", w, Dim, Dim)
	f.AddInt8("rows", b.rows, len(b.rows)/Dim, Dim)
	var g strings.Builder
	for _, x := range b.groups {
		fmt.Fprintf(&g, "%s %d\n", x.Name, x.End-x.Start)
	}
	f.AddText("groups", g.String())
	// They are only background: the upper eight bits are enough.
	coarse := make([]int8, len(b.voices))
	for i, s := range b.voices {
		coarse[i] = int8(s >> 8)
	}
	f.AddInt8("voices", coarse, len(coarse))
	return f.Encode()
}

// LoadBank reads bank.bin from the folder "wake" of the models folder; errors
// are those of LoadModel. A bank takes as much memory as the file, about 5 MB,
// and is needed only while a word is enrolled.
func LoadBank(models string) (*Bank, error) {
	f, err := load(models, BankFile, wakefile.Bank)
	if err != nil {
		return nil, err
	}
	b, err := parseBank(f)
	if err != nil {
		return nil, fmt.Errorf("wake word model %s: %w", BankFile, err)
	}
	return b, nil
}

func parseBank(f *wakefile.File) (*Bank, error) {
	b := &Bank{white: &whitener{}}
	mean, _, err := f.Float32("mean", Dim)
	if err != nil {
		return nil, err
	}
	copy(b.white.mean[:], mean)
	w, _, err := f.Float32("whiten", Dim, Dim)
	if err != nil {
		return nil, err
	}
	for i := range b.white.w {
		copy(b.white.w[i][:], w[i*Dim:])
	}
	if b.rows, _, err = f.Int8("rows", -1, Dim); err != nil {
		return nil, err
	}
	text, err := f.Text("groups")
	if err != nil {
		return nil, err
	}
	bad := fmt.Errorf("%w: the groups do not cover the rows", wakefile.ErrDamaged)
	at := 0
	for line := range strings.Lines(text) {
		g := Group{Start: at}
		var n int
		if _, err := fmt.Sscanf(line, "%s %d\n", &g.Name, &n); err != nil || n < 0 || n > b.Len()-at {
			return nil, bad
		}
		at += n
		g.End = at
		b.groups = append(b.groups, g)
	}
	if at != b.Len() || len(b.groups) < 2 {
		return nil, bad
	}
	coarse, _, err := f.Int8("voices", -1)
	if err != nil {
		return nil, err
	}
	if len(coarse) < 5*rate {
		return nil, fmt.Errorf("%w: less than five seconds of voices", wakefile.ErrDamaged)
	}
	for _, q := range coarse {
		b.voices = append(b.voices, int16(q)<<8)
	}
	return b, nil
}
