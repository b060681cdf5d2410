package tidy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"homeagent/memory/entity"
	"homeagent/memory/graph"
)

const (
	// alikeBatch is how many changed entities are compared with all others at once.
	alikeBatch = 2000
	// alikeFacts is how many facts of an entity are read to judge it.
	alikeFacts = 64
	// maxPairs bounds the pairs that one changed entity is judged in.
	maxPairs = 16
	// every is how many rows are read between two looks at the house.
	every = 200
	// maxDifferent is how many pairs are known to be different at most.
	maxDifferent = 100_000
)

// couple is two entities, the smaller id first.
type couple struct{ a, b int64 }

func coupleOf(a, b int64) couple { return couple{min(a, b), max(a, b)} }

// alike compares the entities that changed since the last round with all
// others. Merging changes entities again, so it goes on until none is left.
func (t *Tidy) alike(ctx context.Context, s *Step) error {
	for {
		if err := t.pause(ctx); err != nil {
			return err
		}
		since, _ := t.marks()
		changes, mark, err := t.o.Graph.Changed(ctx, since, alikeBatch)
		if err != nil || mark == since {
			return err
		}
		if err := t.compare(ctx, changes, s); err != nil {
			return err
		}
		if err := t.save(func(x *saved) { x.Alike = mark }); err != nil {
			return err
		}
	}
}

func (t *Tidy) compare(ctx context.Context, changes []graph.Change, s *Step) error {
	index := entity.NewIndex()
	for i, c := range changes {
		if err := t.every(ctx, i); err != nil {
			return err
		}
		if c.Gone {
			continue
		}
		known, err := t.o.Graph.EntityFacts(ctx, c.ID, alikeFacts)
		if errors.Is(err, graph.ErrUnknown) {
			continue
		}
		if err != nil {
			return err
		}
		if named(known) {
			index.Add(c.ID, candidate(known, graph.EntityRecord{}))
			s.Entities++
		}
	}
	if index.Len() == 0 {
		return nil
	}
	couples, records, err := t.nominate(ctx, index)
	if err != nil {
		return err
	}
	var apart map[couple]bool // read when the first merge is at hand
	for i, c := range couples {
		if err := t.every(ctx, i); err != nil {
			return err
		}
		if err := t.judge(ctx, c, records, &apart, s); err != nil {
			return fmt.Errorf("entities %d and %d: %w", c.a, c.b, err)
		}
	}
	return nil
}

// every is pause once in a while.
func (t *Tidy) every(ctx context.Context, i int) error {
	if i%every != every-1 {
		return ctx.Err()
	}
	return t.pause(ctx)
}

// nominate passes all entities by the index of the changed ones, by their
// names. It returns the pairs in order, and the rows of those that are in one.
func (t *Tidy) nominate(ctx context.Context, index *entity.Index) ([]couple, map[int64]graph.EntityRecord, error) {
	type key struct {
		changed int64
		key     string
	}
	found := map[couple]bool{}
	weak := map[key][]int64{} // others; more than entity.MaxWeak tell nothing
	rows := map[int64]graph.EntityRecord{}
	i := 0
	for rec, err := range t.o.Graph.Export(ctx) {
		if err == nil {
			err = t.every(ctx, i)
		}
		if err != nil {
			return nil, nil, err
		}
		if rec.Entity == nil {
			break // the entities come first
		}
		i++
		e := *rec.Entity
		if e.Type == "text" {
			continue
		}
		keep := false
		for hit := range index.Hits(e.ID, candidateOf(e)) {
			if !hit.Weak {
				found[coupleOf(hit.ID, e.ID)] = true
				keep = true
				continue
			}
			k := key{hit.ID, hit.Key}
			if others := weak[k]; len(others) <= entity.MaxWeak && !slices.Contains(others, e.ID) {
				weak[k] = append(others, e.ID)
				keep = true
			}
		}
		if keep || index.Has(e.ID) {
			rows[e.ID] = e
		}
	}
	for k, others := range weak {
		if len(others) <= entity.MaxWeak {
			for _, id := range others {
				found[coupleOf(k.changed, id)] = true
			}
		}
	}
	couples := make([]couple, 0, len(found))
	for c := range found {
		couples = append(couples, c)
	}
	slices.SortFunc(couples, func(x, y couple) int { return cmp.Or(cmp.Compare(x.a, y.a), cmp.Compare(x.b, y.b)) })
	return few(couples), rows, nil
}

// few keeps at most maxPairs of each entity, so that one odd name cannot fill
// the list.
func few(couples []couple) []couple {
	count := map[int64]int{}
	return slices.DeleteFunc(couples, func(c couple) bool {
		if count[c.a] >= maxPairs || count[c.b] >= maxPairs {
			return true
		}
		count[c.a]++
		count[c.b]++
		return false
	})
}

// judge decides about one pair.
func (t *Tidy) judge(ctx context.Context, c couple, rows map[int64]graph.EntityRecord, apart *map[couple]bool, s *Step) error {
	var known [2]graph.Known
	for i, id := range []int64{c.a, c.b} {
		var err error
		known[i], err = t.o.Graph.EntityFacts(ctx, id, alikeFacts)
		if errors.Is(err, graph.ErrUnknown) {
			return nil // merged a moment ago
		}
		if err != nil {
			return err
		}
		if !named(known[i]) {
			return nil
		}
	}
	a, b := known[0], known[1]
	d := entity.Compare(candidate(a, rows[c.a]), candidate(b, rows[c.b]))
	reason := d.Reason(lang(a, b))
	switch {
	case d.Verdict < entity.Ask:
		return nil
	case d.Certain:
		merged, err := t.mergeCertain(ctx, c, a, b, reason, apart)
		if err != nil {
			return err
		}
		if merged {
			s.Merged++
			return nil
		}
	}
	fresh, err := t.o.Graph.Nominate(ctx, c.a, c.b, reason)
	if fresh {
		s.Nominated++
	}
	return err
}

