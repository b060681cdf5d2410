package tidy

import (
	"context"
	"database/sql"
	"io"
	"io/fs"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	_ "github.com/mattn/go-sqlite3"

	"homeagent/agent/plugin"
	"homeagent/memory/document"
	"homeagent/memory/graph"
)

// house is a house of the test.
type house struct {
	mu     sync.Mutex
	busy   bool
	model  bool
	inputs []plugin.Input
	err    error // of InjectInput
	looked int   // calls of Busy
}

func (h *house) Busy() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.looked++
	return h.busy
}

func (h *house) Model() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.model
}

func (h *house) InjectInput(_ context.Context, in plugin.Input) (string, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.err != nil {
		return "", h.err
	}
	h.inputs = append(h.inputs, in)
	return "in", nil
}

func (h *house) set(f func(*house)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f(h)
}

// asked are the inputs so far.
func (h *house) asked() []plugin.Input {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]plugin.Input(nil), h.inputs...)
}

// index is a search index that counts.
type index struct {
	mu            sync.Mutex
	changed, gone map[string]int
	calls         int
	err           error
}

func (x *index) Sync(_ context.Context, changed, gone []string) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.changed == nil {
		x.changed, x.gone = map[string]int{}, map[string]int{}
	}
	x.calls++
	for _, id := range changed {
		x.changed[id]++
	}
	for _, id := range gone {
		x.gone[id]++
	}
	return x.err
}

func (x *index) CatchUp(context.Context) (int, error) { return 0, x.err }

// store keeps values and counts what is written.
type store struct {
	mu   sync.Mutex
	m    map[string][]byte
	puts int
	err  error
}

func (s *store) Get(key string) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.m[key], nil
}

func (s *store) Put(key string, value []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return s.err
	}
	if s.m == nil {
		s.m = map[string][]byte{}
	}
	s.m[key] = value
	s.puts++
	return nil
}

// distiller is one that finds what the test puts there.
type distiller struct {
	mu       sync.Mutex
	runs     int
	absorbed []string
	do       func(ctx context.Context) (int, error)
	absorb   func(id string) error
}

func (d *distiller) Distil(ctx context.Context, _ bool) (int, error) {
	d.mu.Lock()
	d.runs++
	do := d.do
	d.mu.Unlock()
	if do != nil {
		return do(ctx)
	}
	return 0, nil
}

func (d *distiller) Absorb(_ context.Context, id string) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.absorb != nil {
		if err := d.absorb(id); err != nil {
			return 0, err
		}
	}
	d.absorbed = append(d.absorbed, id)
	return 1, nil
}

// rig is a Tidy over a real graph and real documents.
type rig struct {
	t      *testing.T
	dir    string
	g      *graph.Graph
	docs   *document.Store
	house  *house
	index  *index
	store  *store
	dist   *distiller
	tidy   *Tidy
	now    time.Time
	turned int
}

func newRig(t *testing.T, change ...func(*Options)) *rig {
	t.Helper()
	r := &rig{t: t, dir: t.TempDir(), house: &house{model: true}, index: &index{}, store: &store{}, dist: &distiller{},
		now: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)}
	var err error
	if r.g, _, err = graph.Open(filepath.Join(r.dir, "graph.db"), graph.Options{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.g.Close() })
	clock := func() time.Time { return r.now }
	if r.docs, _, err = document.Open(filepath.Join(r.dir, "documents"), document.Options{Now: clock}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.docs.Close() })
	o := Options{Graph: r.g, Documents: r.docs, Index: r.index, House: r.house, Store: r.store, Distiller: r.dist,
		Now: func() time.Time { return r.now }, Log: slog.New(slog.NewTextHandler(io.Discard, nil))}
	for _, f := range change {
		f(&o)
	}
	if r.tidy, err = New(o); err != nil {
		t.Fatal(err)
	}
	return r
}

// learn commits facts, "subject|relation|object" each.
func (r *rig) learn(facts ...string) {
	r.t.Helper()
	r.turned++
	for _, f := range facts {
		p := strings.Split(f, "|")
		_, err := r.g.Learn(r.t.Context(), []graph.Statement{{Triple: plugin.Triple{Subject: p[0], Relation: p[1], Object: p[2]}}})
		if err != nil {
			r.t.Fatal(err)
		}
	}
}

// run does a round in which nothing may fail.
func (r *rig) run() Report {
	r.t.Helper()
	rep, err := r.tidy.Run(r.t.Context())
	if err != nil {
		r.t.Fatal(err)
	}
	for _, s := range rep.Steps {
		if s.Error != "" {
			r.t.Errorf("%s: %s", s.Kind, s.Error)
		}
	}
	return rep
}

// pairs are the pairs in a state, as "a/b".
func (r *rig) pairs(state graph.PairState) (out []string) {
	r.t.Helper()
	ps, err := r.g.Pairs(r.t.Context(), state, 100)
	if err != nil {
		r.t.Fatal(err)
	}
	for _, p := range ps {
		out = append(out, p.A.Name+"/"+p.B.Name)
	}
	return out
}

// rows counts the rows of every table of the graph, and files those of the folder.
func (r *rig) rows() map[string]int {
	r.t.Helper()
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(r.dir, "graph.db")+"?mode=ro&_busy_timeout=5000")
	if err != nil {
		r.t.Fatal(err)
	}
	defer db.Close()
	out := map[string]int{}
	names, err := db.Query("SELECT name FROM sqlite_master WHERE type = 'table'")
	if err != nil {
		r.t.Fatal(err)
	}
	defer names.Close()
	for names.Next() {
		var name string
		var n int
		if err := names.Scan(&name); err != nil {
			r.t.Fatal(err)
		}
		if err := db.QueryRow(`SELECT count(*) FROM "` + name + `"`).Scan(&n); err != nil {
			r.t.Fatal(err)
		}
		out["graph."+name] = n
	}
	if err := names.Err(); err != nil {
		r.t.Fatal(err)
	}
	err = filepath.WalkDir(filepath.Join(r.dir, "documents"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".json") {
			out["files"]++
		}
		return err
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return out
}
