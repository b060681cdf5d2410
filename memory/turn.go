package memory

import (
	"context"
	"errors"
	"fmt"

	bolt "go.etcd.io/bbolt"

	"homeagent/agent/mind"
	"homeagent/agent/provider"
	"homeagent/memory/tidy"
)

// Append adds to the live context, in memory only; EndTurn makes it durable. A
// message whose id is already there is ignored.
func (m *Memory) Append(msgs ...provider.Message) { m.context.Append(msgs...) }

// Prune cuts the context where it has grown too long, keeping what is most
// relevant to query. It costs no sync.
func (m *Memory) Prune(ctx context.Context, query string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.context.Prune(query)
	return nil
}

// Window is a copy of the live context, oldest first.
func (m *Memory) Window() []provider.Message { return m.context.Window() }

// errSeen undoes the transaction of a turn that was closed before.
var errSeen = errors.New("turn closed before")

// EndTurn closes a turn in one transaction, two syncs: messages that the
// context lacks are added, the context is saved, the journal's line is kept. A
// second time it changes nothing. A turn with NoMemory is not kept. After an
// error nothing of it is, and it may be tried again.
func (m *Memory) EndTurn(ctx context.Context, t mind.Turn) error {
	if t.Input.NoMemory {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := m.endTurn(t); err != nil {
		return err
	}
	m.answered(ctx, t)
	signal(m.ended)
	if m.journal.Due() || m.manyWait() {
		signal(m.due)
	}
	return nil
}

// answered hands what a turn of memory's own has found out to the housework.
// What is lost here is asked again.
func (m *Memory) answered(ctx context.Context, t mind.Turn) {
	h := m.tidy.Load()
	if h == nil || t.Input.Source != tidy.Source {
		return
	}
	if err := h.Ended(ctx, t.Input, t.Final, t.Outcome == mind.Answered); err != nil {
		m.log.Warn("an answer about two entities was not kept", "turn", t.ID, "err", err)
	}
}

func (m *Memory) endTurn(t mind.Turn) error {
	m.saving.Lock()
	defer m.saving.Unlock()
	var journaled, saved func()
	err := m.state.Update(func(tx *bolt.Tx) error {
		added, done, err := m.journal.AddTx(tx, t)
		if err != nil {
			return err
		}
		if !added {
			return errSeen
		}
		journaled = done
		m.context.Append(t.Messages...)
		saved, err = m.context.SaveTx(tx)
		return err
	})
	if errors.Is(err, errSeen) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("save turn %q: %w", t.ID, err)
	}
	journaled()
	saved()
	return nil
}

// signal wakes whoever reads c, unless it is already woken.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Recent returns turns as the journal has them, newest first: at most limit of
// them, and at most journal.MaxRecent, from before the one with the id where
// before is not "". A turn that is not known has none before it. It costs no sync.
func (m *Memory) Recent(ctx context.Context, limit int, before string) ([]mind.Turn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return m.journal.Recent(ctx, limit, before)
}
