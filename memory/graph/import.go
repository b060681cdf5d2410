package graph

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
)

// importStep is how many records one transaction of Import takes.
const importStep = 500

// Imported says what an Import did.
type Imported struct {
	// Entities, Facts, Pairs and Merges are new.
	Entities, Facts, Pairs, Merges int
	// Known records were there.
	Known int
	// Skipped records could not be taken: lines of the merge log that speak of
	// rows which have other numbers here.
	Skipped int
}

// ErrRecord is wrapped when a record of an Import makes no sense.
var ErrRecord = errors.New("no sound record")

// Import takes in what Export has given, in its order. An entity that is there
// by its stable id or its label is taken for the same; facts that are there are
// left as they are, and one that contradicts a newer fact here becomes history.
// Into an empty graph everything comes with its numbers. Doing it twice changes
// nothing. An error (ErrRecord, ErrTooLong, or one of next's) leaves what came
// before it; the import may be begun again.
func (g *Graph) Import(ctx context.Context, next iter.Seq2[Record, error]) (Imported, error) {
	im := &importer{entities: map[int64]int64{}}
	var batch []Record
	flush := func() error {
		if len(batch) == 0 {
			return nil
		}
		before := im.done
		err := g.change(ctx, func(s *session) error {
			im.session = s
			for _, r := range batch {
				if err := im.take(r); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			im.done = before
		}
		batch = batch[:0]
		return err
	}
	for r, err := range next {
		if err == nil {
			if batch = append(batch, r); len(batch) == importStep {
				err = flush()
			}
		}
		if err != nil {
			return im.done, fmt.Errorf("import: %w", g.plain(err))
		}
	}
	if err := flush(); err != nil {
		return im.done, fmt.Errorf("import: %w", g.plain(err))
	}
	return im.done, nil
}

// importer is the state of one Import.
type importer struct {
	*session
	done Imported
	// entities tells the number here of a number there.
	entities map[int64]int64
	// moved is true once an entity or a fact has another number here than
	// there, as it never has after an import into an empty graph.
	moved bool
}

func (im *importer) take(r Record) error {
	switch {
	case r.Entity != nil:
		return im.takeEntity(*r.Entity)
	case r.Fact != nil:
		return im.takeFact(*r.Fact)
	case r.Pair != nil:
		return im.takePair(*r.Pair)
	case r.Merge != nil:
		return im.takeMerge(*r.Merge)
	}
	return fmt.Errorf("%w: an empty one", ErrRecord)
}

func (im *importer) takeEntity(e EntityRecord) error {
	there := e.ID
	name, err := clean("name", e.Name)
	if err != nil {
		return err
	}
	if e.Name = name; !visible(e.Name) || there <= 0 {
		return fmt.Errorf("%w: entity %d", ErrRecord, there)
	}
	here, err := im.same(e)
	if err != nil {
		return err
	}
	if here == 0 {
		if err := im.exists(e.ID); err == nil {
			e.ID = 0 // the number is another's here
		} else if !errors.Is(err, ErrUnknown) {
			return err
		}
		if here, err = im.putEntity(e); err != nil {
			return err
		}
		im.touch(here)
		im.done.Entities++
	} else {
		im.done.Known++
	}
	im.entities[there] = here
	im.moved = im.moved || here != there
	if len(e.Names) == 0 {
		e.Names = []NameRecord{{Name: e.Name, Own: true, Created: e.Created}}
	}
	for _, n := range e.Names {
		if n.Name, err = clean("name", n.Name); err != nil {
			return err
		}
		added, err := im.putName(here, n)
		if err != nil {
			return err
		}
		if added {
			im.index.put(kindEntity, here, nameTerms(n.Name))
			im.touch(here)
		}
	}
	for _, i := range e.Identities {
		_, err := im.exec("INSERT OR IGNORE INTO identities(kind, value, entity_id, created_at) VALUES(?, ?, ?, ?)",
			i.Kind, i.Value, here, ms(i.Created))
		if err != nil {
			return err
		}
	}
	return nil
}

// same finds the entity that a record is about, 0 if it is new.
func (im *importer) same(e EntityRecord) (id int64, err error) {
	for _, i := range e.Identities {
		err := im.one("SELECT entity_id FROM identities WHERE kind = ? AND value = ?", []any{i.Kind, i.Value}, &id)
		if ok, err := found(err); ok || err != nil {
			return id, err
		}
	}
	_, err = found(im.one("SELECT id FROM entities WHERE name = ?", []any{e.Name}, &id))
	return id, err
}

func (im *importer) takeFact(f FactRecord) error {
	there := f.ID
	var errs [3]error
	f.Subject, errs[0] = clean("subject", f.Subject)
	f.Relation, errs[1] = clean("relation", f.Relation)
	f.Object, errs[2] = clean("object", f.Object)
	if err := errors.Join(errs[:]...); err != nil {
		return err
	}
	sound := slices.Contains([]Status{Active, Past, Archived, Forgotten}, f.Status) && f.Confidence >= 0 && f.Confidence <= 1 && there > 0
	f.SubjectID, f.ObjectID = im.entities[f.SubjectID], im.entities[f.ObjectID]
	if !sound || f.SubjectID == 0 || f.ObjectID == 0 {
		return fmt.Errorf("%w: fact %d", ErrRecord, there)
	}
	here, err := im.sameFact(f)
	if err != nil {
		return err
	}
	if here != 0 {
		im.moved = im.moved || here != there
		im.done.Known++
		return nil
	}
	if f.Status == Active || f.Status == Archived {
		if err := im.settle(&f); err != nil {
			return err
		}
	}
	if used, err := found(im.one("SELECT 1 FROM relations WHERE id = ?", []any{f.ID}, new(int))); err != nil {
		return err
	} else if used {
		f.ID = 0
	}
	if here, err = im.putFact(f); err != nil {
		return err
	}
	im.moved = im.moved || here != there
	im.touch(f.SubjectID, f.ObjectID)
	im.done.Facts++
	return im.indexFact(here)
}

// sameFact finds the row that says what f says, from the same time or holding
// as f does.
func (im *importer) sameFact(f FactRecord) (id int64, err error) {
	key, _ := relationKey(f.Relation, f.Object)
	holds := f.Status == Active || f.Status == Archived
	_, err = found(im.one(`SELECT id FROM relations WHERE source_id = ? AND relation_key = ? AND target_id = ?
		AND (created_at = ? AND relation_type = ? OR ? AND status IN ('active', 'archived')) ORDER BY id = ? DESC, id LIMIT 1`,
		[]any{f.SubjectID, key, f.ObjectID, ms(f.Created), f.Relation, holds, f.ID}, &id))
	return id, err
}

// settle makes history of what contradicts a fact that is to come, or of the
// fact itself where it is the older one.
func (im *importer) settle(f *FactRecord) error {
	key, one := relationKey(f.Relation, f.Object)
	if !one {
		return nil
	}
	var id, other, created, updated int64
	err := im.one(`SELECT id, target_id, created_at, updated_at FROM relations WHERE source_id = ? AND relation_key = ? AND target_id <> ?
		AND status IN ('active', 'archived') ORDER BY updated_at DESC LIMIT 1`, []any{f.SubjectID, key, f.ObjectID}, &id, &other,
		&created, &updated)
	ok, err := found(err)
	if !ok || err != nil {
		return err
	}
	if updated > ms(f.Updated) {
		f.Status, f.Updated = Past, utc(max(created, ms(f.Created)))
		return nil
	}
	im.touch(f.SubjectID, other)
	_, err = im.exec(`UPDATE relations SET status = 'past', updated_at = max(created_at, ?)
		WHERE source_id = ? AND relation_key = ? AND target_id <> ? AND status IN ('active', 'archived')`,
		ms(f.Created), f.SubjectID, key, f.ObjectID)
	return err
}

func (im *importer) takePair(p PairRecord) error {
	if !slices.Contains([]PairState{PairOpen, PairMerged, PairDifferent, PairUndecided}, p.State) || p.A <= 0 || p.B <= 0 || p.A == p.B {
		return fmt.Errorf("%w: pair %d", ErrRecord, p.ID)
	}
	// One of a merged pair is gone, and known here only by its old number.
	for _, end := range []*int64{&p.A, &p.B} {
		if here, ok := im.entities[*end]; ok {
			*end = here
		} else if p.State != PairMerged || im.moved {
			im.done.Skipped++
			return nil
		}
	}
	if p.A == p.B {
		im.done.Known++
		return nil
	}
	if used, err := found(im.one("SELECT 1 FROM pairs WHERE id = ?", []any{p.ID}, new(int))); err != nil {
		return err
	} else if used {
		p.ID = 0
	}
	added, err := im.putPair(p)
	if err != nil {
		return err
	}
	if added {
		im.done.Pairs++
	} else {
		im.done.Known++
	}
	return nil
}

// takeMerge takes a line of the log only where all its numbers are right.
func (im *importer) takeMerge(m Merge) error {
	if m.ID <= 0 || m.Kept <= 0 || m.Dropped.ID <= 0 {
		return fmt.Errorf("%w: merge %d", ErrRecord, m.ID)
	}
	known, err := found(im.one("SELECT 1 FROM merges WHERE id = ? AND kept_id = ? AND dropped_id = ?",
		[]any{m.ID, m.Kept, m.Dropped.ID}, new(int)))
	if err != nil {
		return err
	}
	if known {
		im.done.Known++
		return nil
	}
	used, err := found(im.one("SELECT 1 FROM merges WHERE id = ?", []any{m.ID}, new(int)))
	if err != nil {
		return err
	}
	if used || im.moved || im.exists(m.Dropped.ID) == nil {
		im.done.Skipped++
		return nil
	}
	im.done.Merges++
	return im.storeMerge(m)
}
