package document_test

import (
	"context"
	"flag"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"testing"
	"time"

	"homeagent/memory/document"
)

var docs = flag.Int("docs", 2000, "how many documents the benchmarks have")

// fill writes documents past the store, without syncs.
func fill(b *testing.B, dir string) {
	b.Helper()
	for i := range *docs {
		id := fmt.Sprintf("d%06d", i)
		d := document.Document{ID: id, Title: "2026-12-01 voice", Origin: document.Context, Stream: "voice", Day: fmt.Sprint(i),
			Created: noon, Updated: noon, Events: events(fmt.Sprintf("s%d", i), 0, 5)}
		data, err := document.Encode(d)
		if err != nil {
			b.Fatal(err)
		}
		h := fnv.New32a()
		h.Write([]byte(id))
		shard := filepath.Join(dir, fmt.Sprintf("%02x", h.Sum32()%256))
		if err := os.MkdirAll(shard, 0o700); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(shard, id+".json"), data, 0o600); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkStore: opening, reading, looking for cold ones, moving 15 events and
// reindexing where nothing has changed, with -docs documents.
func BenchmarkStore(b *testing.B) {
	ctx := context.Background()
	dir := b.TempDir()
	fill(b, dir)
	start := time.Now()
	s := openAt(b, dir, document.Options{})
	b.Logf("%d documents: index made in %v", *docs, time.Since(start))
	if info, err := os.Stat(filepath.Join(dir, "index.db")); err == nil {
		b.Logf("index: %d bytes a document", int(info.Size()) / *docs)
	}
	if n, err := s.Len(ctx); err != nil || n != *docs {
		b.Fatal(n, err)
	}
	b.Run("get", func(b *testing.B) {
		for i := range b.N {
			if _, err := s.Get(ctx, fmt.Sprintf("d%06d", i*7919%*docs)); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("cold", func(b *testing.B) {
		for range b.N {
			if _, err := s.Cold(ctx, time.Now(), 72*time.Hour, 2); err != nil {
				b.Fatal(err)
			}
		}
	})
	n := 0
	b.Run("move", func(b *testing.B) {
		for range b.N {
			if _, err := s.PutEvents(ctx, events("bench", n, 15)); err != nil {
				b.Fatal(err)
			}
			n += 15
		}
	})
	b.Run("entity unchanged", func(b *testing.B) {
		for range b.N {
			if _, err := s.ForEntity(ctx, 1, "妈妈", "住在杭州"); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("reindex", func(b *testing.B) {
		for range b.N {
			if _, err := s.Reindex(ctx); err != nil {
				b.Fatal(err)
			}
		}
	})
	closeStore(b, s)
	b.Run("open", func(b *testing.B) {
		for range b.N {
			closeStore(b, openAt(b, dir, document.Options{}))
		}
	})
}
