package memory

import (
	"context"
	"errors"
	"fmt"
	"strings"

	bolt "go.etcd.io/bbolt"

	"homeagent/agent/provider"
	"homeagent/memory/disk"
	"homeagent/memory/distill"
	"homeagent/memory/document"
	"homeagent/memory/graph"
	"homeagent/memory/journal"
	"homeagent/memory/relevance"
	"homeagent/memory/search"
	"homeagent/memory/token"
)

// Forgotten tells what went.
type Forgotten struct {
	Facts []graph.Fact
	// Turns of the journal, Events of the conversation, Documents and events in
	// documents that held the words. All are 0 after a soft purge.
	Turns, Events, Documents int
}

// ErrShort is returned by a Forget whose words would be in nearly everything.
var ErrShort = errors.New("too short to forget everything that holds it")

// shortest is the least number of letters, or of Han signs, that words have
// which are forgotten wherever they stand.
const shortestLetters, shortestSigns = 3, 2

// Forget forgets facts by criteria, as memory_purge does. Hard also takes out of
// the journal, the conversation, the documents and the index whatever holds
// c.Query literally, letter case and width apart. Without a Query only facts go:
// a subject alone does not say which sentences to delete. Soft is undone by
// Restore; hard is for good.
func (m *Memory) Forget(ctx context.Context, c graph.Criteria, hard bool) (f Forgotten, err error) {
	if hard && c.Query != "" {
		if err := checkWords(c.Query); err != nil {
			return f, err
		}
		return m.forgetLiterally(ctx, c)
	}
	f.Facts, err = m.graph.Purge(ctx, c, hard)
	return f, err
}

// forgetLiterally is Forget of words, hard.
func (m *Memory) forgetLiterally(ctx context.Context, c graph.Criteria) (f Forgotten, err error) {
	if err := m.scrubLater(ctx); err != nil {
		return f, fmt.Errorf("forget what was said: %w", err)
	}
	// First what facts are made of, then the facts: a crash in between
	// leaves nothing that would bring them back.
	words := token.Fold(c.Query)
	if f, err = m.forgetWords(ctx, words); err != nil {
		return f, fmt.Errorf("forget what was said: %w", err)
	}
	if f.Facts, err = m.graph.Purge(ctx, c, true); err != nil {
		return f, err
	}
	literal, err := m.graph.EraseLiteral(ctx, holding(words))
	f.Facts = append(f.Facts, literal...)
	if err != nil {
		return f, err
	}
	for _, also := range m.elsewhere {
		if err := also(holding(words)); err != nil {
			return f, fmt.Errorf("forget what was said: %w", err)
		}
	}
	return f, m.scrub(ctx)
}

// AlsoForget has f forget, whenever words are forgotten for good, what holds them
// outside of memory: the queue's list, a page's history. It is called before the
// memory is used by others. f is called with what tells whether a text holds the
// words, and before the files are overwritten.
func (m *Memory) AlsoForget(f func(holds func(text string) bool) error) {
	m.elsewhere = append(m.elsewhere, f)
}

// scrubLater has what is deleted from now on overwritten, in state.db by the
// next start at the latest.
func (m *Memory) scrubLater(ctx context.Context) error {
	return errors.Join(m.state.ScrubLater(), m.index.Scrub(ctx), m.documents.Scrub(ctx))
}

// scrub leaves nothing of what was deleted since scrubLater in the files. A card
// without room for a second state.db has it done by the next start.
func (m *Memory) scrub(ctx context.Context) error {
	m.saving.Lock()
	defer m.saving.Unlock()
	err := m.state.Scrub()
	if disk.IsFull(err) {
		m.log.Warn("state.db could not be written anew; the next start tries again", "err", err)
		err = nil
	}
	return errors.Join(err, m.index.Scrub(ctx), m.documents.Scrub(ctx))
}

// checkWords refuses words that stand nearly everywhere.
func checkWords(words string) error {
	letters, signs := 0, 0
	for _, r := range words {
		if token.HasHan(string(r)) {
			signs++
		} else if r > ' ' {
			letters++
		}
	}
	if signs < shortestSigns && letters < shortestLetters {
		return ErrShort
	}
	return nil
}

