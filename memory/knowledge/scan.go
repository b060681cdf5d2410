package knowledge

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"homeagent/memory/disk"
	"homeagent/memory/search"
)

const (
	// lookEvery is how often Search looks at the folder.
	lookEvery = time.Second
	// young is the age below which a file's time does not tell a change: two
	// writes within a tick of the file system's clock look the same.
	young = 2 * time.Second
)

// seen is how a name was last found.
type seen struct {
	Size     int64  `json:"size"`
	Mtime    int64  `json:"mtime"` // nanoseconds since 1970
	Hash     string `json:"hash"`  // of the content, hex
	Passages int    `json:"passages"`
	// Young: the file was just being written when it was read.
	Young bool `json:"young,omitempty"`
	err   error
}

// seenFile is the file of what was seen.
type seenFile struct {
	Chunking int             `json:"chunking"`
	Names    map[string]seen `json:"names"`
}

// readSeen returns nothing where the file cannot be read: it is a cache.
func readSeen(path string) map[string]seen {
	var f seenFile
	data, err := os.ReadFile(path)
	if err != nil || json.Unmarshal(data, &f) != nil || f.Chunking != chunking || f.Names == nil {
		return map[string]seen{}
	}
	return f.Names
}

// keepSeen writes the file. Names that were not taken in are not kept, so that
// the next start tells of them again.
func (s *Store) keepSeen() error {
	if !s.dirty {
		return nil
	}
	f := seenFile{chunking, map[string]seen{}}
	for name, n := range s.seen {
		if n.err == nil {
			f.Names[name] = n
		}
	}
	data, err := json.Marshal(f)
	if err == nil {
		err = disk.WriteFile(s.seenPath, data, 0o600)
	}
	if err != nil {
		return fmt.Errorf("keep what was seen: %w", err)
	}
	s.dirty = false
	return nil
}

// Scan makes the index agree with the folder and returns what could not be
// taken in, but for what an earlier Scan or Search told of already.
func (s *Store) Scan(ctx context.Context) ([]Notice, error) {
	s.scanning.Lock()
	defer s.scanning.Unlock()
	if s.closed {
		return nil, errors.New("scan knowledge: the store is closed")
	}
	notices, err := s.scan(ctx, true)
	if err == nil {
		err = s.keepSeen()
	}
	if err != nil {
		return notices, fmt.Errorf("scan knowledge: %w", err)
	}
	return notices, nil
}

// look is a scan by Search: seldom, never waited for by another one, and
// without a word to the asker.
func (s *Store) look(ctx context.Context) {
	if !s.scanning.TryLock() {
		return
	}
	defer s.scanning.Unlock()
	now := s.opts.Now()
	if s.closed || now.Sub(s.looked) < lookEvery && !now.Before(s.looked) {
		return
	}
	notices, err := s.scan(ctx, false)
	if err != nil && ctx.Err() == nil {
		s.opts.Log.Warn("the knowledge folder could not be looked at", "err", err)
	}
	for _, n := range notices {
		s.opts.Notify(n)
	}
}

// scan takes in what differs. sure also asks the index whether it still has
// what was indexed. The caller holds scanning.
func (s *Store) scan(ctx context.Context, sure bool) (notices []Notice, err error) {
	s.looked = s.opts.Now()
	root, err := os.OpenRoot(s.dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	names, notices, err := s.names()
	if err != nil {
		return notices, err
	}
	if sure {
		if err := s.askIndex(ctx); err != nil {
			return notices, err
		}
	}
	here := map[string]bool{}
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return notices, err
		}
		here[name] = true
		told := s.seen[name].err
		if told == nil || !errors.Is(told, ErrName) {
			if err := s.takeChanged(ctx, root, name); err != nil {
				return notices, err
			}
		}
		n, ok := s.seen[name]
		if ok && n.err != nil && (told == nil || told.Error() != n.err.Error()) {
			notices = append(notices, notice(name, n.err))
		}
	}
	for name := range s.seen {
		if !here[name] && !isPlaced(s.seen[name].err) {
			if err := s.drop(ctx, name); err != nil {
				return notices, err
			}
		}
	}
	if sure {
		return notices, s.dropStrangers(ctx)
	}
	return notices, nil
}

// asked is how many passages the index is asked for at once.
const asked = 500

// askIndex forgets what the index no longer has: it waits for no disk, and may
// be another than it was.
func (s *Store) askIndex(ctx context.Context) error {
	byID := map[string]string{}
	for name, n := range s.seen {
		if n.Passages > 0 {
			byID[passageID(name, n.Hash, 0)] = name
		}
	}
	for ids := range slices.Chunk(slices.Collect(maps.Keys(byID)), asked) {
		has, err := s.index.Has(ctx, ids...)
		if err != nil {
			return err
		}
		for _, id := range ids {
			if !has[id] {
				delete(s.seen, byID[id])
			}
		}
	}
	return nil
}

// isPlaced tells of an entry that is no folder.
func isPlaced(err error) bool {
	return errors.Is(err, ErrPlace) || errors.Is(err, ErrTooMany)
}

