package distill_test

import (
	"context"
	"path/filepath"
	"slices"
	"testing"

	bolt "go.etcd.io/bbolt"

	"homeagent/agent/plugin"
	"homeagent/memory/distill"
	"homeagent/memory/state"
)

func TestAbsorbLeavesTheCursorAlone(t *testing.T) {
	r := newRig(t, func(o *distill.Options) { o.Batch = 2 })
	defer r.end(t)
	r.lines.add(talks(0, 3, monday)...)
	var events []distill.Event
	for _, l := range r.lines.all {
		events = append(events, distill.Reader{}.Events(l.Turn)...)
	}
	n, err := r.Absorb(context.Background(), events)
	if err != nil || n != 3 || !slices.Equal(r.sink.turns(), []string{"t0000", "t0001", "t0002"}) {
		t.Fatalf("%d facts, %v, of %q", n, err, r.sink.turns())
	}
	r.want(t, "absorbed", []int{2, 1}, 0)
	if n, err := r.Absorb(context.Background(), nil); n != 0 || err != nil {
		t.Fatalf("nothing: %d, %v", n, err)
	}
	if n, err := r.Distil(context.Background(), false); n != 3 || err != nil {
		t.Fatalf("distilled %d, %v", n, err)
	}
}

func TestStateCursor(t *testing.T) {
	db, _, err := state.Open(filepath.Join(t.TempDir(), "state.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	c := distill.StateCursor{DB: db}
	if p, err := c.Get(); err != nil || p.Seq != 0 {
		t.Fatalf("nothing kept: %+v, %v", p, err)
	}
	f := distill.Fact{Triple: plugin.Triple{Subject: "a", Relation: "b", Object: "c"}, Turn: "t", Confidence: .5, Time: monday}
	want := distill.Position{Seq: 3, Through: 9, Pending: []distill.Portion{{Seq: 5, Facts: []distill.Fact{f}}}}
	if err := c.Set(want); err != nil {
		t.Fatal(err)
	}
	p, err := c.Get()
	if err != nil || p.Seq != 3 || p.Through != 9 || len(p.Pending) != 1 || p.Pending[0].Facts[0].Text() != "a b c" || !p.Pending[0].Facts[0].Time.Equal(monday) {
		t.Fatalf("kept %+v, %v", p, err)
	}
	for _, damage := range []string{"", "garbage", `{"seq":-1}`} {
		err := db.Update(func(tx *bolt.Tx) error { return tx.Bucket([]byte("distill")).Put([]byte("position"), []byte(damage)) })
		if err != nil {
			t.Fatal(err)
		}
		if p, err := c.Get(); err != nil || p.Seq != 0 || len(p.Pending) > 0 {
			t.Fatalf("%q: %+v, %v", damage, p, err)
		}
	}
}

func TestDated(t *testing.T) {
	for _, row := range []struct{ relation, when, ends, want string }{
		{"went to", "2026-03-15", "", "went to (2026-03-15)"}, {"likes", "", "", "likes"},
		{"moved to", "2019", "", "moved to"}, {"no longer likes", "2026", "likes", "no longer likes"},
	} {
		f := distill.Fact{When: row.when, Ends: row.ends}
		f.Relation = row.relation
		if got := f.Dated().Relation; got != row.want {
			t.Errorf("%q, want %q", got, row.want)
		}
	}
}
