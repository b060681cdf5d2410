package document_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"homeagent/memory/document"
)

// TestWritersAndReadersAtOnce: two writers that move overlapping events, eight
// readers, flushes and reindexing; nothing is lost, nothing is there twice.
func TestWritersAndReadersAtOnce(t *testing.T) {
	ctx := context.Background()
	s := openAt(t, t.TempDir(), document.Options{Notify: func(n document.Notice) { t.Errorf("notice %+v", n) }})
	if _, err := s.Put(ctx, document.Document{ID: "note", Origin: document.Commit, Text: "0"}); err != nil {
		t.Fatal(err)
	}
	const moves = 20
	var writers, readers sync.WaitGroup
	stop := make(chan struct{})
	for w := range 2 {
		writers.Go(func() {
			for i := range moves {
				if _, err := s.PutEvents(ctx, events("voice", i*5-w*2+2, 5)); err != nil {
					t.Error(err)
				}
				if _, err := s.Put(ctx, document.Document{ID: "note", Origin: document.Commit, Text: fmt.Sprint(w, i)}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for r := range 8 {
		readers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if _, err := s.Get(ctx, "note"); err != nil {
					t.Error(err)
				}
				err := s.List(ctx, func(m document.Meta) bool {
					if _, err := s.Peek(ctx, m.ID); err != nil {
						t.Error(err)
					}
					return true
				})
				if err != nil {
					t.Error(err)
				}
				switch r {
				case 0:
					if err := s.Flush(ctx); err != nil {
						t.Error(err)
					}
				case 1:
					if _, err := s.Reindex(ctx); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	writers.Wait()
	close(stop)
	readers.Wait()
	once(t, all(t, s))
	acknowledgedEvents(t, s, events("voice", 0, moves*5))
	closeStore(t, s)
	if _, err := s.PutEvents(ctx, events("voice", 0, 1)); err == nil {
		t.Fatal("a closed store takes events")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}
