package document_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"homeagent/agent/provider"
	"homeagent/agent/tool"
	"homeagent/memory/document"
)

func TestEventsShareDocuments(t *testing.T) {
	dir := t.TempDir()
	s := openAt(t, dir, document.Options{})
	put(t, s, append(events("voice", 0, 10), events("web", 0, 5)...)...)
	put(t, s, events("voice", 10, 10)...)
	next := event("voice", 30)
	next.Time = next.Time.Add(24 * time.Hour)
	put(t, s, next)
	if got, want := titles(t, s), []string{"2026-12-01 voice", "2026-12-01 web", "2026-12-02 voice"}; !slices.Equal(got, want) {
		t.Fatalf("got %q, want %q", got, want)
	}
	t.Run("order is that of Seq", func(t *testing.T) {
		put(t, s, event("voice", 25), event("voice", 22))
		d := all(t, s)[0]
		if !slices.IsSortedFunc(d.Events, func(a, b document.Event) int { return int(a.Seq - b.Seq) }) || len(d.Events) != 22 {
			t.Fatalf("%q", eventIDs([]document.Document{d}))
		}
	})
	t.Run("a full document is followed by another", func(t *testing.T) {
		put(t, s, events("voice", 100, document.MaxEvents)...)
		docs := all(t, s)
		if n := len(eventIDs(docs)); n != 22+5+1+document.MaxEvents {
			t.Fatalf("%d events", n)
		}
		for _, d := range docs {
			if len(d.Events) > document.MaxEvents {
				t.Fatalf("%s has %d events", d.ID, len(d.Events))
			}
		}
	})
	t.Run("size bounds them too", func(t *testing.T) {
		var evs []document.Event
		for i := range 8 {
			e := event("console", i)
			e.Text = strings.Repeat("钥匙", 5000)
			evs = append(evs, e)
		}
		evs[3].Text = strings.Repeat("x", 1<<20) // larger than a document
		put(t, s, evs...)
		n := 0
		for _, d := range all(t, s) {
			if d.Stream == "console" {
				n++
			}
		}
		if n != 5 { // 2, 1 and the big one, 2, 2: 30 kB each
			t.Fatalf("%d documents", n)
		}
	})
	t.Run("as after a restart", func(t *testing.T) {
		before := all(t, s)
		closeStore(t, s)
		s = openAt(t, dir, document.Options{})
		if got := all(t, s); !reflect.DeepEqual(got, before) {
			t.Fatal("other documents")
		}
	})
}

// TestTheSameMoveTwice: the second gives the same answer and writes nothing.
func TestTheSameMoveTwice(t *testing.T) {
	dir := t.TempDir()
	s := openAt(t, dir, document.Options{})
	evs := append(events("voice", 0, 20), events("web", 3, 9)...)
	first := put(t, s, evs...)
	before, syncs := all(t, s), s.Syncs()
	if again := put(t, s, evs...); !reflect.DeepEqual(again, first) || s.Syncs() != syncs {
		t.Fatalf("%d syncs, got %+v", s.Syncs()-syncs, again)
	}
	closeStore(t, s)
	s = openAt(t, dir, document.Options{Location: time.FixedZone("far", 14*3600)}) // its days end elsewhere
	put(t, s, append(evs, evs...)...)
	if got := all(t, s); !reflect.DeepEqual(got, before) {
		t.Fatalf("got %d events, had %d", len(eventIDs(got)), len(eventIDs(before)))
	}
	// One that is new among known ones goes in, the others stay.
	put(t, s, append(evs, event("voice", 50))...)
	ids := eventIDs(all(t, s))
	slices.Sort(ids)
	if len(ids) != 30 || len(slices.Compact(ids)) != 30 {
		t.Fatalf("%d events", len(ids))
	}
	held, err := s.Has(context.Background(), evs[0].ID, "nobody's")
	if err != nil || len(held) != 1 || held[evs[0].ID] != first[0].ID {
		t.Fatal(held, err)
	}
}

