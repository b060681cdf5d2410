package relevance_test

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"homeagent/agent/provider"
	"homeagent/memory/document"
	"homeagent/memory/relevance"
	"homeagent/memory/state"
)

func take(t testing.TB, d *state.DB, limit int) (gone []relevance.Gone, damaged int) {
	t.Helper()
	if err := d.View(func(tx *bolt.Tx) (err error) { gone, damaged, err = relevance.TakePruned(tx, limit); return err }); err != nil {
		t.Fatal(err)
	}
	return gone, damaged
}

func drop(t testing.TB, d *state.DB, gone []relevance.Gone) {
	t.Helper()
	if err := d.Update(func(tx *bolt.Tx) error { return relevance.DropPruned(tx, gone) }); err != nil {
		t.Fatal(err)
	}
}

func goneIDs(gone []relevance.Gone) (out []string) {
	for _, g := range gone {
		out = append(out, g.Message.ID)
	}
	return out
}

func TestTakeAndDrop(t *testing.T) {
	d := open(t)
	c, _ := load(t, d)
	if gone, _ := take(t, d, 10); gone != nil {
		t.Fatalf("took %v of nothing", gone)
	}
	chat(c, 0, 45)
	c.Append(provider.Message{Role: provider.User, Content: "no id", Time: time.UnixMilli(77), NoMemory: true})
	c.Prune("")
	save(t, d, c)
	want := pruned(t, d)
	if len(want) != 16 {
		t.Fatalf("%d pruned", len(want))
	}
	first, _ := take(t, d, 10)
	again, _ := take(t, d, 10)
	if len(first) != 10 || !reflect.DeepEqual(first, again) {
		t.Fatalf("took %d, then %d", len(first), len(again))
	}
	for range 2 {
		drop(t, d, first)
	}
	rest, _ := take(t, d, 100)
	drop(t, d, rest)
	if got := append(goneIDs(first), goneIDs(rest)...); !slices.Equal(got, ids(want)) {
		t.Fatalf("took %q, want %q", got, ids(want))
	}
	if left := pruned(t, d); len(left) > 0 {
		t.Fatalf("%d are left", len(left))
	}
	// After a restart they are still known, counted, and no number comes again.
	c, _ = load(t, d)
	n := c.Len()
	c.Append(user(want[0].ID, "again"))
	if c.Len() != n || c.Moved() != 16 {
		t.Fatalf("%d live, %d before; %d moved", c.Len(), n, c.Moved())
	}
	chat(c, 100, 30)
	c.Prune("")
	save(t, d, c)
	last := first[len(first)-1].Number
	if next, _ := take(t, d, 100); len(next) == 0 || next[0].Number <= last {
		t.Fatalf("%d come next", len(next))
	}
}

