package embed

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// things is a source in memory.
type things struct {
	mu    sync.Mutex
	texts map[string]string
	log   []Change // the mark is the number of changes before
	err   error
}

func (s *things) set(id, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.texts == nil {
		s.texts = map[string]string{}
	}
	s.texts[id] = text
	s.log = append(s.log, Change{ID: id, Gone: text == ""})
}

func (s *things) Changed(_ context.Context, since int64, limit int) ([]Change, int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	next := min(int(since)+limit, len(s.log))
	return slices.Clone(s.log[since:next]), int64(next), s.err
}

func (s *things) Text(_ context.Context, id string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.texts[id], nil
}

// server is Hash behind a network that can be away; its length is not known
// before it was asked.
type server struct {
	mu    sync.Mutex
	away  bool
	hangs bool
	asked bool
	texts []string
}

func (s *server) Name() string { return "server/1" }

func (s *server) Dim() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.asked {
		return HashDim
	}
	return 0
}

var errAway = errors.New("the server is away")

func (s *server) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	s.mu.Lock()
	away, hangs := s.away, s.hangs
	if !away && !hangs {
		s.asked = true
		s.texts = append(s.texts, texts...)
	}
	s.mu.Unlock()
	if hangs {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if away {
		return nil, errAway
	}
	return Hash{}.Embed(ctx, texts)
}

func (s *server) took() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.texts
	s.texts = nil
	return out
}

func (s *server) set(away, hangs bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.away, s.hangs = away, hangs
}

type keeperRig struct {
	*Keeper
	server             *server
	entities, passages *things
	dir                string
}

func newKeeperRig(t *testing.T, dir string) *keeperRig {
	r := &keeperRig{server: &server{}, entities: &things{}, passages: &things{}, dir: dir}
	r.Keeper = NewKeeper(KeeperOptions{Embedder: r.server, Batch: 3,
		Entities: Store{r.entities, filepath.Join(dir, "entities")}, Passages: Store{r.passages, filepath.Join(dir, "passages")}})
	t.Cleanup(func() { r.Close() })
	return r
}

// ids are those of matches.
func ids(list []Match) []string {
	var out []string
	for _, m := range list {
		out = append(out, m.ID)
	}
	return out
}

func TestRounds(t *testing.T) {
	ctx := t.Context()
	r := newKeeperRig(t, t.TempDir())
	if e, p, err := r.Near(ctx, "key", 3); err != nil || e != nil || p != nil {
		t.Fatalf("before the first round: %v, %v, %v", e, p, err)
	}
	for i, text := range []string{"spare key under the mat", "bicycle in the shed", "备用钥匙在门垫下", "piano teacher on Monday", "garden hose"} {
		r.entities.set(fmt.Sprint(i), text)
	}
	r.passages.set("p1", "the spare key is under the mat")
	r.passages.set(strings.Repeat("x", MaxID+1), "an id that is too long")
	if err := r.Round(ctx); err != nil {
		t.Fatal(err)
	}
	if got := r.server.took(); len(got) != 1+6 { // one asks for the length
		t.Errorf("embedded %q", got)
	}
	e, p, err := r.Near(ctx, "where is the spare key", 2)
	if err != nil || !slices.Equal(ids(e), []string{"0"}) || !slices.Equal(ids(p), []string{"p1"}) {
		t.Errorf("%v, %v, %v", e, p, err)
	}
	if e, _, err = r.Near(ctx, "钥匙", 2); err != nil || !slices.Equal(ids(e), []string{"2"}) {
		t.Errorf("%v, %v", e, err)
	}
	r.server.took()
	if _, _, err = r.Near(ctx, "钥匙", 2); err != nil || len(r.server.took()) != 0 {
		t.Errorf("a query is embedded twice: %v", err)
	}

	// A change that leaves the text costs nothing, one of the text is followed.
	r.entities.set("1", "bicycle in the shed")
	r.entities.set("4", "garden chairs")
	r.entities.set("0", "")
	if err := r.Round(ctx); err != nil {
		t.Fatal(err)
	}
	if got := r.server.took(); !slices.Equal(got, []string{"garden chairs"}) {
		t.Errorf("embedded %q", got)
	}
	if e, _, _ = r.Near(ctx, "where is the spare key", 2); len(e) != 0 {
		t.Errorf("what is gone is found: %v", e)
	}
	if err := r.Forget(ctx, "p1"); err != nil {
		t.Fatal(err)
	}
	if _, p, _ = r.Near(ctx, "where is the spare key", 2); len(p) != 0 {
		t.Errorf("what is forgotten is found: %v", p)
	}

	// Nothing new costs nothing, also after a new start.
	r.Close()
	if _, _, err := r.Near(ctx, "key", 2); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	again := newKeeperRig(t, r.dir)
	again.entities, again.passages = r.entities, r.passages
	again.o.Entities.Source, again.o.Passages.Source = r.entities, r.passages
	if err := again.Round(ctx); err != nil || len(again.server.took()) != 1 {
		t.Errorf("a second start: %v", err)
	}
}