// TestMovesCostFewSyncs: two for the file of the day, one more where the document
// is new or its mark was taken off, two for the folder's name.
func TestMovesCostFewSyncs(t *testing.T) {
	s := openAt(t, t.TempDir(), document.Options{})
	want := []int64{4, 2, 2, 3}
	for i, n := range want {
		if i == 3 {
			if err := s.Flush(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
		before := s.Syncs()
		put(t, s, events("voice", i*15, 15)...)
		if got := s.Syncs() - before; got != n {
			t.Fatalf("move %d: %d syncs, want %d", i, got, n)
		}
	}
}

func TestACallStaysWithItsAnswers(t *testing.T) {
	s := openAt(t, t.TempDir(), document.Options{})
	put(t, s, events("voice", 0, document.MaxEvents-1)...)
	call, answer := event("voice", 300), event("voice", 302)
	call.Calls = []tool.Call{{ID: "c1", Name: "look", Args: []byte(`{}`)}}
	answer.CallID = "c1"
	put(t, s, call, event("voice", 301), answer)
	for _, d := range all(t, s) {
		ids := eventIDs([]document.Document{d})
		if slices.Contains(ids, call.ID) != slices.Contains(ids, answer.ID) {
			t.Fatalf("parted: %q", ids)
		}
	}
}

func TestAnEventThatCannotBeKept(t *testing.T) {
	s := openAt(t, t.TempDir(), document.Options{})
	huge := event("voice", 1)
	huge.Text = strings.Repeat("x", document.MaxText+1)
	moved, err := s.PutEvents(context.Background(), []document.Event{event("voice", 0), huge, {Text: "no id"}, event("voice", 2)})
	if !errors.Is(err, document.ErrTooBig) || !errors.Is(err, document.ErrInvalid) {
		t.Fatal(err)
	}
	if got := eventIDs(moved); !slices.Equal(got, []string{event("voice", 0).ID, event("voice", 2).ID}) {
		t.Fatalf("moved %q", got)
	}
}

func TestAnEventKeepsEveryField(t *testing.T) {
	m := provider.Message{ID: "t1/a", Time: noon, Role: provider.Assistant, Content: "text \u2028 <&> 🐶 \x00", Reasoning: "because",
		Calls: []tool.Call{{ID: "c", Name: "look", Args: []byte(`{"a":1}`)}}, NoMemory: true,
		Media: []provider.Media{{MIME: "image/png", Name: "x", Data: []byte{0, 1, 255}}}}
	r := provider.Message{ID: "t1/r", Role: provider.Tool, Name: "look", CallID: "c", Status: tool.Failed, Content: "no"}
	u := provider.Message{ID: "t1/u", Role: provider.User, User: "mama", Source: "voice", Content: "看看"}
	evs := []document.Event{document.FromMessage(u, "t1", "voice", 1), document.FromMessage(m, "t1", "voice", 2), document.FromMessage(r, "t1", "voice", 3)}
	if evs[1].Media[0].Data != nil || m.Media[0].Data == nil || evs[0].Speaker != "mama" || evs[2].Tool != "look" {
		t.Fatalf("%+v", evs)
	}
	s := openAt(t, t.TempDir(), document.Options{Now: func() time.Time { return noon }})
	put(t, s, evs...)
	got := all(t, s)[0].Events
	for i := range got {
		// Arguments are set out with blanks in the file, which changes no value.
		for j := range got[i].Calls {
			got[i].Calls[j].Args = []byte(strings.Join(strings.Fields(string(got[i].Calls[j].Args)), ""))
		}
	}
	if !reflect.DeepEqual(got, evs) {
		t.Fatalf("got  %+v\nwant %+v", got, evs)
	}
}

func TestPassages(t *testing.T) {
	e := func(role provider.Role, text string, change func(*document.Event)) document.Event {
		ev := event("voice", 7)
		ev.Role, ev.Text = string(role), text
		if change != nil {
			change(&ev)
		}
		return ev
	}
	cleaner := func(clean string) func(string) func(string) string {
		return func(name string) func(string) string {
			if name != "look" {
				return nil
			}
			return func(string) string { return clean }
		}
	}
	look := func(ev *document.Event) { ev.Tool = "look" }
	long := strings.Repeat(strings.Repeat("钥匙在哪里。", 80)+"\n\n", 5)
	tests := []struct {
		name  string
		event document.Event
		clean func(string) func(string) string
		want  []string // text|clean
	}{
		{"a sentence", e(provider.User, " 钥匙在哪？ ", nil), nil, []string{"钥匙在哪？|"}},
		{"nothing said", e(provider.Assistant, "", nil), nil, nil},
		{"NoMemory", e(provider.User, "secret", func(ev *document.Event) { ev.NoMemory = true }), nil, nil},
		{"cleaned", e(provider.Tool, "<b>key</b>", look), cleaner("key"), []string{"<b>key</b>|key"}},
		{"cleaned away", e(provider.Tool, "<b>key</b>", look), cleaner(" "), nil},
		{"another tool's", e(provider.Tool, "<b>key</b>", nil), cleaner("key"), []string{"<b>key</b>|"}},
		{"the user's words are not cleaned", e(provider.User, "key", look), cleaner("x"), []string{"key|"}},
		{"a long one", e(provider.User, long, nil), nil, slices.Repeat([]string{strings.Repeat("钥匙在哪里。", 80) + "|"}, 5)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ps := document.Passages(document.Document{ID: "d", Events: []document.Event{tt.event}}, tt.clean)
			var got []string
			for i, p := range ps {
				got = append(got, p.Text+"|"+p.Clean)
				id := tt.event.ID
				if i > 0 {
					id = fmt.Sprintf("%s#%d", id, i+1)
				}
				if p.ID != id || p.Doc != "d" || p.Stream != "voice" || p.Seq != 7000 || p.Speaker != "mama" || !slices.Equal(p.From, []string{tt.event.ID}) {
					t.Fatalf("passage %+v", p)
				}
			}
			if !slices.Equal(got, tt.want) {
				t.Fatalf("got %q, want %q", got, tt.want)
			}
		})
	}
	t.Run("a text of its own", func(t *testing.T) {
		ps := document.Passages(document.Document{ID: "d", Title: "开锁", Text: long, Updated: noon}, nil)
		if len(ps) != 5 || ps[1].ID != "doc:d#2" || ps[1].Stream != "doc:d" || ps[1].Seq != 1 || !strings.HasPrefix(ps[1].Clean, "开锁\n") || !slices.Equal(ps[1].From, []string{"d"}) {
			t.Fatalf("%+v", ps)
		}
	})
}
