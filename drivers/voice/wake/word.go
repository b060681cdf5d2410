package wake

import (
	"errors"
	"fmt"
	"unicode"
	"unicode/utf8"

	"homeagent/drivers/voice/wake/wakefile"
)

const (
	wordVersion = 1
	maxName     = 64
	maxTakes    = 20
	// maxRows bounds one template: 4 s.
	maxRows = 50
)

// Word is an enrolled wake word: templates, regression and threshold, and the
// whitening they were made under, so that no bank is needed to listen for it.
// It is read only, by any number of goroutines.
type Word struct {
	name  string
	model string // id of the speech embedding
	white *whitener
	// takes holds per take its copies, whitened rows in steps of rowScale.
	takes [][][]int8
	reg   regression
	near  norm
	logit norm
	// threshold is the sum of both scores' z values from which the word counts as heard.
	threshold float32
	// strength is the weakest take's score over the threshold when judged by the others.
	strength float32
}

// Name is the name under which the word was enrolled, and the Word of its hits.
func (w *Word) Name() string { return w.name }

// Takes is the number of takes it was learned from.
func (w *Word) Takes() int { return len(w.takes) }

// checkName refuses names that could not be shown or kept.
func checkName(name string) error {
	if name == "" || len(name) > maxName || !utf8.ValidString(name) {
		return fmt.Errorf("a wake word's name has 1 to %d bytes of text", maxName)
	}
	for _, r := range name {
		if !unicode.IsPrint(r) {
			return errors.New("a wake word's name has only printable characters")
		}
	}
	return nil
}

// Marshal returns the word as a file of some 50 KB.
func (w *Word) Marshal() []byte {
	f := &wakefile.File{Kind: wakefile.Word, Version: wordVersion}
	f.AddText("name", w.name)
	f.AddText("model", w.model)
	f.AddFloat32("mean", w.white.mean[:], Dim)
	f.AddFloat32("whiten", w.white.triangle(), Dim*(Dim+1)/2)
	for i, copies := range w.takes {
		for j, rows := range copies {
			f.AddInt8(fmt.Sprintf("take%02d.%d", i, j), rows, len(rows)/Dim, Dim)
		}
	}
	f.AddFloat32("shape", []float32{float32(len(w.takes)), float32(len(w.takes[0]))}, 2)
	f.AddFloat32("weights", w.reg.w, stackDim)
	f.AddFloat32("levels", []float32{w.reg.bias, w.near.mean, w.near.spread,
		w.logit.mean, w.logit.spread, w.threshold, w.strength}, 7)
	return f.Encode()
}

// Unmarshal reads what Marshal wrote. Its errors wrap wakefile.ErrDamaged or
// are a *wakefile.KindError.
func Unmarshal(data []byte) (*Word, error) {
	w, err := unmarshal(data)
	if err != nil {
		return nil, fmt.Errorf("wake word: %w", err)
	}
	return w, nil
}

func unmarshal(data []byte) (*Word, error) {
	f, err := wakefile.Decode(data, wakefile.Word, wordVersion)
	if err != nil {
		return nil, err
	}
	bad := func(what string) error { return fmt.Errorf("%w: %s", wakefile.ErrDamaged, what) }
	w := &Word{white: &whitener{}}
	if w.name, err = f.Text("name"); err != nil {
		return nil, err
	}
	if checkName(w.name) != nil {
		return nil, bad("its name is not readable")
	}
	if w.model, err = f.Text("model"); err != nil {
		return nil, err
	}
	mean, _, err := f.Float32("mean", Dim)
	if err != nil {
		return nil, err
	}
	copy(w.white.mean[:], mean)
	tri, _, err := f.Float32("whiten", Dim*(Dim+1)/2)
	if err != nil {
		return nil, err
	}
	w.white.setTriangle(tri)
	shape, _, err := f.Float32("shape", 2)
	if err != nil {
		return nil, err
	}
	if !(shape[0] >= 1 && shape[0] <= maxTakes && shape[1] >= 1 && shape[1] <= 9) {
		return nil, bad("its number of takes is out of range")
	}
	for i := range int(shape[0]) {
		var copies [][]int8
		for j := range int(shape[1]) {
			rows, dims, err := f.Int8(fmt.Sprintf("take%02d.%d", i, j), -1, Dim)
			if err != nil {
				return nil, err
			}
			if dims[0] == 0 || dims[0] > maxRows {
				return nil, bad("a template's length is out of range")
			}
			copies = append(copies, rows)
		}
		w.takes = append(w.takes, copies)
	}
	if w.reg.w, _, err = f.Float32("weights", stackDim); err != nil {
		return nil, err
	}
	l, _, err := f.Float32("levels", 7)
	if err != nil {
		return nil, err
	}
	w.reg.bias, w.near, w.logit = l[0], norm{l[1], l[2]}, norm{l[3], l[4]}
	w.threshold, w.strength = l[5], l[6]
	if !(w.near.spread > 0 && w.logit.spread > 0) {
		return nil, bad("its scores have no spread")
	}
	return w, nil
}

// triangle returns the lower half of the whitening matrix, row by row.
func (h *whitener) triangle() []float32 {
	out := make([]float32, 0, Dim*(Dim+1)/2)
	for i := range h.w {
		out = append(out, h.w[i][:i+1]...)
	}
	return out
}

func (h *whitener) setTriangle(t []float32) {
	for i := range h.w {
		copy(h.w[i][:i+1], t)
		t = t[i+1:]
	}
}

// quantise turns whitened rows into the steps in which a word keeps them.
func quantise(rows []float32) []int8 {
	out := make([]int8, len(rows))
	for i, v := range rows {
		out[i] = int8(max(-127, min(127, roundToInt(v/rowScale))))
	}
	return out
}

// restore is the inverse of quantise, with every row of length one again.
func restore(q []int8) []float32 {
	out := make([]float32, len(q))
	for at := 0; at+Dim <= len(q); at += Dim {
		restoreRow(q[at:at+Dim], out[at:at+Dim])
	}
	return out
}

//go:norace
func restoreRow(q []int8, to []float32) {
	var norm float32
	to = to[:len(q)]
	for k, s := range q {
		v := float32(s) * rowScale
		to[k] = v
		norm += v * v
	}
	scale(to, norm)
}

// scorer returns a fresh scorer for the word.
func (w *Word) scorer() *scorer {
	s := &scorer{reg: &w.reg, near: w.near, logit: w.logit, best: make([]float32, len(w.takes))}
	for _, copies := range w.takes {
		var m []*matcher
		for _, rows := range copies {
			m = append(m, newMatcher(restore(rows)))
		}
		s.takes = append(s.takes, m)
	}
	return s
}
