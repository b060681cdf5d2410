package search_test

import (
	"context"
	"path/filepath"
	"slices"
	"testing"

	"homeagent/memory/search"
)

func TestAfter(t *testing.T) {
	ctx := context.Background()
	x, _, err := search.Open(filepath.Join(t.TempDir(), "index.db"), search.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	put := func(id, text string) {
		t.Helper()
		if err := x.Put(ctx, search.Passage{ID: id, Stream: "s", Seq: 1, Kind: search.Event, Text: text}); err != nil {
			t.Fatal(err)
		}
	}
	after := func(mark int64, limit int) (ids []string, next int64) {
		t.Helper()
		passages, next, err := x.After(ctx, mark, limit)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range passages {
			ids = append(ids, p.ID+"="+p.Text)
		}
		return ids, next
	}
	if ids, next := after(0, 10); ids != nil || next != 0 {
		t.Errorf("of nothing: %q, %d", ids, next)
	}
	put("a", "the key")
	put("b", "the mat")
	put("c", "the door")
	first, mark := after(0, 2)
	if want := []string{"a=the key", "b=the mat"}; !slices.Equal(first, want) {
		t.Errorf("%q, want %q", first, want)
	}
	put("a", "another key")
	if err := x.Remove(ctx, "b"); err != nil {
		t.Fatal(err)
	}
	rest, mark := after(mark, 10)
	if want := []string{"c=the door", "a=another key"}; !slices.Equal(rest, want) {
		t.Errorf("%q, want %q", rest, want)
	}
	if ids, next := after(mark, 10); ids != nil || next != mark {
		t.Errorf("at the end: %q, %d from %d", ids, next, mark)
	}
}
