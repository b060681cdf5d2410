package knowledge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"homeagent/memory/disk"
	"homeagent/memory/search"
	"homeagent/memory/sqlfile"
)

// content is the file of a piece of knowledge.
const content = "content.md"

// Index is what a Store needs of search.Index.
type Index interface {
	Put(ctx context.Context, passages ...search.Passage) error
	RemoveDoc(ctx context.Context, docs ...string) error
	Has(ctx context.Context, ids ...string) (map[string]bool, error)
	Docs(ctx context.Context) ([]string, error)
	Search(ctx context.Context, q search.Query) ([]search.Hit, error)
	Close() error
}

var _ Index = (*search.Index)(nil)

// Options are those of a Store; zero values are the defaults.
type Options struct {
	// FS is what Create writes through, the machine's own by default.
	FS disk.FS
	// Now is time.Now by default.
	Now func() time.Time
	// Notify hears of problems that Search meets, each once. It must not call
	// the Store. By default they are logged.
	Notify func(Notice)
	// Log is slog.Default by default.
	Log *slog.Logger
}

// Store is an open folder of knowledge.
type Store struct {
	dir   string
	opts  Options
	index Index

	scanning sync.Mutex
	seen     map[string]seen // by name
	seenPath string
	dirty    bool // seen differs from its file
	looked   time.Time
	closed   bool
}

