package state_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"homeagent/memory/state"
)

var seed = flag.Uint64("seed", uint64(time.Now().UnixNano()), "seed of the simulation")

func TestStoreLimits(t *testing.T) {
	d := open(t, filepath.Join(t.TempDir(), "state.db"))
	s := d.Store("timer")
	if v, err := s.Get("none"); v != nil || err != nil {
		t.Fatalf("a missing key: %v, %v", v, err)
	}
	if err := s.Delete("none"); err != nil {
		t.Fatalf("delete before the first put: %v", err)
	}
	tests := []struct {
		name  string
		key   string
		value []byte
		want  error
	}{
		{"largest", "k", make([]byte, state.MaxValue), nil},
		{"too big", "k", make([]byte, state.MaxValue+1), state.ErrValueTooBig},
		{"empty value", "e", nil, nil},
		{"empty key", "", []byte("x"), state.ErrKey},
		{"longest key", strings.Repeat("k", state.MaxKey), []byte("x"), nil},
		{"key too long", strings.Repeat("k", state.MaxKey+1), []byte("x"), state.ErrKey},
		{"NUL and emoji in the key", "a\x00🐶", []byte("x"), nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := s.Put(tt.key, tt.value)
			if !errors.Is(err, tt.want) {
				t.Fatalf("put: %v, want %v", err, tt.want)
			}
			if tt.want != nil {
				return
			}
			v, err := s.Get(tt.key)
			if err != nil || v == nil || !bytes.Equal(v, tt.value) {
				t.Fatalf("got %d bytes, %v", len(v), err)
			}
		})
	}
	if v, _ := d.Store("other").Get("k"); v != nil {
		t.Fatal("one plugin reads another's")
	}
	if err := s.List("", func(string, []byte) bool { return s.Put("inside", []byte("x")) == nil }); err != nil {
		t.Fatal(err)
	}
}

// TestStoreAgainstAMap runs random operations against a map, with reopenings
// in between.
func TestStoreAgainstAMap(t *testing.T) {
	t.Logf("seed %d (repeat with -seed)", *seed)
	rnd := rand.New(rand.NewPCG(*seed, 0))
	path := filepath.Join(t.TempDir(), "state.db")
	d := open(t, path)
	model := map[string]string{}
	for i := range 400 {
		s := d.Store("p")
		key := fmt.Sprintf("%c/%d", 'a'+rnd.IntN(3), rnd.IntN(20))
		switch rnd.IntN(10) {
		case 0:
			d.Close()
			d = open(t, path)
		case 1, 2:
			if err := s.Delete(key); err != nil {
				t.Fatal(err)
			}
			delete(model, key)
		default:
			v := strings.Repeat("v", rnd.IntN(3000))
			if err := s.Put(key, []byte(v)); err != nil {
				t.Fatal(err)
			}
			model[key] = v
		}
		if i%20 != 0 {
			continue
		}
		prefix := []string{"", "a/", "b", "zz"}[rnd.IntN(4)]
		var want, got []string
		for _, k := range slices.Sorted(maps.Keys(model)) {
			if strings.HasPrefix(k, prefix) {
				want = append(want, k+"="+model[k])
			}
		}
		if err := d.Store("p").List(prefix, func(k string, v []byte) bool { got = append(got, k+"="+string(v)); return true }); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("step %d, prefix %q: %d keys, want %d", i, prefix, len(got), len(want))
		}
	}
}
