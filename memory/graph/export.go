package graph

import (
	"context"
	"database/sql"
	"fmt"
	"iter"
)

// exportStep is how many rows an export reads at a time; nothing is held open
// while they are handed on, so a slow reader holds nobody up.
const exportStep = 500

// Export hands on all that the graph holds, row by row: entities, facts, pairs,
// then the merges that stand, each by rising id. An error ends it and comes as
// the last pair. What is committed meanwhile may be in it or not.
func (g *Graph) Export(ctx context.Context) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		for _, table := range []func(context.Context, int64) ([]Record, int64, error){g.someEntities, g.someFacts, g.somePairs,
			g.someMerges} {
			for last := int64(0); ; {
				some, next, err := table(ctx, last)
				if err != nil {
					yield(Record{}, fmt.Errorf("export: %w", g.plain(err)))
					return
				}
				for _, r := range some {
					if !yield(r, nil) {
						return
					}
				}
				if len(some) == 0 {
					break
				}
				last = next
			}
		}
	}
}

// Each is Export with a function that may refuse to go on.
func (g *Graph) Each(ctx context.Context, f func(Record) error) error {
	for r, err := range g.Export(ctx) {
		if err == nil {
			err = f(r)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (g *Graph) someEntities(ctx context.Context, last int64) (out []Record, next int64, err error) {
	err = each(ctx, g.read, entityRecord+"WHERE id > ? ORDER BY id LIMIT ?", func(r *sql.Rows) error {
		e, err := scanEntityRecord(r)
		out, next = append(out, Record{Entity: &e}), e.ID
		return err
	}, last, exportStep)
	read := func(query string, f func(*sql.Rows) error, args ...any) error {
		return each(ctx, g.read, query, f, args...)
	}
	for _, r := range out {
		if err == nil {
			r.Entity.Names, r.Entity.Identities, err = rowsOf(read, r.Entity.ID)
		}
	}
	return out, next, err
}

func (g *Graph) someFacts(ctx context.Context, last int64) (out []Record, next int64, err error) {
	err = each(ctx, g.read, factRecord+"WHERE r.id > ? ORDER BY r.id LIMIT ?", func(r *sql.Rows) error {
		f, err := scanFactRecord(r)
		out, next = append(out, Record{Fact: &f}), f.ID
		return err
	}, last, exportStep)
	return out, next, err
}

func (g *Graph) somePairs(ctx context.Context, last int64) (out []Record, next int64, err error) {
	err = each(ctx, g.read, pairRecord+"WHERE id > ? ORDER BY id LIMIT ?", func(r *sql.Rows) error {
		p, err := scanPairRecord(r)
		out, next = append(out, Record{Pair: &p}), p.ID
		return err
	}, last, exportStep)
	return out, next, err
}

func (g *Graph) someMerges(ctx context.Context, last int64) (out []Record, next int64, err error) {
	err = each(ctx, g.read, "SELECT "+mergeColumns+" FROM merges WHERE id > ? AND undone_at IS NULL ORDER BY id LIMIT ?",
		func(r *sql.Rows) error {
			m, err := scanMerge(r)
			out, next = append(out, Record{Merge: &m}), m.ID
			return err
		}, last, exportStep)
	return out, next, err
}