func TestOffline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newKeeperRig(t, t.TempDir())
		r.entities.set("1", "spare key under the mat")
		r.server.set(true, false)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { r.Run(ctx); close(ended) }()
		synctest.Wait()
		r.Wake() // not before the pause is over
		r.server.set(false, false)
		synctest.Wait()
		if got := r.server.took(); len(got) != 0 {
			t.Errorf("embedded %q at once", got)
		}
		<-time.After(firstPause) // the fake clock's
		synctest.Wait()
		if got := r.server.took(); len(got) != 2 {
			t.Errorf("embedded %q after the pause", got)
		}
		r.entities.set("2", "bicycle")
		r.Wake()
		synctest.Wait()
		if got := r.server.took(); !slices.Equal(got, []string{"bicycle"}) {
			t.Errorf("embedded %q when woken", got)
		}

		// A query waits a little for a server that hangs, the next one not at all.
		r.server.set(false, true)
		from := time.Now()
		if _, _, err := r.Near(ctx, "bicycle key", 1); !errors.Is(err, context.DeadlineExceeded) || time.Since(from) != 2*time.Second {
			t.Errorf("%v after %v", err, time.Since(from))
		}
		if _, _, err := r.Near(ctx, "bicycle key", 1); !errors.Is(err, ErrResting) {
			t.Error(err)
		}
		r.server.set(false, false)
		<-time.After(queryPause)
		if e, _, err := r.Near(ctx, "bicycle key", 1); err != nil || len(e) != 1 {
			t.Errorf("%v, %v", e, err)
		}
		cancel()
		<-ended
		r.Close()
	})
}

func TestSourceFails(t *testing.T) {
	r := newKeeperRig(t, t.TempDir())
	r.entities.err = errors.New("locked")
	if err := r.Round(t.Context()); !errors.Is(err, r.entities.err) {
		t.Error(err)
	}
	r.entities.err = nil
	r.entities.set("1", "key")
	if err := r.Round(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestHash(t *testing.T) {
	texts := map[string]string{"zh": "备用钥匙放在门垫下面", "zh near": "钥匙在哪个门垫下", "zh far": "周末去爬山", "en": "the spare key is under the mat",
		"en near": "where are the spare keys?", "en far": "we climbed a mountain", "none": "the of"}
	names := slices.Sorted(maps.Keys(texts))
	var list []string
	for _, n := range names {
		list = append(list, texts[n])
	}
	out, err := Hash{}.Embed(t.Context(), list)
	if err != nil {
		t.Fatal(err)
	}
	v := map[string][]float32{}
	for i, n := range names {
		v[n] = out[i]
	}
	cos := func(a, b string) (s float64) {
		for i := range v[a] {
			s += float64(v[a][i]) * float64(v[b][i])
		}
		return s
	}
	for _, lang := range []string{"zh", "en"} {
		near, far := cos(lang, lang+" near"), cos(lang, lang+" far")
		if near < 0.3 || far > 0.15 {
			t.Errorf("%s: near %.2f, far %.2f", lang, near, far)
		}
	}
	if Normalize(slices.Clone(v["none"])) {
		t.Error("of nothing there is a vector")
	}
	// Places and signs are for ever: files hold vectors of them.
	sparse, err := Hash{}.Embed(t.Context(), []string{"钥"})
	if err != nil {
		t.Fatal(err)
	}
	if place := slices.IndexFunc(sparse[0], func(x float32) bool { return x != 0 }); place != hashPlace || sparse[0][place] != hashSign {
		t.Errorf("%v at %d", sparse[0][max(place, 0)], place)
	}
}

// Where and with what sign the sign 钥 stands in a vector.
const hashPlace, hashSign = 172, 1
