package door

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	bolt "go.etcd.io/bbolt"

	"homeagent/drivers/web/problem"
)

// lossTime bounds one try to pass a loss on to the supervisor.
const lossTime = 15 * time.Second

var lossKey = []byte("loss")

// loss is that the accounts are gone. It stands in the new door.db from its
// first moment until the page is claimed again, because the box may be switched
// off in between.
type loss struct {
	// Aside is the full name of the damaged file where one is kept, "" where there is none.
	Aside string `json:"aside,omitempty"`
	// Missing: there was no door.db at the start. Aside is then of an earlier
	// start that was cut between setting aside and making the new one.
	Missing bool `json:"missing,omitempty"`
	// Memories: the rest of the house is there.
	Memories bool `json:"memories,omitempty"`
	// Told: the supervisor knows of it.
	Told bool `json:"told,omitempty"`
}

// missing tells whether there should be a door.db where there is none: the
// house is not new, or a damaged one lies aside.
func missing(path string, used bool) *loss {
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	l := &loss{Missing: true, Memories: used}
	entries, _ := os.ReadDir(filepath.Dir(path)) // what cannot be listed is not found
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), filepath.Base(path)+".bad-") {
			l.Aside = filepath.Join(filepath.Dir(path), e.Name()) // sorted, and the names end in their time
		}
	}
	if l.Aside == "" && !used {
		return nil
	}
	return l
}

// code is what programs know it by.
func (l *loss) code() string {
	if l.Missing {
		return "door_db_missing"
	}
	return "door_db_damaged"
}

// words say what is lost, what is not, what became of the file and what to do.
func (l *loss) words() problem.Words {
	var w problem.Words
	switch aside := filepath.Base(l.Aside); {
	case !l.Missing:
		w.ZH = fmt.Sprintf("账户文件损坏了，里面的账户、密码和令牌都没有了；损坏的文件改名为 %s，留在数据文件夹里。", aside)
		w.EN = fmt.Sprintf("The file of accounts is damaged: its accounts, passwords and tokens are lost. The damaged file is kept in the data folder as %s.", aside)
	case l.Aside != "":
		w.ZH = fmt.Sprintf("账户文件 door.db 不见了，里面的账户、密码和令牌都没有了；数据文件夹里留着一个损坏的，叫 %s。", aside)
		w.EN = fmt.Sprintf("The file of accounts, door.db, is gone: its accounts, passwords and tokens are lost. A damaged one is kept in the data folder as %s.", aside)
	default:
		w.ZH = "账户文件 door.db 不见了，里面的账户、密码和令牌都没有了，也没有留下损坏的文件。"
		w.EN = "The file of accounts, door.db, is gone: its accounts, passwords and tokens are lost, and no damaged file is left of it."
	}
	if l.Memories {
		w.ZH += "记忆不受影响，都还在。"
		w.EN += " The memories are not touched by this, they are still there."
	}
	w.ZH += "请用新的设置码重新设置密码。"
	w.EN += " Claim this HomeAgent again with the new setup code."
	return w
}

// putLoss writes the loss, nil removes it.
func putLoss(db *bolt.DB, l *loss) error {
	return db.Update(func(tx *bolt.Tx) error {
		b, err := tx.CreateBucketIfNotExists(bucketMeta)
		if err != nil {
			return err
		}
		if l == nil {
			return b.Delete(lossKey)
		}
		return put(b, lossKey, l)
	})
}

// loss is the one that door.db tells of, nil if there is none. What cannot be
// read is none: it keeps nobody out.
func (s *store) loss() *loss {
	var l loss
	found := false
	_ = s.db.View(func(tx *bolt.Tx) error {
		j := tx.Bucket(bucketMeta).Get(lossKey)
		found = j != nil && json.Unmarshal(j, &l) == nil
		return nil
	})
	if !found {
		return nil
	}
	return &l
}

// passOn has the supervisor told of a loss that it does not know of, so that it
// is spoken too. What fails is tried again at the next start; page and status
// say it anyway.
func (s *server) passOn(ctx context.Context) {
	l := s.lost.Load()
	if l == nil || l.Told || s.opt.Lost == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, lossTime)
	defer cancel()
	aside := ""
	if l.Aside != "" {
		aside = filepath.Base(l.Aside)
	}
	if err := s.opt.Lost(ctx, aside, l.Memories); err != nil {
		s.log.Warn("the loss of the accounts cannot be passed on; it is not spoken", "err", err)
		return
	}
	told := *l
	told.Told = true
	if s.lost.CompareAndSwap(l, &told) { // else the page was claimed meanwhile
		if err := s.store.keepLoss(&told); err != nil {
			s.log.Warn("that the loss of the accounts is told cannot be kept; it may be told again", "err", err)
		}
	}
}

// keepLoss writes a changed loss, unless the page has been claimed: the claim
// has removed it.
func (s *store) keepLoss(l *loss) error {
	return s.db.Update(func(tx *bolt.Tx) error {
		b := tx.Bucket(bucketMeta)
		if b.Get(lossKey) == nil {
			return nil
		}
		return put(b, lossKey, l)
	})
}

// lossNotes is what a loss adds to an answer.
func (s *server) lossNotes(lang string) []map[string]string {
	notes := []map[string]string{}
	if l := s.lost.Load(); l != nil {
		notes = append(notes, map[string]string{"code": l.code(), "text": l.words().In(lang), "detail": l.Aside})
	}
	return notes
}
