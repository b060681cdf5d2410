package door

import (
	"crypto/rand"
	"crypto/subtle"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"

	bolt "go.etcd.io/bbolt"

	"homeagent/memory/disk"
)

// setupFile shows the code to whoever may read the data folder.
const setupFile = "setup-code.txt"

// setupLetters leaves out what is read wrongly: 0 O, 1 I L.
const setupLetters = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"

const setupLen = 8

var setupKey = []byte("setup_code")

// setupCode is the code that proves, at the first visit, that the visitor can
// see the machine's own output. It lives in door.db; the file is a copy.
type setupCode struct {
	path  string
	store *store

	mu  sync.Mutex
	now string // "" once claimed
}

// openSetup reads or makes the code while no account exists, and removes what
// is left of it otherwise.
func openSetup(dataDir string, s *store, log *slog.Logger) (*setupCode, error) {
	c := &setupCode{path: filepath.Join(dataDir, setupFile), store: s}
	claimed, err := s.claimed()
	if err != nil {
		return nil, err
	}
	if claimed {
		c.remove()
		return c, nil
	}
	err = s.db.Update(func(tx *bolt.Tx) error {
		b := tx.Bucket(bucketMeta)
		if v := normalCode(string(b.Get(setupKey))); len(v) == setupLen {
			c.now = v
			return nil
		}
		c.now = newCode()
		return b.Put(setupKey, []byte(c.now))
	})
	if err != nil {
		return nil, fmt.Errorf("door: setup code: %w", err)
	}
	if err := disk.WriteFile(c.path, []byte(showCode(c.now)+"\n"), 0o600); err != nil {
		log.Warn("cannot write the file with the setup code; it is printed at start", "err", err)
	}
	return c, nil
}

// newCode draws letters without bias by throwing away the few bytes that would bring one.
func newCode() string {
	var out []byte
	b := make([]byte, 1)
	limit := byte(256 / len(setupLetters) * len(setupLetters))
	for len(out) < setupLen {
		if rand.Read(b); b[0] < limit {
			out = append(out, setupLetters[int(b[0])%len(setupLetters)])
		}
	}
	return string(out)
}

// showCode is the code as people read it, "ABCD-EFGH".
func showCode(c string) string {
	if len(c) != setupLen {
		return c
	}
	return c[:setupLen/2] + "-" + c[setupLen/2:]
}

// normalCode takes a typed code without case, blanks and dashes.
func normalCode(s string) string {
	return strings.ToUpper(strings.NewReplacer("-", "", " ", "", "\t", "", "\n", "", "\r", "", "–", "", "—", "").Replace(s))
}

// code is the code to show, "" once claimed.
func (c *setupCode) code() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return showCode(c.now)
}

// matches compares in constant time; nothing matches once claimed.
func (c *setupCode) matches(typed string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now != "" && subtle.ConstantTimeCompare([]byte(normalCode(typed)), []byte(c.now)) == 1
}

// remove forgets the code, in the database and beside it. It is worthless once
// an account exists, so what cannot be removed now is tried again at the next start.
func (c *setupCode) remove() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = ""
	_ = c.store.db.Update(func(tx *bolt.Tx) error { return tx.Bucket(bucketMeta).Delete(setupKey) })
	_ = os.Remove(c.path)
}
