package cut_test

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"homeagent/tools/powercut/cut"
	"homeagent/tools/powercut/writelog"
)

const sector = 512

// request is one entry of a made-up log: n sectors of a letter, or a flush.
type request struct {
	sector, n int
	fill      byte
}

var flush = request{}

// logOf makes a log of requests and a disk of 64 sectors of dots.
func logOf(t *testing.T, all ...request) (*writelog.Log, *os.File) {
	t.Helper()
	b := make([]byte, sector)
	binary.LittleEndian.PutUint64(b, writelog.Magic)
	binary.LittleEndian.PutUint64(b[8:], 1)
	binary.LittleEndian.PutUint64(b[16:], uint64(len(all)))
	binary.LittleEndian.PutUint32(b[24:], sector)
	for _, r := range all {
		head := make([]byte, sector)
		binary.LittleEndian.PutUint64(head, uint64(r.sector))
		binary.LittleEndian.PutUint64(head[8:], uint64(r.n))
		if r == flush {
			binary.LittleEndian.PutUint64(head[16:], writelog.Flush)
		}
		b = append(append(b, head...), bytes.Repeat([]byte{r.fill}, r.n*sector)...)
	}
	l, err := writelog.Open(bytes.NewReader(b), int64(len(b)))
	if err != nil || len(l.Entries) != len(all) {
		t.Fatalf("%d entries, %v", len(l.Entries), err)
	}
	f, err := os.Create(filepath.Join(t.TempDir(), "disk"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	if _, err := f.Write(bytes.Repeat([]byte{'.'}, 64*sector)); err != nil {
		t.Fatal(err)
	}
	return l, f
}

// letters are the first bytes of the first sectors of what r reads; a sector
// that is not all one letter shows as "!".
func letters(t *testing.T, v *cut.View, n int) string {
	t.Helper()
	b := make([]byte, n*sector)
	if _, err := v.ReadAt(b, 0); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "part")
	if err := v.Extract(path, 0, int64(len(b))); err != nil {
		t.Fatal(err)
	}
	if copied, err := os.ReadFile(path); err != nil || !bytes.Equal(copied, b) {
		t.Fatalf("a copy differs from what is read (%v)", err)
	}
	var out []byte
	for s := range slices.Chunk(b, sector) {
		c := s[0]
		if !bytes.Equal(s, bytes.Repeat([]byte{c}, sector)) {
			c = '!'
		}
		out = append(out, c)
	}
	return string(out)
}

func TestMake(t *testing.T) {
	requests := []request{{0, 2, 'a'}, {2, 2, 'b'}, flush, {0, 1, 'c'}, {4, 4, 'd'}, {6, 1, 'e'}, flush}
	for _, row := range []struct {
		name   string
		cut    cut.Cut
		covers int
		want   []string // any of them; with one, exactly that
	}{
		{"the first write", cut.Cut{Entry: 0, Mode: cut.Whole}, 1, []string{"aa......"}},
		{"before the flush", cut.Cut{Entry: 1, Mode: cut.Whole}, 2, []string{"aabb...."}},
		{"nothing is durable before the first flush", cut.Cut{Entry: 1, Mode: cut.Dropped}, 0,
			[]string{"........", "aa......", "..bb....", "aabb....", "a.......", ".a......", "..b.....", "...b....", "a.bb....", ".abb....", "aab.....", "aa.b....", "a.b.....", "a..b....", ".ab.....", ".a.b...."}},
		{"at the flush all is there", cut.Cut{Entry: 2, Mode: cut.Dropped}, 3, []string{"aabb...."}},
		{"behind it", cut.Cut{Entry: 3, Mode: cut.Whole}, 4, []string{"cabb...."}},
		{"one sector comes through or not", cut.Cut{Entry: 3, Mode: cut.Dropped}, 3, []string{"aabb....", "cabb...."}},
		{"a sector cannot be torn", cut.Cut{Entry: 3, Mode: cut.Torn}, 3, []string{"aabb...."}},
		{"later ones lie over earlier ones", cut.Cut{Entry: 5, Mode: cut.Whole}, 6, []string{"cabbdded"}},
		{"the end", cut.Cut{Entry: 6, Mode: cut.Whole}, 7, []string{"cabbdded"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			for seed := range uint64(20) {
				l, f := logOf(t, requests...)
				d := cut.NewDisk(f, l)
				c := row.cut
				c.Seed = seed
				v, err := d.Make(c)
				if err != nil {
					t.Fatal(err)
				}
				if got := letters(t, v, 8); !slices.Contains(row.want, got) {
					t.Errorf("%v: got %s, want one of %q", c, got, row.want)
				}
				if got := d.Flushes().Covers(c); got != row.covers {
					t.Errorf("covers %d entries, want %d", got, row.covers)
				}
			}
		})
	}
}

// A torn write has come through in part, and each seed says in the same part.
func TestTorn(t *testing.T) {
	seen := map[string]bool{}
	for seed := range uint64(200) {
		var same [2]string
		for k := range same {
			l, f := logOf(t, request{0, 4, 'a'}, flush, request{0, 4, 'b'})
			v, err := cut.NewDisk(f, l).Make(cut.Cut{Entry: 2, Mode: cut.Torn, Seed: seed})
			if err != nil {
				t.Fatal(err)
			}
			same[k] = letters(t, v, 4)
		}
		if same[0] != same[1] {
			t.Fatalf("seed %d: %s, then %s", seed, same[0], same[1])
		}
		seen[same[0]] = true
	}
	for _, want := range []string{"baaa", "bbaa", "bbba", "abab", "aabb"} {
		if !seen[want] {
			t.Errorf("%s never came", want)
		}
	}
}

func TestMakeRefuses(t *testing.T) {
	l, f := logOf(t, request{0, 1, 'a'}, flush, request{0, 1, 'b'}, flush)
	d := cut.NewDisk(f, l)
	if _, err := d.Make(cut.Cut{Entry: 3, Mode: cut.Whole}); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]cut.Cut{"going back": {Entry: 1, Mode: cut.Whole}, "beyond the end": {Entry: 4, Mode: cut.Whole}, "before the begin": {Entry: -1}} {
		if _, err := d.Make(c); err == nil {
			t.Errorf("%s was not refused", name)
		}
	}
}

