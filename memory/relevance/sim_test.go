package relevance_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"homeagent/agent/provider"
	"homeagent/agent/tool"
	"homeagent/memory/relevance"
)

var seed = flag.Uint64("seed", uint64(time.Now().UnixNano()), "seed of the simulation")

// model is the plain memory that the context is held against: what was
// appended, in order, and how much of it was saved.
type model struct {
	all   []provider.Message
	saved int
	kept  map[string]provider.Message // taken over into documents
}

// TestContextAgainstAPlainModel appends, prunes, saves, moves what was pruned,
// and loses power at random. After each step the live events are some of what
// was appended, in order and unaltered, and no pair was parted; after each run
// they, the pruned and the moved ones are all of it.
func TestContextAgainstAPlainModel(t *testing.T) {
	t.Logf("seed %d (repeat with -seed)", *seed)
	rnd := rand.New(rand.NewPCG(*seed, 1))
	topics := []string{"钥匙在门垫下面", "the car is parked in the yard", "妈妈的生日是三月", "weather", "", "WiFi密码 1234"}
	for run := range 5 {
		d := open(t)
		c, _ := load(t, d)
		m := model{kept: map[string]provider.Message{}}
		add := func(msgs ...provider.Message) {
			c.Append(msgs...)
			m.all = append(m.all, msgs...)
		}
		n := 0
		for step := range 150 {
			switch rnd.IntN(9) {
			case 0:
				c.Prune(topics[rnd.IntN(len(topics))])
				if c.Len() >= relevance.DefaultMax {
					t.Fatalf("run %d step %d: %d events after a prune", run, step, c.Len())
				}
			case 1:
				save(t, d, c)
				m.saved = len(m.all)
			case 2:
				if rnd.IntN(4) == 0 { // the power goes
					c, _ = load(t, d)
					m.all = m.all[:m.saved]
				}
			case 3:
				gone, _ := take(t, d, 1+rnd.IntN(20))
				for _, g := range gone {
					m.kept[g.Message.ID] = g.Message
				}
				if rnd.IntN(3) > 0 { // else the power goes between the two
					drop(t, d, gone)
				}
			case 4:
				n++
				a := calls(fmt.Sprintf("%d.call%d", run, n), 1+rnd.IntN(4))
				add(a)
				var late []tool.Call
				for _, call := range a.Calls {
					if rnd.IntN(5) == 0 {
						late = append(late, call)
						continue
					}
					add(result(call, topics[rnd.IntN(len(topics))]))
				}
				c.Prune("钥匙") // in the middle of a round
				for _, call := range late {
					add(result(call, "late"))
				}
			default:
				for range 1 + rnd.IntN(6) {
					n++
					add(user(fmt.Sprintf("%d.u%d", run, n), topics[rnd.IntN(len(topics))]))
				}
			}
			checkContext(t, fmt.Sprintf("run %d step %d", run, step), c, &m)
		}
		save(t, d, c)
		both := map[string]provider.Message{}
		for _, msg := range append(pruned(t, d), c.Window()...) {
			if _, twice := both[msg.ID]; twice {
				t.Fatalf("%s is in two places", msg.ID)
			}
			both[msg.ID] = msg
		}
		for id, msg := range m.kept {
			if slices.ContainsFunc(c.Window(), func(x provider.Message) bool { return x.ID == id }) {
				t.Fatalf("%s was moved and is live", id)
			}
			both[id] = msg
		}
		if n := uint64(len(both) - c.Len()); n != c.Moved() {
			t.Fatalf("%d pruned, %d counted", n, c.Moved())
		}
		for _, want := range m.all {
			if got, ok := both[want.ID]; !ok || !reflect.DeepEqual(got, want) {
				t.Fatalf("run %d: %s: got %+v, want %+v", run, want.ID, got, want)
			}
		}
		if len(both) != len(m.all) {
			t.Fatalf("%d events of %d", len(both), len(m.all))
		}
	}
}

func checkContext(t *testing.T, where string, c *relevance.Context, m *model) {
	t.Helper()
	live := c.Window()
	at := -1
	calls := map[string]bool{}
	answers := map[string]bool{}
	for _, msg := range live {
		i := slices.IndexFunc(m.all, func(x provider.Message) bool { return x.ID == msg.ID })
		if i <= at {
			t.Fatalf("%s: %s is out of order or unknown", where, msg.ID)
		}
		at = i
		if !reflect.DeepEqual(msg, m.all[i]) {
			t.Fatalf("%s: %s was altered", where, msg.ID)
		}
		for _, call := range msg.Calls {
			calls[call.ID] = true
		}
		if msg.Role == provider.Tool {
			answers[msg.CallID] = true
			if !calls[msg.CallID] {
				t.Fatalf("%s: the answer %s stays without its call", where, msg.ID)
			}
		}
	}
	for _, msg := range m.all {
		if msg.Role == provider.Tool && calls[msg.CallID] && !answers[msg.CallID] {
			t.Fatalf("%s: the call %s stays without its answer", where, msg.CallID)
		}
	}
	if n := len(m.all); n > 0 && (len(live) == 0 || live[len(live)-1].ID != m.all[n-1].ID) {
		t.Fatalf("%s: the newest event went", where)
	}
}