func TestNothingIsSkippedOrRenumbered(t *testing.T) {
	d := open(t)
	c, _ := load(t, d)
	for i := range 45 {
		m := provider.Message{Role: provider.User, Content: fmt.Sprint("secret ", i), NoMemory: true, Time: time.UnixMilli(int64(i))}
		if i%2 == 0 {
			m.ID = fmt.Sprintf("t%d/u", i)
		}
		c.Append(m)
	}
	c.Prune("secret")
	save(t, d, c)
	gone, _ := take(t, d, 100)
	if len(gone) != 15 {
		t.Fatalf("%d taken", len(gone))
	}
	seen := map[string]bool{}
	for _, g := range gone {
		if g.Message.ID == "" || seen[g.Message.ID] || !g.Message.NoMemory || g.Seq != int64(g.Number) {
			t.Fatalf("%+v", g)
		}
		seen[g.Message.ID] = true
	}
	// The context becomes empty, as by damage; numbers go on.
	drop(t, d, gone)
	if err := d.Update(func(tx *bolt.Tx) error {
		b := tx.Bucket([]byte("context"))
		for k, _ := b.Cursor().First(); k != nil; k, _ = b.Cursor().First() {
			if err := b.Delete(k); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	c, _ = load(t, d)
	chat(c, 0, 45)
	c.Prune("")
	save(t, d, c)
	if gone, _ := take(t, d, 1); len(gone) != 1 || gone[0].Number != 46 {
		t.Fatalf("%+v", gone)
	}
}

func TestLocate(t *testing.T) {
	d := open(t)
	c, _ := load(t, d)
	turn := func(n int) {
		id := fmt.Sprintf("t%d", n)
		c.Append(provider.Message{ID: id + "/u", Role: provider.User, Source: "voice", Content: "x"},
			provider.Message{ID: id + "/f", Role: provider.Assistant, Content: "y"})
		if n < 5 {
			return // of an older program, which noted no places
		}
		for i, part := range []string{"/u", "/f"} {
			if !c.Locate(id+part, relevance.Place{Turn: id, Stream: "kitchen", Seq: int64(n*1000 + i)}) {
				t.Fatalf("%s is not there", id+part)
			}
		}
	}
	for n := range 23 {
		turn(n)
		if n == 10 {
			save(t, d, c)
			c, _ = load(t, d)
		}
	}
	c.Prune("")
	if !c.Locate("t6/u", relevance.Place{Turn: "t6", Stream: "hall", Seq: 6000}) { // pruned, not saved
		t.Fatal("t6/u is not there")
	}
	if c.Locate("nobody", relevance.Place{}) || c.Locate("", relevance.Place{}) {
		t.Fatal("found what is not there")
	}
	save(t, d, c)
	gone, _ := take(t, d, 100)
	got := map[string]relevance.Place{}
	for _, g := range gone {
		got[g.Message.ID] = g.Place
	}
	for id, want := range map[string]relevance.Place{
		"t1/u": {Turn: "t1", Stream: "voice", Seq: 3},
		"t1/f": {Turn: "t1", Stream: "voice", Seq: 4},
		"t5/f": {Turn: "t5", Stream: "kitchen", Seq: 5001},
		"t6/u": {Turn: "t6", Stream: "hall", Seq: 6000},
		"t7/f": {Turn: "t7", Stream: "kitchen", Seq: 7001},
	} {
		if got[id] != want {
			t.Errorf("%s: got %+v, want %+v", id, got[id], want)
		}
	}
}

// TestTakeLeavesNoPairParted: answers come with their call beyond the limit.
func TestTakeLeavesNoPairParted(t *testing.T) {
	d := open(t)
	c, _ := load(t, d)
	a := calls("a", 3)
	c.Append(user("u", "x"), a, result(a.Calls[0], "1"), user("between", "x"), result(a.Calls[1], "2"), result(a.Calls[2], "3"))
	chat(c, 0, 45)
	c.Prune("")
	save(t, d, c)
	gone, _ := take(t, d, 2)
	if got := goneIDs(gone); !slices.Equal(got, []string{"u", "a", "ra.0", "ra.1", "ra.2"}) {
		t.Fatalf("%q", got)
	}
	drop(t, d, gone)
	if gone, _ = take(t, d, 1); gone[0].Message.ID != "between" {
		t.Fatalf("%q", goneIDs(gone))
	}
}

func TestTakeStopsWhereEventsAreLarge(t *testing.T) {
	d := open(t)
	c, _ := load(t, d)
	for i := range 45 {
		c.Append(user(fmt.Sprintf("u%d", i), strings.Repeat("x", 1<<20)))
	}
	c.Prune("")
	save(t, d, c)
	if gone, _ := take(t, d, 100); len(gone) != 8 {
		t.Fatalf("%d taken", len(gone))
	}
}

func TestDamagedPrunedEntries(t *testing.T) {
	d := open(t)
	c, _ := load(t, d)
	chat(c, 0, 45)
	c.Prune("")
	save(t, d, c)
	if err := d.Update(func(tx *bolt.Tx) error {
		b := tx.Bucket([]byte("pruned"))
		k, _ := b.Cursor().First()
		if err := b.Put(k, []byte(`{"id":`)); err != nil {
			return err
		}
		return b.Put([]byte("odd key"), []byte(`{}`))
	}); err != nil {
		t.Fatal(err)
	}
	gone, damaged := take(t, d, 100)
	if damaged != 2 || len(gone) != 14 {
		t.Fatalf("%d damaged, %d taken", damaged, len(gone))
	}
	if err := d.Update(relevance.SetDamagedAside); err != nil {
		t.Fatal(err)
	}
	if gone, damaged = take(t, d, 100); damaged != 0 || len(gone) != 14 {
		t.Fatalf("%d damaged, %d taken", damaged, len(gone))
	}
}

// TestMoveIntoDocuments: whichever step the power goes before, each event ends
// in the context or in a document, once.
func TestMoveIntoDocuments(t *testing.T) {
	docs, _, err := document.Open(t.TempDir(), document.Options{Location: time.UTC})
	if err != nil {
		t.Fatal(err)
	}
	defer docs.Close()
	d := open(t)
	c, _ := load(t, d)
	for round := range 12 {
		chat(c, round*20, 20)
		c.Prune("weather")
		save(t, d, c)
		gone, _ := take(t, d, 7)
		var evs []document.Event
		for _, g := range gone {
			evs = append(evs, document.FromMessage(g.Message, g.Turn, g.Stream, g.Seq))
		}
		if round%3 == 0 {
			continue // before the documents
		}
		moved, err := docs.PutEvents(context.Background(), evs)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, m := range moved {
			n += len(m.Events)
		}
		if n != len(evs) {
			t.Fatalf("%d of %d moved", n, len(evs))
		}
		if round%3 == 1 {
			c, _ = load(t, d)
			continue // before the drop
		}
		drop(t, d, gone)
	}
	all := map[string]int{}
	for _, id := range append(ids(c.Window()), ids(pruned(t, d))...) {
		all[id]++
	}
	err = docs.List(context.Background(), func(m document.Meta) bool {
		doc, err := docs.Peek(context.Background(), m.ID)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range doc.Events {
			all[e.ID] += 10
		}
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 240 {
		t.Fatalf("%d events of 240", len(all))
	}
	for id, n := range all {
		// 11: the power went between the two steps.
		if n != 1 && n != 10 && n != 11 {
			t.Fatalf("%s: %d", id, n)
		}
	}
}

// FuzzTakePruned: whatever bytes the bucket holds, taking and dropping neither
// fails nor loses what can be read.
func FuzzTakePruned(f *testing.F) {
	f.Add([]byte(`{"id":"a","role":"tool","call_id":"c","content":"x","place":{"turn":"t","seq":1}}`), []byte(`{"role":"user"}`), 1)
	f.Add([]byte(`{`), []byte(`null`), 3)
	d := open(f)
	f.Fuzz(func(t *testing.T, a, b []byte, limit int) {
		err := d.Update(func(tx *bolt.Tx) error {
			tx.DeleteBucket([]byte("pruned")) // of the run before, if there was one
			bucket, err := tx.CreateBucket([]byte("pruned"))
			if err != nil {
				return err
			}
			good := 0
			for i, v := range [][]byte{a, b} {
				var m struct {
					provider.Message
					Place *relevance.Place `json:"place"`
				}
				if json.Unmarshal(v, &m) == nil {
					good++
				}
				if err := bucket.Put([]byte{0, 0, 0, 0, 0, 0, 0, byte(i + 1)}, v); err != nil {
					return err
				}
			}
			taken := 0
			for range 3 {
				gone, _, err := relevance.TakePruned(tx, max(limit, 1))
				if err != nil {
					return err
				}
				taken += len(gone)
				for _, g := range gone {
					if g.Message.ID == "" {
						t.Fatalf("no id: %+v", g)
					}
				}
				if err := relevance.DropPruned(tx, gone); err != nil {
					return err
				}
			}
			if taken != good {
				t.Fatalf("%d taken of %d", taken, good)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}