func TestPlan(t *testing.T) {
	var requests []request
	for i := range 100 {
		requests = append(requests, request{i % 60, 2, 'a'})
		if i%10 == 9 {
			requests = append(requests, flush)
		}
	}
	l, _ := logOf(t, requests...)
	point := func(i int) string {
		switch {
		case i == 0:
			return "rare"
		case i > 90:
			return ""
		case l.Entries[i].IsFlush():
			return "flush"
		}
		return "common"
	}
	cuts := cut.Plan(l.Entries, point, 90, 7)
	if !slices.Equal(cuts, cut.Plan(l.Entries, point, 90, 7)) {
		t.Error("the same seed planned differently")
	}
	points, modes := map[string]int{}, map[cut.Mode]int{}
	for i, c := range cuts {
		points[c.Point]++
		modes[c.Mode]++
		if c.Entry > 90 || i > 0 && c.Entry < cuts[i-1].Entry {
			t.Errorf("cut %d: %v", i, c)
		}
	}
	if len(cuts) != 90 || points["rare"] != 30 || points["common"] != 30 || points["flush"] != 30 {
		t.Errorf("%d cuts: %v", len(cuts), points)
	}
	for _, m := range []cut.Mode{cut.Whole, cut.Torn, cut.Dropped} {
		if modes[m] < 10 {
			t.Errorf("mode %s: %d cuts", m, modes[m])
		}
	}
	if got := cut.Plan(l.Entries, func(int) string { return "" }, 90, 7); len(got) != 0 {
		t.Errorf("%d cuts of nothing", len(got))
	}
}
