package memory

import (
	bolt "go.etcd.io/bbolt"

	"homeagent/agent/provider"
	"homeagent/memory/relevance"
)

// FlushJournal moves the journal's lines now.
func (m *Memory) FlushJournal() error { return m.journal.Flush() }

// Waiting is the number of turns that wait for the journal's file.
func (m *Memory) Waiting() int { return m.journal.Waiting() }

// Commits is the number of transactions of state.db.
func (m *Memory) Commits() int64 { return m.state.Commits() }

// Pruned lists what was pruned.
func (m *Memory) Pruned() (out []provider.Message, err error) {
	err = m.state.View(func(tx *bolt.Tx) error {
		return relevance.Pruned(tx, func(msg provider.Message) bool { out = append(out, msg); return true })
	})
	return out, err
}
