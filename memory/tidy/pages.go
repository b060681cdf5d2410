package tidy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"homeagent/memory/document"
	"homeagent/memory/graph"
)

const (
	// pageBatch is how many pages are written between two looks at the house.
	pageBatch = 50
	// pageFacts is how many facts a page has.
	pageFacts = 200
)

// pages writes a document for each entity that changed. The mark moves only
// when index and documents have them, so a crash repeats a batch.
func (t *Tidy) pages(ctx context.Context, s *Step) error {
	for {
		if err := t.pause(ctx); err != nil {
			return err
		}
		_, since := t.marks()
		changes, mark, err := t.o.Graph.Changed(ctx, since, pageBatch)
		if err != nil || mark == since {
			return err
		}
		if err := t.writePages(ctx, changes, s); err != nil {
			return err
		}
		if err := t.save(func(x *saved) { x.Pages = mark }); err != nil {
			return err
		}
	}
}

func (t *Tidy) writePages(ctx context.Context, changes []graph.Change, s *Step) error {
	var pages []document.Page
	var written, dropped []string
	for _, c := range changes {
		var known graph.Known
		err := error(nil)
		if !c.Gone {
			known, err = t.o.Graph.EntityFacts(ctx, c.ID, pageFacts)
		}
		switch {
		case c.Gone, errors.Is(err, graph.ErrUnknown), err == nil && !hasPage(known):
			dropped = append(dropped, document.EntityID(c.ID))
			continue
		case err != nil:
			return err
		}
		s.Entities++
		pages = append(pages, page(known))
		written = append(written, document.EntityID(c.ID))
	}
	if len(pages) > 0 {
		changed, err := t.o.Documents.ForEntities(ctx, pages)
		if err != nil {
			return err
		}
		s.Documents += len(changed)
	}
	for _, id := range dropped {
		if err := t.o.Documents.Delete(ctx, id); err != nil && !errors.Is(err, document.ErrNotFound) {
			return err
		}
	}
	// Those that say the same as before too: a crash may have fallen between
	// their file and the index.
	return t.o.Index.Sync(ctx, written, dropped)
}

// hasPage reports whether an entity is worth a page: not a text that merely
// ends a fact, and nothing that no fact is told of any more.
func hasPage(k graph.Known) bool { return k.Type != "text" && len(k.Facts) > 0 }

// page is what is known of an entity, in an order that depends on the facts
// alone, so that the same facts give the same page.
func page(k graph.Known) document.Page {
	var b strings.Builder
	title := k.Name
	if len(title) > document.MaxTitle {
		title = strings.ToValidUTF8(title[:document.MaxTitle], "")
	}
	fmt.Fprintf(&b, "%s", k.Name)
	if k.Type != "" {
		fmt.Fprintf(&b, " (%s)", k.Type)
	}
	b.WriteByte('\n')
	if len(k.Aliases) > 0 {
		names := slices.Clone(k.Aliases)
		slices.Sort(names)
		fmt.Fprintf(&b, "= %s\n", strings.Join(names, ", "))
	}
	facts := slices.Clone(k.Facts)
	slices.SortFunc(facts, func(x, y graph.Fact) int { return int(min(max(x.ID-y.ID, -1), 1)) })
	for _, f := range facts {
		b.WriteString("- " + f.Text() + " (" + f.Created.Format("2006-01-02"))
		if f.Status == graph.Past {
			b.WriteString(" – " + f.Updated.Format("2006-01-02"))
		}
		b.WriteString(")\n")
	}
	return document.Page{Entity: k.ID, Title: title, Text: b.String()}
}