// Open opens or creates the folder and its index, and scans. Notices name what
// could not be taken in. Errors wrap those of package sqlfile, or what the
// system said; see disk.IsFull.
func Open(ctx context.Context, dir, indexPath string, opts Options) (*Store, []Notice, error) {
	if opts.FS == nil {
		opts.FS = disk.OS{}
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Log == nil {
		opts.Log = slog.Default()
	}
	if opts.Notify == nil {
		opts.Notify = func(n Notice) {
			opts.Log.Warn("knowledge was not taken in", "name", n.Name, "err", n.Err)
		}
	}
	s := &Store{dir: dir, opts: opts, seenPath: indexPath + ".seen"}
	notices, err := s.open(ctx, indexPath)
	if err != nil {
		if s.index != nil {
			s.index.Close()
		}
		return nil, nil, fmt.Errorf("open knowledge: %w", err)
	}
	return s, notices, nil
}

func (s *Store) open(ctx context.Context, indexPath string) (notices []Notice, err error) {
	if info, err := os.Stat(s.dir); err == nil && !info.IsDir() {
		aside, err := disk.SetAside(s.dir, s.opts.Now())
		if err != nil {
			return nil, err
		}
		name := filepath.Base(aside)
		notices = append(notices, Notice{Name: filepath.Base(s.dir), Aside: aside, Err: ErrKind,
			Zh: fmt.Sprintf("knowledge 不是文件夹，已改名为 %s，现在是一个空的文件夹。", name),
			En: fmt.Sprintf("knowledge was no folder; it is kept as %s, and an empty folder begun.", name)})
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return nil, sqlfile.Plain(err)
	}
	index, replaced, err := search.Open(indexPath, search.Options{Now: s.opts.Now})
	if err != nil {
		return nil, err
	}
	s.index = index
	if replaced != nil && !errors.Is(replaced.Err, sqlfile.ErrOlder) {
		s.opts.Log.Warn("the index of knowledge was damaged and is made anew", "aside", replaced.Aside, "err", replaced.Err)
	}
	s.seen = readSeen(s.seenPath)
	found, err := s.Scan(ctx)
	return append(notices, found...), err
}

// Close keeps what was seen and closes the index. Closing twice is harmless.
func (s *Store) Close() error {
	s.scanning.Lock()
	defer s.scanning.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	return errors.Join(s.keepSeen(), s.index.Close())
}

// Hit is a passage that was found.
type Hit struct {
	// ID is the passage's, Name the knowledge's, Heading the headings above the
	// text, joined by " › ".
	ID, Name, Heading string
	Text              string
	// Time is when the content was last changed.
	Time  time.Time
	Score float64
}

// Search finds at most limit passages, best first. A change in the folder that
// is a second old is in the answer; one that cannot be taken in does not hinder
// it. Searching waits for no disk beyond what the changes cost.
func (s *Store) Search(ctx context.Context, query string, limit int) ([]Hit, error) {
	s.look(ctx)
	found, err := s.index.Search(ctx, search.Query{Text: query, Limit: limit, Kinds: []search.Kind{search.Knowledge}})
	if err != nil {
		return nil, fmt.Errorf("search knowledge: %w", err)
	}
	hits := make([]Hit, len(found))
	for i, f := range found {
		head, _, _ := strings.Cut(f.Clean, "\n")
		_, head, _ = strings.Cut(head, pathSign)
		hits[i] = Hit{ID: f.ID, Name: f.Doc, Heading: head, Text: f.Text, Time: f.Time, Score: f.Score}
	}
	return hits, nil
}

// Entry is a piece of knowledge, taken in or not.
type Entry struct {
	Name     string
	Size     int64 // of the content in bytes
	Modified time.Time
	Passages int
	// Err is why it was not taken in, nil where it was.
	Err error
}

// List is what the last look at the folder has found, sorted by name.
func (s *Store) List() []Entry {
	s.scanning.Lock()
	defer s.scanning.Unlock()
	var out []Entry
	for name, f := range s.seen {
		out = append(out, Entry{Name: name, Size: f.Size, Modified: time.Unix(0, f.Mtime), Passages: f.Passages, Err: f.err})
	}
	slices.SortFunc(out, func(a, b Entry) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// Read returns the content of a name. Errors wrap ErrName, ErrNotFound, ErrText,
// ErrTooBig, ErrOutside, ErrKind, or what the system said.
func (s *Store) Read(ctx context.Context, name string) (string, error) {
	if err := CheckName(name); err != nil {
		return "", err
	}
	if err := ctx.Err(); err != nil {
		return "", err
	}
	root, err := os.OpenRoot(s.dir)
	if err != nil {
		return "", fmt.Errorf("read knowledge %s: %w", name, err)
	}
	defer root.Close()
	text, _, err := read(root, name)
	if err != nil {
		return "", fmt.Errorf("read knowledge %s: %w", name, err)
	}
	return text, nil
}

// Create adds a piece of knowledge and indexes it. The same content a second
// time is no error. Errors wrap ErrName, ErrText, ErrTooBig, ErrExists,
// sqlfile.ErrReadOnly, or what the system said.
func (s *Store) Create(ctx context.Context, name, text string) error {
	if err := CheckName(name); err != nil {
		return err
	}
	if _, err := checkContent([]byte(text)); err != nil {
		return fmt.Errorf("create knowledge %s: %w", name, err)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	s.scanning.Lock()
	defer s.scanning.Unlock()
	if s.closed {
		return fmt.Errorf("create knowledge %s: the store is closed", name)
	}
	if err := s.create(ctx, name, text); err != nil {
		return fmt.Errorf("create knowledge %s: %w", name, sqlfile.Plain(err))
	}
	return nil
}

func (s *Store) create(ctx context.Context, name, text string) error {
	root, err := os.OpenRoot(s.dir)
	if err != nil {
		return err
	}
	defer root.Close()
	info, err := root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := root.Mkdir(name, 0o700); err != nil {
			return err
		}
	case err != nil:
		return err
	case info.Mode()&fs.ModeSymlink != 0:
		// Files are written by their path, which would follow it.
		return fmt.Errorf("%w: %s", ErrOutside, name)
	}
	_, err = root.Lstat(filepath.Join(name, content))
	switch {
	case err == nil:
		old, _, err := read(root, name)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrExists, err)
		}
		if old != strings.TrimPrefix(text, string(bom)) {
			return ErrExists
		}
	case errors.Is(err, fs.ErrNotExist):
		if err := disk.WriteFileFS(s.opts.FS, filepath.Join(s.dir, name, content), []byte(text), 0o600); err != nil {
			return err
		}
	default:
		return err
	}
	// The same content may have come by a call that was cut here.
	if err := s.opts.FS.SyncDir(s.dir); err != nil {
		return err
	}
	return s.take(ctx, root, name)
}

// read returns the content of a name that was checked.
func read(root *os.Root, name string) (string, fs.FileInfo, error) {
	path := filepath.Join(name, content)
	info, err := root.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		return "", info, ErrKind // opening a pipe would wait for its other end
	}
	if err != nil {
		return "", nil, plain(err)
	}
	f, err := root.Open(path)
	if err != nil {
		return "", info, plain(err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, MaxContent+1))
	if err != nil {
		return "", info, err
	}
	text, err := checkContent(data)
	return text, info, err
}

// plain tells a link out of the folder, and a missing file, from other errors.
func plain(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %w", ErrNotFound, err)
	}
	var pe *fs.PathError
	// os.Root has no error value for it.
	if errors.As(err, &pe) && strings.Contains(pe.Err.Error(), "escapes") {
		return fmt.Errorf("%w: %w", ErrOutside, err)
	}
	return err
}
