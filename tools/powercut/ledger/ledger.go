package ledger

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"sync"
)

// Kind is what was written.
type Kind string

// Kinds. Name and Value of a Write mean what stands behind each.
const (
	Input  Kind = "input"  // id and text of an input that was accepted
	Answer Kind = "answer" // id of the input and the text of its final answer
	Fact   Kind = "fact"   // subject, "relation object"
	Timer  Kind = "timer"  // label; Value "" once it is cancelled
	Secret Kind = "secret" // name and value
	Config Kind = "config" // a number of config.yaml, "section.key", and its value
	Token  Kind = "token"  // name; Value "" once it is deleted
	Claim  Kind = "claim"  // the owner's account
	// Given is a secret that was on the setup partition before the first boot. It
	// is at all times there or in the house.
	Given Kind = "given"
)

// Present is the Value of a timer or token that is there.
const Present = "present"

// Write is one write.
type Write struct {
	Kind  Kind   `json:"kind"`
	Name  string `json:"name"`
	Value string `json:"value"`
}

// note is one line.
type note struct {
	Op       int    `json:"op"`
	State    string `json:"state"` // "tried" or "acked"
	Write    Write  `json:"write"`
	Position uint64 `json:"position,omitempty"`
}

// Ledger collects notes.
type Ledger struct {
	mu    sync.Mutex
	out   io.Writer
	notes []note
	ops   int
}

// New makes an empty ledger. What is noted also goes to out, which may be nil.
func New(out io.Writer) *Ledger { return &Ledger{out: out} }

// Tried notes that a write is about to be sent and returns its number.
func (l *Ledger) Tried(w Write) (op int, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ops++
	return l.ops, l.add(note{Op: l.ops, State: "tried", Write: w})
}

// Acked notes that the house has acknowledged a write.
func (l *Ledger) Acked(op int, w Write, position uint64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.add(note{Op: op, State: "acked", Write: w, Position: position})
}

// add keeps a note. The caller holds mu.
func (l *Ledger) add(n note) error {
	l.notes = append(l.notes, n)
	if l.out == nil {
		return nil
	}
	b, err := json.Marshal(n)
	if err != nil {
		return err
	}
	if _, err := l.out.Write(append(b, '\n')); err != nil {
		return fmt.Errorf("keep the list of acknowledged writes: %w", err)
	}
	return nil
}

// Read reads a ledger that was kept.
func Read(r io.Reader) (*Ledger, error) {
	l := New(nil)
	in := bufio.NewScanner(r)
	in.Buffer(nil, 1<<20)
	for line := 1; in.Scan(); line++ {
		var n note
		if err := json.Unmarshal(in.Bytes(), &n); err != nil {
			return nil, fmt.Errorf("line %d of the list of acknowledged writes: %w", line, err)
		}
		if n.State != "tried" && n.State != "acked" || n.Write.Kind == "" {
			return nil, fmt.Errorf("line %d of the list of acknowledged writes: state %q of a %q", line, n.State, n.Write.Kind)
		}
		l.ops = max(l.ops, n.Op)
		l.notes = append(l.notes, n)
	}
	return l, in.Err()
}

// Settle moves each position back to the last flush in front of it, which is
// what the acknowledgement stood on: flushed returns for a number of entries how
// many of them the last flush among them covers, itself included.
func (l *Ledger) Settle(flushed func(entries uint64) uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range l.notes {
		if n := &l.notes[i]; n.State == "acked" {
			n.Position = flushed(n.Position)
		}
	}
}

// All as an argument of Due takes every write that was acknowledged.
const All = ^uint64(0)

// Due returns what must be found on a disk that holds the first entries, in the
// order of the acknowledgements.
func (l *Ledger) Due(entries uint64) []Expectation {
	l.mu.Lock()
	defer l.mu.Unlock()
	type key struct {
		kind Kind
		name string
	}
	var order []key
	last := map[key]Expectation{}
	for _, n := range l.notes {
		k := key{n.Write.Kind, n.Write.Name}
		e, known := last[k]
		if n.State == "tried" {
			if known {
				e.Or = append(e.Or, n.Write.Value)
				last[k] = e
			}
			continue
		}
		if n.Position > entries {
			continue
		}
		if !known {
			order = append(order, k)
		}
		// Tries between this write's own try and its end stay possible.
		later := []string{}
		for _, m := range l.notes {
			if m.State == "tried" && m.Op > n.Op && m.Write.Kind == k.kind && m.Write.Name == k.name {
				later = append(later, m.Write.Value)
			}
		}
		last[k] = Expectation{Write: n.Write, Or: later}
	}
	out := make([]Expectation, 0, len(order))
	for _, k := range order {
		out = append(out, last[k])
	}
	return out
}

// Count is the number of writes that were acknowledged.
func (l *Ledger) Count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for _, x := range l.notes {
		if x.State == "acked" {
			n++
		}
	}
	return n
}

// Expectation is a write that must be found, or one of the values that later
// tries may have put in its place.
type Expectation struct {
	Write
	Or []string
}

// allows reports whether a value may be found.
func (e Expectation) allows(v string) bool { return v == e.Value || slices.Contains(e.Or, v) }
