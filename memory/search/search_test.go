package search_test

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"homeagent/memory/search"
)

func openAt(t testing.TB, path string) *search.Index {
	t.Helper()
	x, notice, err := search.Open(path, search.Options{})
	if err != nil || notice != nil {
		t.Fatalf("%v, %+v", err, notice)
	}
	t.Cleanup(func() { x.Close() })
	return x
}

func open(t testing.TB) *search.Index {
	t.Helper()
	return openAt(t, filepath.Join(t.TempDir(), "index.db"))
}

func event(id string, seq int64, text string) search.Passage {
	return search.Passage{ID: id, Stream: "journal", Seq: seq, Kind: search.Event, Time: time.Unix(1_700_000_000+seq, 0), Text: text}
}

func put(t testing.TB, x *search.Index, ps ...search.Passage) {
	t.Helper()
	if err := x.Put(context.Background(), ps...); err != nil {
		t.Fatal(err)
	}
}

func find(t testing.TB, x *search.Index, q search.Query) []string {
	t.Helper()
	hits, err := x.Search(context.Background(), q)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, h := range hits {
		ids = append(ids, h.ID)
	}
	return ids
}

func TestSearch(t *testing.T) {
	x := open(t)
	put(t, x,
		event("k", 1, "妈妈把备用钥匙放在门垫下面了"),
		event("p", 2, "The passport lies in the blue drawer"),
		event("d", 3, "小明的生日是五月三号"),
		event("c", 4, "We parked the car on level 3"),
	)
	for _, tt := range []struct{ name, query, want string }{
		{"Chinese", "钥匙在哪里", "k"},
		{"English, another form", "where did I park the car?", "c"},
		{"a question's own grammar is nothing", "what is the", ""},
		{"empty", "", ""},
		{"SQL", "passport'; DROP TABLE passages; --", "p"},
		{"FTS syntax", `"passport" NEAR(drawer, 3) OR -x:*`, "p"},
		{"NUL, emoji, right to left", "\x00生日\u202e 🎂", "d"},
		{"unknown", "zzyzx", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := find(t, x, search.Query{Text: tt.query, Limit: 1}); strings.Join(got, " ") != tt.want {
				t.Fatalf("found %q", got)
			}
		})
	}
}

func TestPutReplacesAndMoves(t *testing.T) {
	x := open(t)
	put(t, x, event("a", 1, "the lamp is green"), event("b", 2, "the vase is blue"))
	p := event("a", 1, "the lamp is green")
	p.Doc, p.From = "doc1", []string{"turn1"}
	put(t, x, p, p)
	hits, err := x.Search(context.Background(), search.Query{Text: "lamp"})
	if err != nil || len(hits) == 0 || hits[0].Doc != "doc1" || !slices.Equal(hits[0].From, []string{"turn1"}) || hits[0].Time.Unix() != 1_700_000_001 {
		t.Fatalf("%+v, %v", hits, err)
	}
	put(t, x, event("a", 1, "the table is round"))
	if got := find(t, x, search.Query{Text: "lamp"}); len(got) != 0 {
		t.Fatalf("the old text is still found: %q", got)
	}
	if n, err := x.Len(context.Background()); n != 2 || err != nil {
		t.Fatalf("%d, %v", n, err)
	}
}

func TestRemove(t *testing.T) {
	ctx := context.Background()
	x := open(t)
	for i := range 600 { // more than a block
		p := event("e"+string(rune('0'+i%10))+time.Duration(i).String(), int64(i), "apple number "+time.Duration(i).String())
		if i%2 == 0 {
			p.Doc = "d"
		}
		put(t, x, p)
	}
	if err := x.RemoveDoc(ctx, "d", ""); err != nil {
		t.Fatal(err)
	}
	if n, err := x.Len(ctx); n != 300 || err != nil {
		t.Fatalf("%d, %v", n, err)
	}
	if got := find(t, x, search.Query{Text: "apple", Limit: 200, Without: search.Duplicates}); len(got) != 200 {
		t.Fatalf("%d found", len(got))
	}
	if seq, ok, err := x.Last(ctx, "journal"); seq != 599 || !ok || err != nil {
		t.Fatal(seq, ok, err)
	}
	if _, ok, err := x.Last(ctx, "other"); ok || err != nil {
		t.Fatal(ok, err)
	}
}