func (m *Memory) forgetWords(ctx context.Context, words string) (f Forgotten, err error) {
	holds := holding(words)
	// Nothing may move between the layers meanwhile.
	m.keep.mu.Lock()
	defer m.keep.mu.Unlock()
	if f.Turns, err = m.journal.Redact(ctx, func(l journal.Line) bool { return !turnHolds(l.Turn, holds) }); err != nil {
		return f, err
	}
	if err := m.worker.Forget(ctx, func(x distill.Fact) bool { return !holds(x.Text()) }); err != nil {
		return f, err
	}
	var ids []string
	if f.Events, ids, err = m.forgetContext(holds); err != nil {
		return f, err
	}
	docs, gone, err := m.forgetDocuments(ctx, holds)
	if err != nil {
		return f, err
	}
	f.Documents = docs
	return f, m.forgetPassages(ctx, append(ids, gone...), words, holds)
}

// holding finds words, folded already, in a text of any case and width.
func holding(words string) func(string) bool {
	return func(s string) bool { return strings.Contains(token.Fold(s), words) }
}

func anyMessage(all []provider.Message, holds func(string) bool) bool {
	for _, m := range all {
		if message(m, holds) {
			return true
		}
	}
	return false
}

// message reports whether a message holds the words, in its calls too.
func message(m provider.Message, holds func(string) bool) bool {
	if holds(m.Content) || holds(m.Reasoning) {
		return true
	}
	for _, c := range m.Calls {
		if holds(string(c.Args)) {
			return true
		}
	}
	return false
}

// forgetContext takes events out of the live context and of what was pruned.
func (m *Memory) forgetContext(holds func(string) bool) (n int, ids []string, err error) {
	m.saving.Lock()
	defer m.saving.Unlock()
	keep := func(msg provider.Message) bool { return !message(msg, holds) }
	ids = m.context.Redact(keep)
	n = len(ids)
	live := n
	var saved func()
	err = m.state.Update(func(tx *bolt.Tx) error {
		n, ids = live, ids[:live]
		pruned, err := relevance.RedactPruned(tx, func(msg provider.Message) bool {
			if keep(msg) {
				return true
			}
			ids = append(ids, msg.ID)
			return false
		})
		if err != nil {
			return err
		}
		n += pruned
		saved, err = m.context.SaveTx(tx)
		return err
	})
	if err != nil {
		return 0, nil, err
	}
	saved()
	return n, ids, nil
}

// forgetDocuments takes events out of documents and deletes those that hold the
// words themselves, and returns how many documents that were and the ids of the
// events that went.
func (m *Memory) forgetDocuments(ctx context.Context, holds func(string) bool) (n int, ids []string, err error) {
	events, changed, err := m.documents.Redact(ctx, func(e document.Event) bool { return !eventHolds(e, holds) })
	if err != nil {
		return 0, nil, err
	}
	var own []string
	err = m.documents.List(ctx, func(d document.Meta) bool {
		if d.Origin != document.Context {
			own = append(own, d.ID)
		}
		return true
	})
	if err != nil {
		return 0, nil, err
	}
	for _, id := range own {
		d, gone, err := m.peek(ctx, id)
		if err == nil && !gone && (holds(d.Text) || holds(d.Title)) {
			changed = append(changed, id)
			err = m.documents.Delete(ctx, id)
		}
		if err != nil {
			return 0, nil, err
		}
	}
	for _, id := range changed {
		if err := m.indexDocument(ctx, id); err != nil {
			return 0, nil, err
		}
	}
	return len(changed), events, nil
}

// peek reads a document; gone where there is none any more, or a damaged one.
func (m *Memory) peek(ctx context.Context, id string) (d document.Document, gone bool, err error) {
	d, err = m.documents.Peek(ctx, id)
	if errors.Is(err, document.ErrNotFound) || errors.Is(err, document.ErrDamaged) {
		return d, true, nil
	}
	return d, false, err
}

// forgetPassages takes passages out of the index: those of the events that
// went, and whatever else holds the words.
func (m *Memory) forgetPassages(ctx context.Context, ids []string, words string, holds func(string) bool) error {
	if err := m.forgetVectors(ctx, ids); err != nil {
		return err
	}
	if err := m.index.Remove(ctx, ids...); err != nil {
		return err
	}
	for {
		hits, err := m.index.Search(ctx, search.Query{Text: words, Limit: 200, Archived: 1, Without: search.Neighbours | search.Feedback | search.Duplicates})
		if err != nil {
			return err
		}
		var more []string
		for _, h := range hits {
			if holds(h.Text) || holds(h.Clean) {
				more = append(more, h.ID)
			}
		}
		if len(more) == 0 {
			return nil
		}
		if err := m.forgetVectors(ctx, more); err != nil {
			return err
		}
		if err := m.index.Remove(ctx, more...); err != nil {
			return err
		}
	}
}
