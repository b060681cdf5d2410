package queue

import (
	"strings"
	"testing"

	"homeagent/agent/plugin"
	"homeagent/memory/disk/disktest"
)

// TestWithoutMemoryLeavesTheFile: an input without memory is in the file while
// it waits, and when it has ended, however it did, nothing of it is.
func TestWithoutMemoryLeavesTheFile(t *testing.T) {
	tests := []struct {
		name string
		end  func(q *Queue, id string) error
	}{
		{"done", (*Queue).Done},
		{"set aside", (*Queue).Aside},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := disktest.New()
			q := open(t, d)
			put(t, q, text("stays", "web"))
			in := text("private", "web")
			in.NoMemory = true
			put(t, q, in)
			if !holds(t, d, "text of private") {
				t.Fatal("it is not durable while it waits")
			}
			if err := tt.end(q, "private"); err != nil {
				t.Fatal(err)
			}
			if holds(t, d, "private") {
				t.Error("the file still holds it")
			}
			q = open(t, d.Reboot(disktest.Synced))
			if e := next(t, q); e.Input.ID != "stays" {
				t.Errorf("next is %s", e.Input.ID)
			}
			if s := q.Stats(); len(s.Aside) != 0 || s.User != 0 {
				t.Errorf("%+v", s)
			}
		})
	}
}

// TestForget: what was set aside and what has ended goes, what waits stays.
func TestForget(t *testing.T) {
	d := disktest.New()
	q := open(t, d)
	for _, id := range []string{"done", "aside", "other", "waits"} {
		put(t, q, text(id, "web"))
	}
	for id, end := range map[string]func(string) error{"done": q.Done, "aside": q.Aside, "other": q.Aside} {
		if err := end(id); err != nil {
			t.Fatal(err)
		}
	}
	if err := q.Forget(func(in plugin.Input) bool { return in.ID != "aside" }); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]bool{"done": false, "aside": false, "other": true, "waits": true} {
		if got := holds(t, d, "text of "+id); got != want {
			t.Errorf("%s: in the file %v, want %v", id, got, want)
		}
	}
	q = open(t, d.Reboot(disktest.Synced))
	if s := q.Stats(); len(s.Aside) != 1 || s.Aside[0].ID != "other" || s.User != 1 {
		t.Errorf("%+v", s)
	}
}

func holds(t *testing.T, d *disktest.Disk, words string) bool {
	t.Helper()
	b, err := d.ReadFile(logPath)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Contains(string(b), words)
}
