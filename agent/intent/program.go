package intent

import (
	"slices"
	"strings"
)

// A template is compiled to a small program. How the rest of it matches from an
// instruction at a position does not depend on how one got there, so that each
// such pair is worked out once and the work is bounded by their number, however
// the template is nested.

type opcode uint8

const (
	opWord  opcode = iota // the next token is arg
	opSlot                // the slot arg begins here
	opSplit               // try x, then y
	opJump                // go on at x
	opDone                // the sentence must end here
)

// instr is kept small: a set has tens of thousands. arg is an index into the
// set's words, x and y are instructions.
type instr struct {
	arg  uint32
	x, y uint16
	op   opcode
}

type program []instr

// words keeps one copy of each word and slot name of a set and numbers them.
type words struct {
	list  []string
	index map[string]uint32
	// room is where programs are made before they are copied.
	room program
}

func newWords() *words { return &words{index: map[string]uint32{}} }

func (w *words) number(s string) uint32 {
	n, ok := w.index[s]
	if !ok {
		s = strings.Clone(s)
		n = uint32(len(w.list))
		w.index[s], w.list = n, append(w.list, s)
	}
	return n
}

// compile makes a program of a template. A template is at most maxTemplate
// bytes long, so that jumps fit into 16 bits.
func compile(n node, w *words) program {
	c := &compiler{words: w, prog: w.room[:0]}
	c.emit(n)
	c.put(instr{op: opDone})
	w.room = c.prog
	return slices.Clone(c.prog)
}

type compiler struct {
	prog  program
	words *words
}

// put adds an instruction and returns where it stands.
func (c *compiler) put(in instr) int {
	c.prog = append(c.prog, in)
	return len(c.prog) - 1
}

func (c *compiler) here() uint16 { return uint16(len(c.prog)) }

func (c *compiler) emit(n node) {
	switch n := n.(type) {
	case wordNode:
		for _, t := range n.toks {
			c.put(instr{op: opWord, arg: c.words.number(t)})
		}
	case slotNode:
		c.put(instr{op: opSlot, arg: c.words.number(n.name)})
	case seqNode:
		for _, part := range n {
			c.emit(part)
		}
	case optNode:
		at := c.put(instr{op: opSplit})
		c.prog[at].x = c.here()
		c.emit(n.body)
		c.prog[at].y = c.here()
	case altNode:
		var ends []int
		for i, choice := range n {
			if i == len(n)-1 {
				c.emit(choice)
				break
			}
			at := c.put(instr{op: opSplit})
			c.prog[at].x = c.here()
			c.emit(choice)
			ends = append(ends, c.put(instr{op: opJump}))
			c.prog[at].y = c.here()
		}
		for _, e := range ends {
			c.prog[e].x = c.here()
		}
	}
}

// border is what a template can begin or end with: one of the words, sorted,
// or a slot, of which nothing can be told beforehand.
type border struct {
	words []string
	slot  bool
}

// borderOf looks at the first or the last token of a template.
func borderOf(n node, last bool) border {
	var b border
	b.add(n, last)
	if b.slot {
		return border{slot: true}
	}
	slices.Sort(b.words)
	b.words = slices.Clone(slices.Compact(b.words))
	return b
}

// add reports whether n can be empty, so that its neighbour counts as well.
func (b *border) add(n node, last bool) (empty bool) {
	switch n := n.(type) {
	case wordNode:
		if last {
			b.words = append(b.words, n.toks[len(n.toks)-1])
		} else {
			b.words = append(b.words, n.toks[0])
		}
	case slotNode:
		b.slot = true
	case optNode:
		b.add(n.body, last)
		return true
	case altNode:
		for _, c := range n {
			empty = b.add(c, last) || empty
		}
		return empty
	case seqNode:
		for i := range n {
			c := n[i]
			if last {
				c = n[len(n)-1-i]
			}
			if !b.add(c, last) {
				return false
			}
		}
		return true
	}
	return false
}

