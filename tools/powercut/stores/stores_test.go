package stores_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"homeagent/agent/mind"
	"homeagent/agent/plugin"
	"homeagent/agent/queue"
	"homeagent/memory"
	"homeagent/memory/disk"
	"homeagent/tools/powercut/ledger"
	"homeagent/tools/powercut/stores"
)

// due is what the made-up house has acknowledged.
var due = []ledger.Expectation{
	{Write: ledger.Write{Kind: ledger.Input, Name: "waits", Value: "hello"}},
	{Write: ledger.Write{Kind: ledger.Input, Name: "answered", Value: "good day"}},
	{Write: ledger.Write{Kind: ledger.Answer, Name: "answered", Value: "to you too"}},
	{Write: ledger.Write{Kind: ledger.Fact, Name: "Anna", Value: "likes tea"}},
	{Write: ledger.Write{Kind: ledger.Timer, Name: "egg", Value: ledger.Present}},
	{Write: ledger.Write{Kind: ledger.Secret, Name: "llm", Value: "s3cret"}},
	{Write: ledger.Write{Kind: ledger.Config, Name: "memory.keep", Value: "31"}},
	{Write: ledger.Write{Kind: ledger.Token, Name: "phone", Value: ledger.Present}},
	{Write: ledger.Write{Kind: ledger.Claim, Name: "owner"}},
	{Write: ledger.Write{Kind: ledger.Given, Name: "llm_key", Value: "given-key"}},
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// house makes partitions that hold all of it.
func house(t *testing.T) (stores.House, string) {
	t.Helper()
	top := t.TempDir()
	h := stores.House{Setup: filepath.Join(top, "setup"), Data: filepath.Join(top, "data"), Clock: "system/clock", Built: time.Unix(1_700_000_000, 0)}
	dir := filepath.Join(h.Data, stores.Folder)
	for _, d := range []string{h.Setup, filepath.Join(dir, "secrets"), filepath.Join(h.Data, "system")} {
		must(t, os.MkdirAll(d, 0o700))
	}
	file := func(path, text string) { must(t, os.WriteFile(path, []byte(text), 0o600)) }
	file(filepath.Join(h.Setup, "homeagent.txt"), "llm_key = given-key\n")
	file(filepath.Join(h.Data, "system", "clock"), "1800000000\n")
	file(filepath.Join(dir, "config.yaml"), "memory:\n  keep: 31\n")
	file(filepath.Join(dir, "secrets", "llm"), "s3cret")

	ctx := context.Background()
	m, notices, err := memory.Open(dir, memory.Options{})
	if err != nil || len(notices) > 0 {
		t.Fatal(err, notices)
	}
	now := time.Now()
	must(t, m.EndTurn(ctx, mind.Turn{ID: "answered", Input: plugin.Input{ID: "answered", Source: "web", Type: plugin.Text, Payload: "good day", Time: now},
		Outcome: mind.Answered, Final: "to you too", Started: now, Ended: now}))
	must(t, m.Commit(ctx, []plugin.Triple{{Subject: "Anna", Relation: "likes", Object: "tea"}}, "test"))
	timer, err := json.Marshal(map[string]string{"id": "1", "label": "egg"})
	must(t, err)
	must(t, m.Store("timer").Put("timer/1", timer))
	must(t, m.Close())

	q, err := queue.Open(disk.OS{}, filepath.Join(dir, "queue.log"), nil)
	must(t, err)
	must(t, q.Put(plugin.Input{ID: "waits", Source: "web", Payload: "hello"}, nil))
	must(t, q.Close())

	db, err := bolt.Open(filepath.Join(dir, "door.db"), 0o600, nil)
	must(t, err)
	must(t, db.Update(func(tx *bolt.Tx) error {
		for bucket, name := range map[string]string{"accounts": "owner", "tokens": "phone"} {
			b, err := tx.CreateBucket([]byte(bucket))
			if err != nil {
				return err
			}
			if err := b.Put([]byte("key"), []byte(`{"name":"`+name+`"}`)); err != nil {
				return err
			}
		}
		return nil
	}))
	must(t, db.Close())
	return h, dir
}

func TestLookFindsAll(t *testing.T) {
	h, _ := house(t)
	for range 2 { // looking takes nothing away
		if lost := ledger.Judge(due, h.Look(t.Context(), due)); len(lost) > 0 {
			t.Errorf("%q", lost)
		}
	}
}

// Each loss and each damage is found, and nothing else with it.
func TestLookMisses(t *testing.T) {
	truncate := func(name string, n int64) func(*testing.T, stores.House, string) {
		return func(t *testing.T, _ stores.House, dir string) { must(t, os.Truncate(filepath.Join(dir, name), n)) }
	}
	write := func(name, text string) func(*testing.T, stores.House, string) {
		return func(t *testing.T, _ stores.House, dir string) {
			must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
		}
	}
	remove := func(name string) func(*testing.T, stores.House, string) {
		return func(t *testing.T, _ stores.House, dir string) { must(t, os.Remove(filepath.Join(dir, name))) }
	}
	for _, row := range []struct {
		name  string
		spoil func(*testing.T, stores.House, string)
		want  []string // begins of the sentences
	}{
		{"the queue is gone", remove("queue.log"), []string{"input waits is missing"}},
		{"the queue is torn", truncate("queue.log", 20), []string{"input waits is missing"}},
		{"state.db is gone", remove("state.db"), []string{`timer "egg" is missing`}},
		{"state.db is empty", truncate("state.db", 0), []string{"damaged: memory:", "damaged: state.db.bad-", `timer "egg"`}},
		{"the journal is gone", func(t *testing.T, _ stores.House, dir string) {
			must(t, os.RemoveAll(filepath.Join(dir, "memory", "raw")))
		},
			[]string{"input answered is missing", "answer answered is missing"}},
		{"graph.db is gone", remove("memory/graph.db"), []string{"fact Anna likes tea is missing"}},
		{"graph.db is cut", truncate("memory/graph.db", 5000), []string{"damaged: graph.db: ", "damaged: memory: ", "damaged: memory/graph.db.bad-", "fact Anna"}},
		{"door.db is empty", truncate("door.db", 0), []string{"damaged: door.db: the file is empty", `token "phone"`, "the owner's account"}},
		{"door.db is cut", truncate("door.db", 9000), []string{"damaged: door.db: ", `token "phone"`, "the owner's account"}},
		{"door.db is noise", write("door.db", strings.Repeat("noise", 5000)), []string{"damaged: door.db: ", `token "phone"`, "the owner's account"}},
		{"config.yaml is empty", truncate("config.yaml", 0), []string{"damaged: config.yaml: the file is empty", "config memory.keep is missing"}},
		{"config.yaml is broken", write("config.yaml", "memory: ["), []string{"damaged: config.yaml: ", "config memory.keep is missing"}},
		{"config.yaml is old", write("config.yaml", "memory: {keep: 30}"), []string{`config memory.keep is "30", want "31"`}},
		{"a secret is empty", truncate("secrets/llm", 0), []string{"damaged: secret llm is empty", "secret llm has another value"}},
		{"a secret is half", truncate("secrets/llm", 3), []string{"secret llm has another value"}},
		{"a timer is noise", func(t *testing.T, _ stores.House, dir string) {
			m, _, err := memory.Open(dir, memory.Options{})
			must(t, err)
			must(t, m.Store("timer").Put("timer/1", []byte("noise")))
			must(t, m.Close())
		}, []string{"damaged: timer timer/1", `timer "egg"`}},
		{"the clock is garbage", func(t *testing.T, h stores.House, _ string) {
			must(t, os.WriteFile(filepath.Join(h.Data, "system", "clock"), []byte("\x00\x00"), 0o600))
		}, []string{"damaged: the saved clock: "}},
		{"the clock is in 1970", func(t *testing.T, h stores.House, _ string) {
			must(t, os.WriteFile(filepath.Join(h.Data, "system", "clock"), []byte("12"), 0o600))
		}, []string{"damaged: the saved clock is 1970"}},
		{"what was given is blanked too early", func(t *testing.T, h stores.House, _ string) {
			must(t, os.WriteFile(filepath.Join(h.Setup, "homeagent.txt"), []byte("llm_key =\n"), 0o600))
		}, []string{"given llm_key is missing"}},
		{"no data folder", func(t *testing.T, _ stores.House, dir string) { must(t, os.RemoveAll(dir)) },
			[]string{"input waits", "input answered", "answer answered", "fact Anna", `timer "egg"`, "secret llm", "config memory.keep", `token "phone"`, "the owner's account"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			h, dir := house(t)
			row.spoil(t, h, dir)
			lost := ledger.Judge(due, h.Look(t.Context(), due))
			if !slices.EqualFunc(lost, row.want, strings.HasPrefix) {
				t.Errorf("got %q, want %q", lost, row.want)
			}
		})
	}
}

// What was taken over from the setup partition may be in the house alone.
func TestGivenMayHaveMoved(t *testing.T) {
	h, dir := house(t)
	must(t, os.WriteFile(filepath.Join(h.Setup, "homeagent.txt"), []byte("llm_key =\n"), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "secrets", "openai"), []byte("given-key"), 0o600))
	if lost := ledger.Judge(due, h.Look(t.Context(), due)); len(lost) > 0 {
		t.Errorf("%q", lost)
	}
}
