package journal_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"homeagent/agent/mind"
	"homeagent/agent/plugin"
	"homeagent/agent/provider"
	"homeagent/agent/tool"
	"homeagent/memory/disk"
	"homeagent/memory/disk/disktest"
	"homeagent/memory/journal"
	"homeagent/memory/state"
)

func openState(t testing.TB) *state.DB {
	t.Helper()
	d, _, err := state.Open(filepath.Join(t.TempDir(), "state.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

func turn(id string) mind.Turn {
	return mind.Turn{ID: id, Lang: "zh", Outcome: mind.Answered, Final: "好的，" + id,
		Input: plugin.Input{ID: id, Source: "console", Type: plugin.Text, Payload: "钥匙在门垫下面"}}
}

var errSeen = errors.New("seen before")

// add journals a turn in a transaction of its own.
func add(db *state.DB, j *journal.Journal, t mind.Turn) error {
	var done func()
	err := db.Update(func(tx *bolt.Tx) error {
		added, d, err := j.AddTx(tx, t)
		if err == nil && !added {
			err = errSeen
		}
		done = d
		return err
	})
	if err == nil {
		done()
	}
	return err
}

// written returns the ids of the turns in the files, in order.
func written(t testing.TB, j *journal.Journal) (ids []string) {
	t.Helper()
	names, err := j.Files()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		bad, err := j.Read(name, func(l journal.Line) error { ids = append(ids, l.ID); return nil })
		if err != nil || bad != 0 {
			t.Fatalf("%s: %d bad lines, %v", name, bad, err)
		}
	}
	return ids
}

func names(n int) (ids []string) {
	for i := range n {
		ids = append(ids, fmt.Sprintf("t%03d", i))
	}
	return ids
}

func TestTurnsReachTheFilesOnce(t *testing.T) {
	db, dir := openState(t), t.TempDir()
	j, err := journal.Open(db, dir, journal.Options{Batch: 10})
	if err != nil {
		t.Fatal(err)
	}
	all := names(25)
	for i, id := range all {
		if got, want := j.Due(), i >= 10; got != want {
			t.Fatalf("due after %d: %v", i, got)
		}
		if err := add(db, j, turn(id)); err != nil {
			t.Fatal(err)
		}
	}
	if err := add(db, j, turn(all[3])); !errors.Is(err, errSeen) {
		t.Fatalf("a turn was taken twice: %v", err)
	}
	if err := add(db, j, mind.Turn{}); err == nil {
		t.Fatal("a turn without an id was taken")
	}
	if got := written(t, j); len(got) != 0 || j.Waiting() != 25 {
		t.Fatalf("before the flush: %q, %d waiting", got, j.Waiting())
	}
	if err := j.Flush(); err != nil {
		t.Fatal(err)
	}
	if got := written(t, j); !slices.Equal(got, all) || j.Waiting() != 0 || j.Due() {
		t.Fatalf("after the flush: %q, %d waiting", got, j.Waiting())
	}
	if err := add(db, j, turn("last")); err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if j, err = journal.Open(db, dir, journal.Options{}); err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	if got := written(t, j); !slices.Equal(got, append(all, "last")) || j.Waiting() != 0 {
		t.Fatalf("after reopening: %q, %d waiting", got, j.Waiting())
	}
	if err := add(db, j, turn("last")); !errors.Is(err, errSeen) {
		t.Fatalf("the last turn was taken twice after reopening: %v", err)
	}
}

// TestEveryCallMayFail runs turns and flushes on a folder that fails or loses
// power at each call, then opens what is left.
func TestEveryCallMayFail(t *testing.T) {
	const dir = "/raw"
	run := func(db *state.DB, fs *disktest.Disk) (acked []string) {
		j, err := journal.Open(db, dir, journal.Options{FS: fs, MaxFile: 1500})
		if err != nil {
			return nil
		}
		for i, id := range names(12) {
			if add(db, j, turn(id)) == nil {
				acked = append(acked, id)
			}
			if i%3 == 2 {
				j.Flush() // a failed one is tried again by the next
			}
		}
		j.Close()
		return acked
	}
	clean := disktest.New()
	if got := run(openState(t), clean); len(got) != 12 || clean.Calls() < 10 {
		t.Fatalf("%d turns, %d calls", len(got), clean.Calls())
	}
	for _, fault := range disktest.Faults {
		for n := 1; n <= clean.Calls(); n += 2 {
			keep := disktest.Keeps[n/2%len(disktest.Keeps)]
			t.Run(fmt.Sprintf("%v at %d keeping %v", fault, n, keep), func(t *testing.T) {
				db, fs := openState(t), disktest.New()
				fs.FaultAt(n, fault)
				acked := run(db, fs)
				j, err := journal.Open(db, dir, journal.Options{FS: fs.Reboot(keep)})
				if err != nil {
					t.Fatal(err)
				}
				defer j.Close()
				if err := j.Flush(); err != nil {
					t.Fatal(err)
				}
				if got := written(t, j); !slices.Equal(got, acked) {
					t.Fatalf("found %q, acknowledged %q", got, acked)
				}
			})
		}
	}
}

func TestOpenRepairsTheFiles(t *testing.T) {
	tests := []struct {
		name   string
		damage func(t *testing.T, path string, data []byte)
		want   []string
		bad    int
	}{
		{"sound", func(*testing.T, string, []byte) {}, []string{"t000", "t001", "t002", "new"}, 0},
		{"torn line", func(t *testing.T, p string, d []byte) { rewrite(t, p, d[:len(d)-5]) }, []string{"t000", "t001", "new"}, 0},
		{"half a line more", func(t *testing.T, p string, d []byte) { rewrite(t, p, append(d, `{"seq":9,"id":"x`...)) }, []string{"t000", "t001", "t002", "new"}, 0},
		{"garbage lines", func(t *testing.T, p string, d []byte) {
			rewrite(t, p, append(d, "\x00\x00\xff\n\nnot json\n{}\n"...))
		}, []string{"t000", "t001", "t002", "new"}, 3},
		{"empty", func(t *testing.T, p string, d []byte) { rewrite(t, p, nil) }, []string{"new"}, 0},
		{"gone", func(t *testing.T, p string, d []byte) {
			if err := os.Remove(p); err != nil {
				t.Fatal(err)
			}
		}, []string{"new"}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			db, dir := openState(t), t.TempDir()
			j, err := journal.Open(db, dir, journal.Options{})
			if err != nil {
				t.Fatal(err)
			}
			for _, id := range names(3) {
				if err := add(db, j, turn(id)); err != nil {
					t.Fatal(err)
				}
			}
			if err := j.Close(); err != nil {
				t.Fatal(err)
			}
			files, _ := j.Files()
			if len(files) != 1 {
				t.Fatalf("files %q", files)
			}
			path := filepath.Join(dir, files[0])
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			tt.damage(t, path, data)
			if j, err = journal.Open(db, dir, journal.Options{}); err != nil {
				t.Fatal(err)
			}
			defer j.Close()
			if err := add(db, j, turn("new")); err != nil {
				t.Fatal(err)
			}
			if err := j.Flush(); err != nil {
				t.Fatal(err)
			}
			var got []string
			files, _ = j.Files()
			bad, err := j.Read(files[0], func(l journal.Line) error { got = append(got, l.ID); return nil })
			if err != nil || bad != tt.bad || !slices.Equal(got, tt.want) {
				t.Fatalf("got %q, %d bad lines, %v", got, bad, err)
			}
		})
	}
	t.Run("state.db begun anew", func(t *testing.T) {
		dir := t.TempDir()
		for round := range 3 {
			db := openState(t)
			j, err := journal.Open(db, dir, journal.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if err := add(db, j, turn(names(3)[round])); err != nil {
				t.Fatal(err)
			}
			if err := j.Close(); err != nil {
				t.Fatal(err)
			}
			if got := written(t, j); !slices.Equal(got, names(round+1)) {
				t.Fatalf("round %d: %q", round, got)
			}
		}
	})
	t.Run("no folder", func(t *testing.T) {
		_, err := journal.Open(openState(t), filepath.Join(t.TempDir(), "none"), journal.Options{})
		if !errors.Is(err, os.ErrNotExist) {
			t.Fatalf("got %v", err)
		}
	})
}

func rewrite(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestRotationAndRetention(t *testing.T) {
	now := time.Date(2026, 3, 1, 23, 0, 0, 0, time.UTC)
	db, dir := openState(t), t.TempDir()
	j, err := journal.Open(db, dir, journal.Options{MaxFile: 4000, Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	put := func(id, pad string) {
		t.Helper()
		tn := turn(id)
		tn.Final = pad
		if err := errors.Join(add(db, j, tn), j.Flush()); err != nil {
			t.Fatal(err)
		}
	}
	files := func() []string { f, _ := j.Files(); return f }
	big := strings.Repeat("x", 5000)
	put("a", "")
	put("b", big) // still fits behind a: the size is looked at before
	put("c", "")
	now = now.Add(2 * time.Hour)
	put("d", "")
	now = now.Add(-2 * time.Hour) // the clock is set back
	put("e", "")
	want := []string{"raw_20260301_0001.jsonl", "raw_20260301_0002.jsonl", "raw_20260302_0001.jsonl"}
	if got := files(); !slices.Equal(got, want) {
		t.Fatalf("files %q", got)
	}
	if got := written(t, j); !slices.Equal(got, []string{"a", "b", "c", "d", "e"}) {
		t.Fatalf("turns %q", got)
	}
	if err := j.Distilled(want[2]); err == nil {
		t.Fatal("the growing file was marked")
	}
	if err := j.Distilled("../state.db"); err == nil {
		t.Fatal("a foreign file was marked")
	}
	if err := j.Distilled(want[0]); err != nil {
		t.Fatal(err)
	}
	now = now.Add(journal.DefaultRetention - time.Second)
	if got, err := j.Sweep(); len(got) != 0 || err != nil {
		t.Fatalf("swept %q, %v before its time", got, err)
	}
	now = now.Add(time.Second)
	if got, err := j.Sweep(); !slices.Equal(got, want[:1]) || err != nil {
		t.Fatalf("swept %q, %v", got, err)
	}
	if got := files(); !slices.Equal(got, want[1:]) {
		t.Fatalf("files %q", got)
	}
	if got, err := j.Sweep(); len(got) != 0 || err != nil {
		t.Fatalf("swept twice: %q, %v", got, err)
	}
}

func TestLineKeepsTheTurn(t *testing.T) {
	tn := turn("a")
	tn.Input.Media = []provider.Media{{MIME: "image/png", Name: "cat", Data: []byte{1, 2}}}
	tn.Messages = []provider.Message{
		{ID: "1", Role: provider.User, Content: "NUL \x00 emoji 🐶 line\nbreak \u2028", Media: tn.Input.Media},
		{ID: "2", Role: provider.Assistant, Calls: []tool.Call{{ID: "c", Name: "n", Args: json.RawMessage(`{broken`)}}},
	}
	tn.Calls = tn.Messages[1].Calls
	b, err := journal.Encode(journal.Line{Seq: 7, Turn: tn})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(string(b), "\n") != 1 || !strings.HasPrefix(string(b), `{"seq":7,"id":"a"`) {
		t.Fatalf("line %s", b)
	}
	got, err := journal.Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	if tn.Input.Media[0].Data == nil {
		t.Fatal("encoding changed the caller's turn")
	}
	want := tn
	want.Input.Media = []provider.Media{{MIME: "image/png", Name: "cat"}}
	want.Messages = slices.Clone(tn.Messages)
	want.Messages[0].Media = want.Input.Media
	args := json.RawMessage(`"{broken"`)
	want.Messages[1].Calls = []tool.Call{{ID: "c", Name: "n", Args: args}}
	want.Calls = want.Messages[1].Calls
	if !reflect.DeepEqual(got.Turn, want) || got.Seq != 7 {
		t.Fatalf("got  %+v\nwant %+v", got.Turn, want)
	}
}

// FuzzDecode: any bytes give an error or a line that, written, reads and
// writes the same.
func FuzzDecode(f *testing.F) {
	seed, _ := journal.Encode(journal.Line{Seq: 1, Turn: turn("a")})
	f.Add(seed)
	for _, s := range []string{"", "{}", "null", `{"id":"a"}`, `{"id":"\ud800"}`, `{"id":"a","calls":[{"args":null}]}`,
		`{"id":"a","started":"2026-01-02T03:04:05.6+08:00"}`, `{"id":"a","input":{"media":[{"data":"AA=="}]}}`, `{"seq":-1,"id":"a"}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := journal.Decode(data)
		if err != nil {
			if !errors.Is(err, journal.ErrLine) {
				t.Fatalf("error %v", err)
			}
			return
		}
		b, err := journal.Encode(l)
		if err != nil {
			t.Fatalf("does not write: %v", err)
		}
		again, err := journal.Decode(b)
		if err != nil {
			t.Fatalf("wrote %q, which does not read: %v", b, err)
		}
		if b2, err := journal.Encode(again); err != nil || string(b2) != string(b) {
			t.Fatalf("wrote %q, then %q, %v", b, b2, err)
		}
	})
}

var _ journal.FS = disk.OS{}
