package journal_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"homeagent/agent/mind"
	"homeagent/memory/disk"
	"homeagent/memory/journal"
)

// countingFS counts the files that are opened.
type countingFS struct {
	disk.OS
	opened int
}

func (c *countingFS) OpenFile(path string, flag int, perm os.FileMode) (disk.File, error) {
	c.opened++
	return c.OS.OpenFile(path, flag, perm)
}

func TestRecent(t *testing.T) {
	reversed := func(ids []string) []string {
		ids = slices.Clone(ids)
		slices.Reverse(ids)
		return ids
	}
	long := strings.Repeat("很长。", 60_000) // longer than several blocks
	for _, row := range []struct {
		name    string
		turns   int
		flushes []int // after so many turns
		maxFile int64 // 0 is one file
		text    string
		cut     string // appended to the newest file
		limit   int
		before  string
		want    []string
		opened  int // files, at most; -1 is any
	}{
		{name: "nothing", limit: 5, opened: 0},
		{name: "outbox only", turns: 5, limit: 10, want: reversed(names(5)), opened: 0},
		{name: "outbox, limit", turns: 5, limit: 2, want: []string{"t004", "t003"}, opened: 0},
		{name: "outbox, before", turns: 5, limit: 2, before: "t003", want: []string{"t002", "t001"}, opened: 0},
		{name: "files only", turns: 5, flushes: []int{5}, limit: 10, want: reversed(names(5)), opened: 1},
		{name: "files, limit", turns: 5, flushes: []int{5}, limit: 2, want: []string{"t004", "t003"}, opened: 0},
		{name: "files, before", turns: 5, flushes: []int{5, 5}, limit: 9, before: "t002", want: []string{"t001", "t000"}, opened: -1},
		{name: "both", turns: 7, flushes: []int{4}, limit: 10, want: reversed(names(7)), opened: 1},
		{name: "both, before in the outbox", turns: 7, flushes: []int{4}, limit: 4, before: "t005", want: []string{"t004", "t003", "t002", "t001"}, opened: 1},
		{name: "both, before in the file", turns: 7, flushes: []int{4}, limit: 4, before: "t003", want: []string{"t002", "t001", "t000"}, opened: 1},
		{name: "the first has none before it", turns: 7, flushes: []int{4}, limit: 4, before: "t000", opened: -1},
		{name: "unknown has none before it", turns: 7, flushes: []int{4}, limit: 4, before: "other", opened: -1},
		{name: "no more files than needed", turns: 9, flushes: []int{2, 4, 6, 8}, maxFile: 1, limit: 4, want: []string{"t008", "t007", "t006", "t005"}, opened: 2},
		{name: "over all files", turns: 9, flushes: []int{2, 4, 6, 8}, maxFile: 1, limit: 99, want: reversed(names(9)), opened: 4},
		{name: "a cut line", turns: 5, flushes: []int{5}, cut: `{"seq":6,"id":"t005","fin`, limit: 2, want: []string{"t004", "t003"}, opened: 1},
		{name: "a line that lacks its end only", turns: 5, flushes: []int{5}, cut: `{"seq":6,"id":"t005","final":""}`, limit: 1, want: []string{"t004"}, opened: 1},
		{name: "a line of something else", turns: 5, flushes: []int{5}, cut: "null\n\n{}\n", limit: 1, want: []string{"t004"}, opened: 1},
		{name: "long lines", turns: 6, flushes: []int{4}, text: long, limit: 10, want: reversed(names(6)), opened: 1},
		{name: "long lines, before", turns: 6, flushes: []int{6}, text: long, limit: 2, before: "t003", want: []string{"t002", "t001"}, opened: -1},
		{name: "none asked for", turns: 3, limit: 0, opened: 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			db, dir, fs := openState(t), t.TempDir(), &countingFS{}
			j, err := journal.Open(db, dir, journal.Options{MaxFile: row.maxFile, FS: fs})
			if err != nil {
				t.Fatal(err)
			}
			for i, id := range names(row.turns) {
				tn := turn(id)
				tn.Final += row.text
				if err := add(db, j, tn); err != nil {
					t.Fatal(err)
				}
				for _, n := range row.flushes {
					if n != i+1 {
						continue
					}
					if err := j.Flush(); err != nil {
						t.Fatal(err)
					}
				}
			}
			if row.cut != "" {
				all, err := j.Files()
				if err != nil || len(all) == 0 {
					t.Fatal(all, err)
				}
				f, err := os.OpenFile(filepath.Join(dir, all[len(all)-1]), os.O_APPEND|os.O_WRONLY, 0)
				if err != nil {
					t.Fatal(err)
				}
				if _, err = f.WriteString(row.cut); err != nil || f.Close() != nil {
					t.Fatal(err)
				}
			}
			fs.opened = 0
			syncs := j.Syncs()
			got, err := j.Recent(context.Background(), row.limit, row.before)
			if err != nil {
				t.Fatal(err)
			}
			if ids := idsOf(got); !slices.Equal(ids, row.want) {
				t.Errorf("got %q, want %q", ids, row.want)
			}
			if row.opened >= 0 && fs.opened > row.opened {
				t.Errorf("%d files were read", fs.opened)
			}
			if j.Syncs() != syncs {
				t.Error("reading cost a sync")
			}
		})
	}
}

// What a crash left in both places is there once.
func TestRecentOfBothPlaces(t *testing.T) {
	db, dir := openState(t), t.TempDir()
	j, err := journal.Open(db, dir, journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range names(4) {
		if err := add(db, j, turn(id)); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Flush(); err != nil { // the outbox is emptied by the next turn, which never comes
		t.Fatal(err)
	}
	if j, err = journal.Open(db, dir, journal.Options{}); err != nil {
		t.Fatal(err)
	}
	got, err := j.Recent(context.Background(), 10, "")
	if ids := idsOf(got); err != nil || !slices.Equal(ids, []string{"t003", "t002", "t001", "t000"}) {
		t.Errorf("got %q, %v", ids, err)
	}
	if got[0].Final != turn("t003").Final {
		t.Errorf("got %+v", got[0])
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := j.Recent(ctx, 10, ""); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func idsOf(turns []mind.Turn) (ids []string) {
	for _, t := range turns {
		ids = append(ids, t.ID)
	}
	return ids
}
