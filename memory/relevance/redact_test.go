package relevance_test

import (
	"slices"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"

	"homeagent/agent/provider"
	"homeagent/memory/relevance"
)

// TestRedact: what is to be forgotten is gone from the live events, from those
// pruned and not saved, from those that wait, and stays so.
func TestRedact(t *testing.T) {
	d := open(t)
	c, _ := load(t, d)
	secret := func(m provider.Message) bool { return !strings.Contains(m.Content, "secret") }
	c.Append(user("s1", "secret"), user("p1", "other"))
	chat(c, 0, 43)
	c.Prune("")
	save(t, d, c) // s1 and p1 wait
	a := calls("a", 2)
	c.Append(user("s2", "secret"))
	chat(c, 50, 14)
	c.Prune("") // s2 is not among the fresh
	c.Append(a, result(a.Calls[0], "the secret"), result(a.Calls[1], "fine"), user("last", "x"))
	before := c.Len()
	gone := c.Redact(secret)
	for _, id := range []string{"a", "ra.0", "ra.1"} {
		if !slices.Contains(gone, id) || slices.Contains(ids(c.Window()), id) {
			t.Fatalf("%s: gone %q", id, gone)
		}
	}
	if !slices.Contains(gone, "s2") || len(gone) != 4 || c.Len() > before-3 {
		t.Fatalf("gone %q, %d live of %d", gone, c.Len(), before)
	}
	var n int
	if err := d.Update(func(tx *bolt.Tx) (err error) { n, err = relevance.RedactPruned(tx, secret); return err }); err != nil || n != 1 {
		t.Fatal(n, err)
	}
	save(t, d, c)
	c.Append(a, user("s2", "secret")) // by a turn that is taken up again
	save(t, d, c)
	c, _ = load(t, d)
	for _, m := range append(c.Window(), pruned(t, d)...) {
		if !secret(m) || m.ID == "a" {
			t.Fatalf("%s is back", m.ID)
		}
	}
	if !slices.Contains(ids(pruned(t, d)), "p1") || !slices.Contains(ids(c.Window()), "last") {
		t.Fatal("others went too")
	}
}

// TestRedactAfterASave: saved events leave the database with the next save, also
// where the save before is not yet confirmed.
func TestRedactAfterASave(t *testing.T) {
	d := open(t)
	c, _ := load(t, d)
	chat(c, 0, 45)
	c.Prune("")
	var done func()
	if err := d.Update(func(tx *bolt.Tx) (err error) { done, err = c.SaveTx(tx); return err }); err != nil {
		t.Fatal(err)
	}
	none := func(provider.Message) bool { return false }
	if n := len(c.Redact(none)); n != 45 {
		t.Fatalf("%d gone", n)
	}
	done()
	save(t, d, c)
	c, _ = load(t, d)
	if c.Len() != 0 || len(pruned(t, d)) != 15 {
		t.Fatalf("%d live, %d pruned", c.Len(), len(pruned(t, d)))
	}
}
