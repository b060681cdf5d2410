package intent

import (
	"slices"
	"strings"
)

// A template is compiled to a small program and run with backtracking. A
// (instruction, position) that has failed once is not tried again, so the work
// is bounded by their product however the template is nested: whether the rest
// matches does not depend on how one got there.

type opcode uint8

const (
	opWord  opcode = iota // the next token is arg
	opSlot                // the slot arg begins here
	opSplit               // try x, then y
	opJump                // go on at x
	opDone                // the sentence must end here
)

type instr struct {
	arg  string
	x, y int32
	op   opcode
}

type program []instr

// compile makes a program of a template. words keeps one copy of each word for
// all programs of a set.
func compile(n node, words map[string]string) program {
	var p program
	p.emit(n)
	p = slices.Clip(append(p, instr{op: opDone}))
	for i, in := range p {
		w, ok := words[in.arg]
		if !ok {
			w = strings.Clone(in.arg)
			words[w] = w
		}
		p[i].arg = w
	}
	return p
}

func (p *program) emit(n node) {
	switch n := n.(type) {
	case wordNode:
		for _, t := range n.toks {
			*p = append(*p, instr{op: opWord, arg: t})
		}
	case slotNode:
		*p = append(*p, instr{op: opSlot, arg: n.name})
	case seqNode:
		for _, c := range n {
			p.emit(c)
		}
	case optNode:
		at := len(*p)
		*p = append(*p, instr{op: opSplit})
		p.emit(n.body)
		(*p)[at].x, (*p)[at].y = int32(at+1), int32(len(*p))
	case altNode:
		var ends []int
		for i, c := range n {
			at := len(*p)
			if i < len(n)-1 {
				*p = append(*p, instr{op: opSplit})
			}
			p.emit(c)
			if i < len(n)-1 {
				ends = append(ends, len(*p))
				*p = append(*p, instr{op: opJump})
				(*p)[at].x, (*p)[at].y = int32(at+1), int32(len(*p))
			}
		}
		for _, e := range ends {
			(*p)[e].x = int32(len(*p))
		}
	}
}

// firstWords are the tokens that a match can begin with, sorted; slot is true
// where it can begin with a slot and nothing can be told beforehand.
func (p program) firstWords() (words []string, slot bool) {
	seen := make([]bool, len(p))
	var walk func(pc int)
	walk = func(pc int) {
		if seen[pc] {
			return
		}
		seen[pc] = true
		switch in := p[pc]; in.op {
		case opWord:
			words = append(words, in.arg)
		case opSlot:
			slot = true
		case opSplit:
			walk(int(in.x))
			walk(int(in.y))
		case opJump:
			walk(int(in.x))
		}
	}
	walk(0)
	if slot {
		return nil, true
	}
	slices.Sort(words)
	return slices.Clip(slices.Compact(words)), false
}

// candidate is one way to read a slot: it reaches up to token end.
type candidate struct {
	end int
	// text is the value as it stands in Match.Slots; value is what an argument gets.
	text  string
	value any
	// free counts the tokens that were taken in without being understood.
	free int
}

type capture struct {
	slot   string
	length int // in tokens
	candidate
}

// run is one try of one program on one sentence.
type run struct {
	prog program
	toks []token
	// slot lists the candidates of a slot at a position, the preferred first.
	slot func(name string, pos int) []candidate
	// tolerant passes over articles and particles.
	tolerant bool
	failed   []bool
	captures []capture
}

// match runs the program over the whole sentence.
func (r *run) match() bool {
	r.failed = make([]bool, len(r.prog)*(len(r.toks)+1))
	return r.step(0, 0)
}

func (r *run) step(pc, pos int) bool {
	at := pc*(len(r.toks)+1) + pos
	if r.failed[at] {
		return false
	}
	r.failed[at] = true // true from here on unless the whole match succeeds
	switch in := r.prog[pc]; in.op {
	case opDone:
		if pos == len(r.toks) {
			return true
		}
	case opWord:
		if pos < len(r.toks) && r.toks[pos].text == in.arg && r.step(pc+1, pos+1) {
			return true
		}
	case opSlot:
		for _, c := range r.slot(in.arg, pos) {
			r.captures = append(r.captures, capture{in.arg, c.end - pos, c})
			if r.step(pc+1, c.end) {
				return true
			}
			r.captures = r.captures[:len(r.captures)-1]
		}
	case opSplit:
		return r.step(int(in.x), pos) || r.step(int(in.y), pos)
	case opJump:
		return r.step(int(in.x), pos)
	}
	if r.tolerant && pos < len(r.toks) && passedOver[r.toks[pos].text] {
		return r.step(pc, pos+1)
	}
	return false
}