// names lists the folders, and tells of what ought to be one.
func (s *Store) names() (names []string, notices []Notice, err error) {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return nil, nil, err
	}
	problem := func(name string, err error) {
		if old := s.seen[name].err; old == nil || old.Error() != err.Error() {
			notices = append(notices, notice(name, err))
		}
		s.seen[name] = seen{err: err}
	}
	there := map[string]bool{}
	for _, e := range entries {
		name := e.Name()
		there[name] = true
		switch {
		case strings.HasPrefix(name, "."):
		case e.Type().IsRegular():
			if ext := strings.ToLower(filepath.Ext(name)); ext == ".md" || ext == ".txt" {
				problem(name, ErrPlace)
			}
		case !e.IsDir() && e.Type()&fs.ModeSymlink == 0:
		case len(names) == MaxNames:
			problem(name, ErrTooMany)
			return names, notices, nil
		default:
			names = append(names, name)
		}
	}
	for name, n := range s.seen {
		if isPlaced(n.err) && !there[name] {
			delete(s.seen, name)
		}
	}
	return names, notices, nil
}

// takeChanged takes a name in if it differs from what was seen.
func (s *Store) takeChanged(ctx context.Context, root *os.Root, name string) error {
	if err := CheckName(name); err != nil {
		s.seen[name] = seen{err: err}
		return nil
	}
	old, known := s.seen[name]
	info, err := root.Stat(filepath.Join(name, content))
	if err == nil && known && !old.Young && old.Size == info.Size() && old.Mtime == info.ModTime().UnixNano() {
		return nil
	}
	return s.take(ctx, root, name)
}

// take reads and indexes a name, whatever was seen before. Problems of the
// content are noted in seen; errors are those of the index.
func (s *Store) take(ctx context.Context, root *os.Root, name string) error {
	old, known := s.seen[name]
	text, info, err := read(root, name)
	if err != nil {
		if errors.Is(err, ErrNotFound) && noFolder(root, name) == nil {
			// A folder whose content has gone, or is about to come.
			return s.drop(ctx, name)
		}
		if errors.Is(err, ErrNotFound) {
			err = ErrOutside // a link that leads nowhere
		}
		n := seen{err: err}
		if info != nil {
			n.Size, n.Mtime = info.Size(), info.ModTime().UnixNano()
		}
		if known && old.Passages > 0 {
			if err := s.drop(ctx, name); err != nil {
				return err
			}
		}
		s.seen[name] = n
		return nil
	}
	sum := sha256.Sum256([]byte(text))
	n := seen{Size: info.Size(), Mtime: info.ModTime().UnixNano(), Hash: hex.EncodeToString(sum[:8])}
	n.Young = s.opts.Now().Sub(info.ModTime()) < young
	if known && old.err == nil && old.Hash == n.Hash {
		n.Passages = old.Passages
		s.dirty = s.dirty || n != old
		s.seen[name] = n
		return nil
	}
	passages := passagesOf(name, n.Hash, text, info.ModTime())
	if err := s.index.RemoveDoc(ctx, name); err != nil {
		return err
	}
	delete(s.seen, name) // what follows may fail
	if err := s.index.Put(ctx, passages...); err != nil {
		return err
	}
	n.Passages = len(passages)
	s.seen[name], s.dirty = n, true
	return nil
}

// noFolder is nil where name is a folder.
func noFolder(root *os.Root, name string) error {
	info, err := root.Stat(name)
	if err == nil && !info.IsDir() {
		err = ErrKind
	}
	return err
}

// drop forgets a name.
func (s *Store) drop(ctx context.Context, name string) error {
	if s.seen[name].Passages > 0 {
		if err := s.index.RemoveDoc(ctx, name); err != nil {
			return err
		}
	}
	if _, known := s.seen[name]; known {
		delete(s.seen, name)
		s.dirty = true
	}
	return nil
}

// dropStrangers takes out of the index what no name in the folder has.
func (s *Store) dropStrangers(ctx context.Context) error {
	docs, err := s.index.Docs(ctx)
	if err != nil {
		return err
	}
	docs = slices.DeleteFunc(docs, func(d string) bool { return s.seen[d].Passages > 0 })
	if len(docs) == 0 {
		return nil
	}
	return s.index.RemoveDoc(ctx, docs...)
}

func passageID(name, hash string, n int) string { return fmt.Sprintf("k:%s:%s:%d", name, hash, n) }

// passagesOf are the passages of a content. The id has the content's hash, so
// that a passage in the index tells which content it is of.
func passagesOf(name, hash, text string, modified time.Time) []search.Passage {
	var out []search.Passage
	for i, c := range chunks(text) {
		head := name
		if c.path != "" {
			head += pathSign + c.path
		}
		out = append(out, search.Passage{ID: passageID(name, hash, i), Doc: name, Stream: "knowledge:" + name, Seq: int64(i),
			Kind: search.Knowledge, Time: modified, Text: c.text, Clean: head + "\n" + c.text, From: []string{"knowledge:" + name}})
	}
	return out
}
