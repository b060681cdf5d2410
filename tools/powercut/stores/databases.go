package stores

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	bolt "go.etcd.io/bbolt"

	"homeagent/agent/queue"
	"homeagent/memory"
	"homeagent/memory/disk"
	"homeagent/memory/journal"
	"homeagent/tools/powercut/ledger"
)

// quiet takes the stores' own words about what they recover.
var quiet = slog.New(slog.DiscardHandler)

// openGraphAlone reads every page of graph.db before the house opens it: at a
// start a large file is not read whole.
func (l *look) openGraphAlone(ctx context.Context) {
	path := filepath.Join(l.dir, "memory", "graph.db")
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return
	}
	dsn := url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: "_busy_timeout=1000"}
	db, err := sql.Open("sqlite3", dsn.String())
	if err != nil {
		l.damage("graph.db: %v", err)
		return
	}
	defer db.Close()
	var answer string
	switch err := db.QueryRowContext(ctx, "PRAGMA integrity_check(1)").Scan(&answer); {
	case err != nil:
		l.damage("graph.db: %v", err)
	case answer != "ok":
		l.damage("graph.db: %s", answer)
	}
}

// openMemory opens state.db, graph.db and the journal as the agent does.
func (l *look) openMemory(ctx context.Context) {
	m, notices, err := memory.Open(l.dir, memory.Options{Log: quiet})
	if err != nil {
		l.damage("memory: %v", err)
		return
	}
	defer func() {
		if err := m.Close(); err != nil {
			l.damage("memory: close: %v", err)
		}
	}()
	for _, n := range notices {
		l.damage("memory: %v", n)
	}
	for before := ""; ; {
		turns, err := m.Recent(ctx, journal.MaxRecent, before)
		if err != nil {
			l.damage("journal: %v", err)
			break
		}
		for _, t := range turns {
			l.f.Inputs[t.ID], l.f.Answers[t.ID] = t.Input.Payload, t.Final
			before = t.ID
		}
		if len(turns) < journal.MaxRecent {
			break
		}
	}
	for _, e := range l.due {
		if e.Kind != ledger.Fact {
			continue
		}
		items, err := m.Plugin().Recall(ctx, e.Name, 20)
		if err != nil {
			l.damage("graph.db: %v", err)
			break
		}
		for _, it := range items {
			if strings.Contains(it.Text, e.Name) && containsAll(it.Text, strings.Fields(e.Value)) {
				l.f.Facts[ledger.FactKey(e.Name, e.Value)] = true
			}
		}
	}
	err = m.Store("timer").List("", func(key string, value []byte) bool {
		var t struct{ ID, Label string }
		if err := json.Unmarshal(value, &t); err != nil || strings.HasPrefix(key, "bad/") {
			l.damage("timer %s is not readable", key)
		} else if strings.HasPrefix(key, "timer/") {
			l.f.Timers[t.Label] = true
		}
		return true
	})
	if err != nil {
		l.damage("timers: %v", err)
	}
}

func containsAll(text string, words []string) bool {
	for _, w := range words {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return true
}

// openQueue reads what waits. What was set aside with a message to its channel
// is kept too. Taking an input out counts as a start of its turn, so it is a
// copy that is opened.
func (l *look) openQueue(ctx context.Context) {
	path := filepath.Join(l.dir, "queue.log")
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil {
		l.damage("queue.log: %v", err)
		return
	}
	dir, err := os.MkdirTemp("", "queue-")
	if err != nil {
		l.damage("queue.log: no copy could be made: %v", err)
		return
	}
	defer os.RemoveAll(dir)
	path = filepath.Join(dir, "queue.log")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		l.damage("queue.log: no copy could be made: %v", err)
		return
	}
	q, err := queue.Open(disk.OS{}, path, quiet)
	if err != nil {
		l.damage("%v", err)
		return
	}
	defer q.Close()
	st := q.Stats()
	if st.Unreadable > 0 {
		l.damage("queue.log: %d records are not readable", st.Unreadable)
	}
	for _, in := range st.Aside {
		l.f.Inputs[in.ID] = in.Payload
	}
	for range st.User + st.Internal {
		e, err := q.Next(ctx)
		if err != nil {
			l.damage("queue.log: %v", err)
			return
		}
		l.f.Inputs[e.Input.ID] = e.Input.Payload
		if e.Final != nil {
			l.f.Answers[e.Input.ID] = e.Final.Text
		}
	}
}

// openDoor reads door.db. Its owner is a package of the house's that cannot be
// asked without opening a listener, so the file is read here.
func (l *look) openDoor() {
	path := filepath.Join(l.dir, "door.db")
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err == nil && info.Size() == 0 {
		err = errors.New("the file is empty")
	}
	if err == nil {
		err = l.readDoor(path)
	}
	if err != nil {
		l.damage("door.db: %v", err)
	}
}

// readDoor turns bbolt's panics and faults of its mapping into errors.
func (l *look) readDoor(path string) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	db, err := bolt.Open(path, 0o600, &bolt.Options{ReadOnly: true, Timeout: time.Second})
	if err != nil {
		return err
	}
	defer db.Close()
	return db.View(func(tx *bolt.Tx) error {
		if info, err := os.Stat(path); err != nil || tx.Size() > info.Size() {
			return errors.Join(err, fmt.Errorf("%d bytes are not all there", tx.Size()))
		}
		names := func(bucket string, found func(name string)) error {
			b := tx.Bucket([]byte(bucket))
			if b == nil {
				return nil
			}
			return b.ForEach(func(_, v []byte) error {
				var e struct{ Name string }
				if err := json.Unmarshal(v, &e); err != nil {
					return fmt.Errorf("%s: %w", bucket, err)
				}
				found(e.Name)
				return nil
			})
		}
		if err := names("accounts", func(string) { *l.f.Claimed = true }); err != nil {
			return err
		}
		if err := names("tokens", func(name string) { l.f.Tokens[name] = true }); err != nil {
			return err
		}
		for _, b := range []string{"sessions", "audit"} {
			if err := names(b, func(string) {}); err != nil {
				return err
			}
		}
		for err := range tx.Check() {
			return err
		}
		return nil
	})
}