// fits tells whether the tokens, read in the direction of step from pos, can
// begin or end so.
func (b border) fits(toks []token, pos, step int, tolerant bool) bool {
	if b.slot {
		return true
	}
	for ; pos >= 0 && pos < len(toks); pos += step {
		if _, ok := slices.BinarySearch(b.words, toks[pos].text); ok {
			return true
		}
		if !tolerant || !inPassed[toks[pos].text] {
			return false
		}
	}
	return false
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

// run is one try of one program on one sentence. Of all ways to match it finds
// the one that leaves the fewest tokens to free slots, then the one whose other
// slots take the most, then the first.
type run struct {
	prog  program
	words []string
	toks  []token
	// slot lists the candidates of a slot at a position, the preferred first.
	slot func(name string, pos int) []candidate
	// tolerant passes over articles, particles and words of politeness.
	tolerant bool
	memo     []outcome
	captures []capture
}

// outcome is what is known of an instruction at a position.
type outcome struct {
	state uint8 // unknown, fails, matches
	// free and slots count the tokens that free and other slots take from here on.
	free, slots int16
	// choice is the candidate taken, or second for the second branch, or passed
	// for tokens that were passed over.
	choice int16
}

const (
	unknown uint8 = iota
	fails
	matches
)

const (
	second int16 = -1
	passed int16 = -2
)

// better reports whether a is to be preferred to what was found before it.
func (a outcome) better(b outcome) bool {
	if a.state != matches || b.state != matches {
		return a.state == matches && b.state != matches
	}
	return a.free < b.free || a.free == b.free && a.slots > b.slots
}

// match runs the program over the whole sentence.
func (r *run) match() bool {
	need := len(r.prog) * (len(r.toks) + 1)
	if cap(r.memo) < need {
		r.memo = make([]outcome, need)
	}
	r.memo = r.memo[:need]
	clear(r.memo)
	r.captures = nil
	if r.step(0, 0).state != matches {
		return false
	}
	r.collect()
	return true
}

func (r *run) step(pc, pos int) outcome {
	at := pc*(len(r.toks)+1) + pos
	if r.memo[at].state != unknown {
		return r.memo[at]
	}
	best := outcome{state: fails}
	take := func(o outcome, choice int16) {
		if o.choice = choice; o.better(best) {
			best = o
		}
	}
	switch in := r.prog[pc]; in.op {
	case opDone:
		if pos == len(r.toks) {
			best = outcome{state: matches}
		}
	case opWord:
		if pos < len(r.toks) && r.toks[pos].text == r.words[in.arg] {
			take(r.step(pc+1, pos+1), 0)
		}
	case opSlot:
		for i, c := range r.slot(r.words[in.arg], pos) {
			o := r.step(pc+1, c.end)
			o.free += int16(c.free)
			if c.free == 0 {
				o.slots += int16(c.end - pos)
			}
			take(o, int16(i))
		}
	case opSplit:
		take(r.step(int(in.x), pos), 0)
		take(r.step(int(in.y), pos), second)
	case opJump:
		take(r.step(int(in.x), pos), 0)
	}
	if r.tolerant {
		if n := passes(r.toks, pos); n > 0 {
			o := r.step(pc, pos+n)
			o.free += int16(n) // so that a free slot rather keeps an article than loses it
			take(o, passed)
		}
	}
	r.memo[at] = best
	return best
}

// collect walks the way that match has found and keeps its captures.
func (r *run) collect() {
	for pc, pos := 0, 0; ; {
		o := r.memo[pc*(len(r.toks)+1)+pos]
		in := r.prog[pc]
		switch {
		case o.choice == passed:
			pos += passes(r.toks, pos)
		case in.op == opDone:
			return
		case in.op == opWord:
			pc, pos = pc+1, pos+1
		case in.op == opSlot:
			c := r.slot(r.words[in.arg], pos)[o.choice]
			if c.end > pos {
				r.captures = append(r.captures, capture{r.words[in.arg], c.end - pos, c})
			}
			pc, pos = pc+1, c.end
		case o.choice == second:
			pc = int(in.y)
		default:
			pc = int(in.x)
		}
	}
}
