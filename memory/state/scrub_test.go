package state

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	bolt "go.etcd.io/bbolt"
)

// TestScrub: what was deleted stands nowhere in the file, what was not is there,
// and transactions that run beside it lose nothing.
func TestScrub(t *testing.T) {
	rows := []struct {
		name  string
		scrub func(t *testing.T, d *DB) *DB
	}{
		{"while open", func(t *testing.T, d *DB) *DB {
			if err := d.Scrub(); err != nil {
				t.Fatal(err)
			}
			return d
		}},
		{"by the next start", func(t *testing.T, d *DB) *DB {
			path := d.path
			if err := d.Close(); err != nil {
				t.Fatal(err)
			}
			// A crash in the midst of an earlier one has left this.
			if err := os.WriteFile(path+scrubSuffix, []byte("secret"), 0o600); err != nil {
				t.Fatal(err)
			}
			d, n, err := Open(path)
			if err != nil || n != nil {
				t.Fatal(n, err)
			}
			return d
		}},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "state.db")
			d, _, err := Open(path)
			if err != nil {
				t.Fatal(err)
			}
			s := d.Store("plugin")
			for i := range 50 {
				if err := s.Put(fmt.Sprint("secret", i), bytes.Repeat([]byte("secret "), 100)); err != nil {
					t.Fatal(err)
				}
			}
			if err := s.Put("kept", []byte("this stays")); err != nil {
				t.Fatal(err)
			}
			if err := d.ScrubLater(); err != nil {
				t.Fatal(err)
			}
			for i := range 50 {
				if err := s.Delete(fmt.Sprint("secret", i)); err != nil {
					t.Fatal(err)
				}
			}
			if data, err := os.ReadFile(path); err != nil || !bytes.Contains(data, []byte("secret")) {
				t.Fatalf("the test proves nothing: deleting leaves no bytes (%v)", err)
			}
			d = row.scrub(t, d)
			defer d.Close()
			data, err := os.ReadFile(path)
			if err != nil || bytes.Contains(data, []byte("secret")) {
				t.Fatalf("the bytes are still there (%v)", err)
			}
			if _, err := os.Stat(path + scrubSuffix); err == nil {
				t.Error("the copy is left behind")
			}
			if v, err := d.Store("plugin").Get("kept"); err != nil || string(v) != "this stays" {
				t.Fatalf("kept %q, %v", v, err)
			}
			err = d.View(func(tx *bolt.Tx) error {
				if tx.Bucket([]byte(scrubBucket)) != nil {
					t.Error("it would be done at every start")
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestScrubBesideTransactions(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	d, _, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	const writers, each = 4, 25
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			s := d.Store(fmt.Sprint("writer", w))
			for i := range each {
				if err := s.Put(fmt.Sprint(i), []byte("x")); err != nil {
					t.Error(err)
				}
				if v, err := s.Get(fmt.Sprint(i)); err != nil || v == nil {
					t.Errorf("%d of %d: %q, %v", i, w, v, err)
				}
			}
		})
	}
	wg.Go(func() {
		for range 5 {
			if err := d.Scrub(); err != nil {
				t.Error(err)
			}
		}
	})
	wg.Wait()
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	d, n, err := Open(path)
	if err != nil || n != nil {
		t.Fatal(n, err)
	}
	defer d.Close()
	for w := range writers {
		for i := range each {
			if v, err := d.Store(fmt.Sprint("writer", w)).Get(fmt.Sprint(i)); err != nil || v == nil {
				t.Fatalf("%d of %d is lost: %v", i, w, err)
			}
		}
	}
}
