package queue

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"homeagent/agent/plugin"
	"homeagent/agent/provider"
	"homeagent/agent/tool"
	"homeagent/memory/disk"
	"homeagent/memory/disk/disktest"
)

func TestUnreadableRecordsAreKeptAside(t *testing.T) {
	d := disktest.New()
	l, err := disk.OpenLog(d, logPath, nil)
	if err != nil {
		t.Fatal(err)
	}
	good, _ := encode(record{Kind: kInput, ID: "x", Input: &plugin.Input{ID: "x", Source: "web", Payload: "hello"}})
	for _, rec := range []string{"garbage", string(good), `{"k":"dream","id":"x"}`, `{"k":"done"}`} {
		if err := l.Append([]byte(rec), true); err != nil {
			t.Fatal(err)
		}
	}
	q := open(t, d)
	if s := q.Stats(); s.Unreadable != 3 || s.User != 1 {
		t.Errorf("stats: %+v", s)
	}
	kept := ""
	for _, n := range d.Names() {
		if strings.HasPrefix(filepath.Base(n), "queue.log.bad-") {
			b, _ := d.ReadFile(n)
			kept = string(b)
		}
	}
	if !strings.Contains(kept, "garbage") || !strings.Contains(kept, "dream") {
		t.Errorf("kept aside: %q", kept)
	}
}

// TestFaultAtEveryCall lets each call to the file system fail in every way and
// cuts the power afterwards. What was acknowledged is there; what was refused
// for a reason that left the log sound is not.
func TestFaultAtEveryCall(t *testing.T) {
	type acks struct {
		put, refused map[string]bool
		step         map[string]bool
		done         bool
	}
	program := func(q *Queue) acks {
		a := acks{map[string]bool{}, map[string]bool{}, map[string]bool{}, false}
		for _, id := range []string{"x", "y", "z"} {
			err := q.Put(text(id, "web"), nil)
			a.put[id] = err == nil
			a.refused[id] = err != nil && !errors.Is(err, disk.ErrBroken) && !errors.Is(err, disktest.ErrStopped)
		}
		if !a.put["x"] {
			return a
		}
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if e, err := q.Next(ctx); err != nil || e.Input.ID != "x" {
			return a
		}
		for _, s := range steps(q, "x") {
			if s.name == "done" {
				a.done = true
			}
			if s.do() == nil {
				a.step[s.name] = true
			}
		}
		return a
	}
	clean := disktest.New()
	q0 := open(t, clean)
	clean.FaultAt(0, disktest.Fail)
	program(q0)
	total := clean.Calls()
	if total < 10 {
		t.Fatalf("the program makes %d calls only", total)
	}
	for _, fault := range disktest.Faults {
		for n := 1; n <= total; n++ {
			d := disktest.New()
			q := open(t, d)
			d.FaultAt(n, fault)
			a := program(q)
			for _, keep := range disktest.Keeps {
				name := fmt.Sprintf("%v at %d, %v kept", fault, n, keep)
				q := open(t, d.Reboot(keep))
				found := map[string]*Entry{}
				ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
				defer cancel()
				for q.Stats().User > 0 {
					e, err := q.Next(ctx)
					if err != nil {
						t.Fatal(err)
					}
					found[e.Input.ID] = e
				}
				for id, acked := range a.put {
					if acked && found[id] == nil && !(id == "x" && a.done) {
						t.Errorf("%s: the acknowledged input %s is lost", name, id)
					}
					if a.refused[id] && found[id] != nil {
						t.Errorf("%s: the refused input %s is there", name, id)
					}
				}
				if e := found["x"]; e != nil && !a.done {
					if a.step["begin"] && e.Calls["c1"].Begun == nil {
						t.Errorf("%s: the begin of a call is lost", name)
					}
					if a.step["final"] && e.Final == nil {
						t.Errorf("%s: the answer is lost", name)
					}
				}
			}
		}
	}
}

func TestFullDiskSaysSo(t *testing.T) {
	d := disktest.New()
	q := open(t, d)
	put(t, q, text("x", "web"))
	d.FaultAt(1, disktest.Full)
	var f *plugin.Fault
	err := q.Put(plugin.Input{ID: "y", Source: "web", Payload: "你好"}, nil)
	if !errors.As(err, &f) || f.Status != 507 || !strings.Contains(f.Title, "存储空间满了") {
		t.Errorf("got %v", err)
	}
	if err := q.Begin("x", tool.Call{ID: "c", Name: "lamp"}); !disk.IsFull(err) {
		t.Errorf("a call may begin on a full disk: %v", err)
	}
	d.FaultAt(0, disktest.Fail) // room again
	put(t, q, text("z", "web"))
	if s := open(t, d.Reboot(disktest.Synced)).Stats(); s.User != 2 {
		t.Errorf("found after the full disk: %+v", s)
	}
}

func FuzzDecode(f *testing.F) {
	for _, r := range []record{
		{Kind: kInput, ID: "x", Input: &plugin.Input{ID: "x", Source: "web", Payload: "你好", Media: []provider.Media{{MIME: "a/b", Data: []byte{1}}}}},
		{Kind: kStart, ID: "x"},
		{Kind: kRound, ID: "x", Round: &Round{Calls: []tool.Call{{ID: "c", Name: "n", Args: json.RawMessage(`{"a":1}`)}}}},
		{Kind: kBegin, ID: "x", Call: &tool.Call{ID: "c"}},
		{Kind: kEnd, ID: "x", Result: &tool.Result{CallID: "c", Status: tool.Done}, Raw: true},
		{Kind: kFinal, ID: "x", Final: &Final{Text: "t"}},
	} {
		b, err := encode(r)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte(`{"k":"round","id":"x","round":{"calls":[{}]}}`))
	f.Add([]byte("\x00\xff"))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := decode(b)
		if err != nil {
			return
		}
		once, err := encode(r)
		if err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		again, err := decode(once)
		if err != nil {
			t.Fatalf("what was written cannot be read: %v", err)
		}
		twice, err := encode(again)
		if err != nil || !bytes.Equal(once, twice) {
			t.Errorf("%s\n%s\n%v", once, twice, cmp.Diff(string(once), string(twice)))
		}
		q := &Queue{items: map[string]*item{}, wake: make(chan struct{}, 1)}
		q.replay(record{Kind: kInput, ID: r.ID, Input: &plugin.Input{ID: r.ID}}, 1)
		q.replay(r, 1)
		q.replay(r, 1)
	})
}