// mergeCertain merges unless somebody found the two different, or the graph
// itself sees a contradiction.
func (t *Tidy) mergeCertain(ctx context.Context, c couple, a, b graph.Known, reason string, apart *map[couple]bool) (bool, error) {
	if *apart == nil {
		pairs, err := t.o.Graph.Pairs(ctx, graph.PairDifferent, maxDifferent)
		if err != nil {
			return false, err
		}
		*apart = make(map[couple]bool, len(pairs))
		for _, p := range pairs {
			(*apart)[coupleOf(p.A.ID, p.B.ID)] = true
		}
	}
	if (*apart)[c] {
		return false, nil
	}
	if ok, err := t.meant(ctx, a, b); err != nil || !ok {
		return false, err
	}
	keep, drop := better(a, b)
	_, err := t.o.Graph.Merge(ctx, keep.ID, drop.ID, reason)
	if errors.Is(err, graph.ErrContradiction) || errors.Is(err, graph.ErrDevices) {
		return false, nil
	}
	return err == nil, err
}

// meant reports whether the sentence that equates two names means these two
// entities: the fact lies between them, or nobody else bears one of the names.
func (t *Tidy) meant(ctx context.Context, a, b graph.Known) (bool, error) {
	for _, f := range a.Facts {
		if coupleOf(f.SubjectID, f.ObjectID) != coupleOf(a.ID, b.ID) || f.Status != graph.Active && f.Status != graph.Archived {
			continue
		}
		said := entity.Candidate{Name: entity.Bare(a.Name), Aliases: a.Aliases, Context: []string{f.Text()}}
		if entity.Compare(said, entity.Candidate{Name: entity.Bare(b.Name), Aliases: b.Aliases}).Certain {
			return true, nil
		}
	}
	for _, name := range append(append([]string{a.Name, b.Name}, a.Aliases...), b.Aliases...) {
		bearers, err := t.o.Graph.Find(ctx, entity.Bare(name), 2)
		if err != nil || len(bearers) > 1 {
			return false, err
		}
	}
	return true, nil
}

// better puts the entity first whose name is to stay: a full name, else the
// one spoken of more, else the older.
func better(a, b graph.Known) (keep, drop graph.Known) {
	full := func(k graph.Known) int {
		if entity.Parse(k.Name).Form == entity.Full {
			return 1
		}
		return 0
	}
	if cmp.Or(cmp.Compare(full(b), full(a)), cmp.Compare(b.Mentions, a.Mentions), cmp.Compare(a.ID, b.ID)) > 0 {
		return b, a
	}
	return a, b
}

// named reports whether an entity is somebody or something with a name, and
// not what merely ends a fact: it has a proper name, or facts of its own.
func named(k graph.Known) bool {
	switch k.Type {
	case "text", "date", "time", "number":
		return false
	}
	if utf8.RuneCountInString(k.Name) > 40 || !strings.ContainsFunc(k.Name, unicode.IsLetter) {
		return false
	}
	n := entity.Parse(k.Name)
	if n.Form == entity.Class {
		return false
	}
	return n.Proper() || slices.ContainsFunc(k.Facts, func(f graph.Fact) bool { return f.SubjectID == k.ID })
}

// candidateOf is a row of the graph as a candidate, by its names alone.
func candidateOf(e graph.EntityRecord) entity.Candidate {
	c := entity.Candidate{Name: e.Name, Type: e.Type}
	for _, n := range e.Names {
		if n.Name != e.Name {
			c.Aliases = append(c.Aliases, n.Name)
		}
	}
	return c
}

// candidate is an entity with its facts as a candidate. What only the row
// tells (speakers, stable ids) is taken from it.
func candidate(k graph.Known, row graph.EntityRecord) entity.Candidate {
	c := entity.Candidate{Name: k.Name, Aliases: k.Aliases, Type: k.Type}
	for _, n := range row.Names {
		if n.Speaker != "" && c.Speaker == "" {
			c.Speaker = n.Speaker
		}
	}
	for _, id := range row.Identities {
		if id.Kind == "device" {
			c.Device = true
		}
		if c.Attributes == nil {
			c.Attributes = map[string]string{}
		}
		c.Attributes[id.Kind] = id.Value
	}
	facts := make([]entity.Fact, 0, len(k.Facts))
	for _, f := range k.Facts {
		if f.Status == graph.Active || f.Status == graph.Archived {
			facts = append(facts, entity.Fact{Subject: f.Subject, Relation: f.Relation, Object: f.Object})
		}
	}
	c.Learn(facts...)
	return c
}

// lang is the language in which two entities are spoken of.
func lang(a, b graph.Known) string {
	if strings.ContainsFunc(a.Name+b.Name, func(r rune) bool { return unicode.Is(unicode.Han, r) }) {
		return "zh"
	}
	return "en"
}
