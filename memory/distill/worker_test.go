package distill_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"homeagent/agent/mind"
	"homeagent/agent/plugin"
	"homeagent/agent/provider"
	"homeagent/agent/tool"
	"homeagent/memory/distill"
	"homeagent/memory/journal"
)

// lines is a journal in memory.
type lines struct {
	mu     sync.Mutex
	all    []journal.Line
	marked uint64
}

func (l *lines) add(turns ...mind.Turn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, t := range turns {
		l.all = append(l.all, journal.Line{Seq: uint64(len(l.all) + 1), Turn: t})
	}
}

func (l *lines) After(_ context.Context, seq uint64, limit int) ([]journal.Line, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	from := min(int(seq), len(l.all))
	return slices.Clone(l.all[from:min(from+limit, len(l.all))]), nil
}

func (l *lines) DistilledTo(_ context.Context, seq uint64) ([]string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.marked = seq
	return nil, nil
}

func (l *lines) Last() (uint64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return uint64(len(l.all)), nil
}

// shelf is a cursor in memory that counts its writes.
type shelf struct {
	mu   sync.Mutex
	p    distill.Position
	sets int
}

func (s *shelf) Get() (distill.Position, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.p
	p.Pending = slices.Clone(p.Pending)
	return p, nil
}

func (s *shelf) Set(p distill.Position) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.p, s.sets = p, s.sets+1
	return nil
}

// basket is a sink.
type basket struct {
	mu    sync.Mutex
	facts []distill.Fact
	fail  error
}

func (b *basket) Commit(_ context.Context, facts []distill.Fact) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.fail != nil {
		return b.fail
	}
	for _, f := range facts {
		if f.Turn != facts[0].Turn {
			return errors.New("facts of two turns in one call")
		}
	}
	b.facts = append(b.facts, facts...)
	return nil
}

func (b *basket) turns() (ids []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, f := range b.facts {
		ids = append(ids, f.Turn)
	}
	return ids
}

// reader is an extractor that finds one fact in each turn and notes its calls.
type reader struct {
	mu    sync.Mutex
	calls []int // turns a call
	fail  func(call int) error
	hang  bool
}

func (r *reader) Extract(ctx context.Context, events []distill.Event) (facts []distill.Fact, err error) {
	seen := map[string]bool{}
	for _, e := range events {
		if e.Role == distill.User && !seen[e.Turn] {
			seen[e.Turn] = true
			f := distill.Fact{Turn: e.Turn, Confidence: .5}
			f.Subject, f.Relation, f.Object = "thing of "+e.Turn, "is in", "box"
			facts = append(facts, f)
		}
	}
	r.mu.Lock()
	r.calls = append(r.calls, len(seen))
	n, hang := len(r.calls), r.hang
	r.mu.Unlock()
	if hang {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if r.fail != nil {
		if err := r.fail(n); err != nil {
			return nil, err
		}
	}
	return facts, nil
}

func (r *reader) count() []int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.calls)
}

// talk is a turn in which something is said.
func talk(n int, at time.Time) mind.Turn {
	id := fmt.Sprintf("t%04d", n)
	return mind.Turn{ID: id, Lang: "en", Outcome: mind.Answered, Started: at, Ended: at,
		Input: plugin.Input{ID: id, Source: "web", Type: plugin.Text, Payload: "The lamp is in the hall."},
		Messages: []provider.Message{
			{ID: id + "/u", Role: provider.User, Content: fmt.Sprintf("The lamp%d is in the hall.", n)},
			{ID: id + "/a", Role: provider.Assistant, Content: "OK."},
		}, Final: "OK."}
}

func talks(from, n int, at time.Time) (turns []mind.Turn) {
	for i := range n {
		turns = append(turns, talk(from+i, at))
	}
	return turns
}

// rig is a worker with everything it needs in memory.
type rig struct {
	*distill.Worker
	lines  lines
	shelf  shelf
	sink   basket
	model  reader
	simple reader
}

func newRig(t *testing.T, change func(*distill.Options)) *rig {
	t.Helper()
	r := &rig{}
	opts := distill.Options{Log: quiet, Journal: &r.lines, Cursor: &r.shelf, Sink: &r.sink, Extractor: &r.model, Offline: &r.simple}
	if change != nil {
		change(&opts)
	}
	w, err := distill.New(opts)
	if err != nil {
		t.Fatal(err)
	}
	r.Worker = w
	return r
}

func (r *rig) end(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := r.Close(ctx); err != nil {
		t.Fatal(err)
	}
}

func (r *rig) want(t *testing.T, where string, calls []int, seq uint64) {
	t.Helper()
	p, _ := r.shelf.Get()
	if got := r.model.count(); !slices.Equal(got, calls) || p.Seq != seq || len(p.Pending) > 0 {
		t.Fatalf("%s: calls %v, want %v; position %+v, want %d", where, got, calls, p, seq)
	}
}

func TestIntervalAndBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.Start()
		defer r.end(t)
		<-time.After(time.Hour)
		synctest.Wait()
		r.want(t, "nothing said", nil, 0)
		if r.shelf.sets != 0 {
			t.Fatalf("%d writes for nothing", r.shelf.sets)
		}
		r.lines.add(talks(0, 3, time.Now())...)
		r.Wake()
		synctest.Wait()
		r.want(t, "three turns wait for the interval", nil, 0)
		<-time.After(10 * time.Minute)
		synctest.Wait()
		r.want(t, "after the interval", []int{3}, 3)
		r.lines.add(talks(3, 120, time.Now())...)
		r.Wake()
		synctest.Wait()
		r.want(t, "a backlog begins at once", []int{3, 50, 50, 20}, 123)
		if ids := r.sink.turns(); len(ids) != 123 || !slices.IsSorted(ids) || len(slices.Compact(ids)) != 123 {
			t.Fatalf("facts of %q", ids)
		}
		if r.lines.marked != 123 {
			t.Fatalf("marked to %d", r.lines.marked)
		}
		s, err := r.Status()
		if err != nil || s.Seq != 123 || s.Backlog != 0 || s.ByModel != 4 || s.Facts != 123 || s.Running || s.LastError != "" {
			t.Fatalf("status %+v, %v", s, err)
		}
	})
}

func TestPeakHours(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// The bubble's clock begins at 2000-01-01 00:00 UTC, a Saturday.
		r := newRig(t, func(o *distill.Options) { o.Hours = distill.DeepSeekHours() })
		<-time.After(48*time.Hour + 65*time.Minute) // Monday, 9:05 in Beijing
		r.Start()
		defer r.end(t)
		r.lines.add(talks(0, 400, time.Now())...)
		r.Wake()
		synctest.Wait()
		r.want(t, "one batch", []int{50}, 50)
		if s, _ := r.Status(); !s.Deferred || s.Backlog != 350 {
			t.Fatalf("status %+v", s)
		}
		r.Wake()
		synctest.Wait()
		r.want(t, "a turn does not count as a round", []int{50}, 50)
		<-time.After(10 * time.Minute)
		synctest.Wait()
		r.want(t, "one more", []int{50, 50}, 100)
		if err := r.Run(context.Background()); err != nil { // by command all of it
			t.Fatal(err)
		}
		r.want(t, "by command", []int{50, 50, 50, 50, 50, 50, 50, 50}, 400)
		r.lines.add(talks(400, 150, time.Now().Add(-25*time.Hour))...)
		r.Wake()
		synctest.Wait()
		<-time.After(10 * time.Minute)
		synctest.Wait()
		r.want(t, "older than a day", []int{50, 50, 50, 50, 50, 50, 50, 50, 50, 50, 50}, 550)
		r.lines.add(talks(550, 1500, time.Now())...)
		<-time.After(3 * time.Hour) // past noon: cheap
		synctest.Wait()
		if p, _ := r.shelf.Get(); p.Seq != 2050 {
			t.Fatalf("off peak: %+v", p)
		}
	})
}

func TestHours(t *testing.T) {
	h := distill.DeepSeekHours()
	for at, full := range map[string]bool{
		"2026-03-16T01:00:00Z": true, "2026-03-16T00:59:00Z": false, "2026-03-16T03:59:00Z": true, "2026-03-16T04:00:00Z": false,
		"2026-03-16T06:00:00Z": true, "2026-03-16T10:00:00Z": false, "2026-03-16T16:30:00Z": false, "2026-03-14T02:00:00Z": false,
		"2026-03-16T09:30:00+08:00": true,
	} {
		tm, err := time.Parse(time.RFC3339, at)
		if err != nil || h.Full(tm) != full {
			t.Errorf("%s: %v, %v", at, h.Full(tm), err)
		}
	}
	night := distill.Hours{Zone: time.UTC, Peak: []distill.Window{{Days: []time.Weekday{time.Friday}, From: 22 * 60, To: 6 * 60}}}
	for at, full := range map[string]bool{"2026-03-20T23:00:00Z": true, "2026-03-21T05:59:00Z": true, "2026-03-21T06:00:00Z": false,
		"2026-03-21T23:00:00Z": false, "2026-03-20T05:00:00Z": false} {
		if tm, _ := time.Parse(time.RFC3339, at); night.Full(tm) != full {
			t.Errorf("night: %s: %v", at, night.Full(tm))
		}
	}
	if (distill.Hours{}).Full(time.Now()) {
		t.Error("no hours are full")
	}
}

func TestProviderFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		down := &provider.Error{Kind: provider.Network}
		r := newRig(t, func(o *distill.Options) { o.Tries = 3; o.Interval = time.Minute })
		r.model.fail = func(n int) error {
			if n <= 3 {
				return down
			}
			return nil
		}
		r.Start()
		defer r.end(t)
		r.lines.add(talks(0, 60, time.Now())...)
		r.Wake()
		synctest.Wait()
		s, _ := r.Status()
		if s.Tries != 1 || s.LastError == "" || s.Seq != 0 || !s.NextTry.Equal(time.Now().Add(time.Minute)) {
			t.Fatalf("status %+v", s)
		}
		r.Wake()
		synctest.Wait()
		if got := len(r.model.count()); got != 1 {
			t.Fatalf("%d calls before the wait was over", got)
		}
		<-time.After(10 * time.Minute) // 1 + 2 + 4 minutes of waiting
		synctest.Wait()
		s, _ = r.Status()
		if s.Seq != 60 || s.GaveUp != 1 || s.ByHeuristic != 1 || s.ByModel != 1 || s.Tries != 0 || s.LastError != "" {
			t.Fatalf("status %+v, calls %v", s, r.model.count())
		}
		if !slices.Equal(r.simple.count(), []int{50}) {
			t.Fatalf("offline calls %v", r.simple.count())
		}
	})
}

func TestOfflineByConfiguration(t *testing.T) {
	offline := true
	r := newRig(t, func(o *distill.Options) { o.OfflineOnly = func() bool { return offline } })
	r.lines.add(talks(0, 2, monday)...)
	if err := r.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	s, _ := r.Status()
	if len(r.model.count()) != 0 || s.ByHeuristic != 1 || !s.Offline || s.GaveUp != 0 {
		t.Fatalf("calls %v, %+v", r.model.count(), s)
	}
	offline = false
	r.lines.add(talk(2, monday))
	if err := r.Run(context.Background()); err != nil || len(r.model.count()) != 1 {
		t.Fatalf("calls %v, %v", r.model.count(), err)
	}
	r.end(t)
	if err := r.Run(context.Background()); !errors.Is(err, context.Canceled) {
		t.Fatalf("after Close: %v", err)
	}
}

// What a sink cannot take waits, and no model is asked again for it.
func TestSinkFails(t *testing.T) {
	r := newRig(t, nil)
	r.lines.add(talks(0, 3, monday)...)
	r.sink.fail = errors.New("disk full")
	for range 3 {
		if err := r.Run(context.Background()); err == nil {
			t.Fatal("no error")
		}
	}
	if p, _ := r.shelf.Get(); len(r.model.count()) != 1 || p.Seq != 0 || len(p.Pending) != 3 || p.Through != 3 {
		t.Fatalf("calls %v, position %+v", r.model.count(), p)
	}
	// What is forgotten meanwhile is not committed.
	err := r.Forget(context.Background(), func(f distill.Fact) bool { return f.Turn != "t0001" })
	if err != nil {
		t.Fatal(err)
	}
	r.sink.fail = nil
	if err := r.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	r.want(t, "later", []int{3}, 3)
	if got := r.sink.turns(); !slices.Equal(got, []string{"t0000", "t0002"}) {
		t.Fatalf("facts of %q", got)
	}
}

func TestCloseAndForgetInterrupt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.model.hang = true
		r.lines.add(talks(0, 60, time.Now())...)
		r.Start()
		r.Wake()
		synctest.Wait()
		if s, _ := r.Status(); !s.Running {
			t.Fatalf("status %+v", s)
		}
		if err := r.Forget(context.Background(), func(distill.Fact) bool { return false }); err != nil {
			t.Fatal(err)
		}
		if s, _ := r.Status(); s.Tries != 0 || s.Seq != 0 {
			t.Fatalf("an interruption counts as a failure: %+v", s)
		}
		<-time.After(10 * time.Minute)
		synctest.Wait()
		if s, _ := r.Status(); !s.Running || len(r.model.count()) != 2 {
			t.Fatalf("not tried again: %+v", s)
		}
		<-time.After(15 * time.Minute) // the deadline of one extraction
		synctest.Wait()
		if s, _ := r.Status(); s.Tries != 1 {
			t.Fatalf("no deadline: %+v", s)
		}
		<-time.After(10 * time.Minute)
		synctest.Wait()
		begin := time.Now()
		r.end(t)
		if !time.Now().Equal(begin) {
			t.Fatal("closing waited")
		}
		r.end(t)
	})
}

func TestWhatIsRead(t *testing.T) {
	at := monday
	base := func(change func(*mind.Turn)) mind.Turn {
		turn := mind.Turn{ID: "t", Lang: "en", Outcome: mind.Answered, Started: at,
			Input: plugin.Input{ID: "t", Source: "web", Type: plugin.Text, UserID: "Anna"},
			Messages: []provider.Message{
				{ID: "u", Role: provider.User, Content: "Look it up"},
				{ID: "c", Role: provider.Assistant, Content: "thinking aloud", Calls: []tool.Call{{ID: "1", Name: "mail"}}},
				{ID: "r", Role: provider.Tool, Name: "mail", CallID: "1", Content: "<b>output</b>"},
				{ID: "a", Role: provider.Assistant, Content: "The parcel is in the hall."},
			}}
		if change != nil {
			change(&turn)
		}
		return turn
	}
	tests := []struct {
		name   string
		change func(*mind.Turn)
		reader distill.Reader
		want   string
	}{
		{"plain", nil, distill.Reader{}, "u:Look it up r:<b>output</b> a:The parcel is in the hall."},
		{"a cleaner", nil, distill.Reader{Cleaner: func(name string) func(string) string {
			return func(s string) string { return name + " cleaned" }
		}}, "u:Look it up r:mail cleaned a:The parcel is in the hall."},
		{"a tool without memory", func(m *mind.Turn) { m.NoMemoryTools = []string{"mail"} }, distill.Reader{}, "u:Look it up a:The parcel is in the hall."},
		{"a tool without memory now", nil, distill.Reader{NoMemory: func(name string) bool { return name == "mail" }}, "u:Look it up a:The parcel is in the hall."},
		{"a message without memory", func(m *mind.Turn) { m.Messages[0].NoMemory = true }, distill.Reader{}, "r:<b>output</b> a:The parcel is in the hall."},
		{"an echo of memory", func(m *mind.Turn) { m.Calls = []tool.Call{{Name: "memory_recall"}} }, distill.Reader{}, "u:Look it up r:<b>output</b>"},
		{"internal", func(m *mind.Turn) { m.Input.Source = "_consolidation_" }, distill.Reader{}, ""},
		{"probe", func(m *mind.Turn) { m.Input.Source = "_probe_" }, distill.Reader{}, ""},
		{"without memory", func(m *mind.Turn) { m.Input.NoMemory = true }, distill.Reader{}, ""},
		{"a control intent", func(m *mind.Turn) { m.Outcome = mind.Controlled }, distill.Reader{}, ""},
		{"no answer", func(m *mind.Turn) { m.Outcome = mind.NoAnswer }, distill.Reader{}, "u:Look it up r:<b>output</b>"},
		{"no messages", func(m *mind.Turn) { m.Messages = nil; m.Input.Payload = "I like tea" }, distill.Reader{}, "t:I like tea"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, e := range tt.reader.Events(base(tt.change)) {
				got = append(got, e.ID+":"+e.Text)
				if e.Turn != "t" || e.Speaker != "Anna" || !e.Time.Equal(at) || e.Lang != "en" {
					t.Errorf("event %+v", e)
				}
			}
			if s := strings.Join(got, " "); s != tt.want {
				t.Errorf("got %q, want %q", s, tt.want)
			}
		})
	}
	long := base(func(m *mind.Turn) { m.Messages[0].Content = strings.Repeat("字", 5000); m.Input.UserID = "10086" })
	if e := (distill.Reader{}).Events(long)[0]; len(e.Text) > 4096 || strings.ContainsRune(e.Text, '\ufffd') || e.Speaker != "" {
		t.Errorf("%d bytes of %q", len(e.Text), e.Speaker)
	}
}

// The answer's second person is who asked; its first person is nobody.
func TestAnswers(t *testing.T) {
	for text, want := range map[string]string{
		"The parcel is in the hall.": "parcel | is in | hall", "Your dentist appointment is done. I like it.": "", "你女儿叫小雨。": "李明 | 的女儿是 | 小雨",
		"我喜欢绿茶。": "", "备用钥匙在门垫下面。": "备用钥匙 | 在 | 门垫下面", "我的名字是小家": "",
	} {
		e := event(text, "李明")
		e.Role = distill.Assistant
		if got := strings.Join(found(t, e), "\n"); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	e := event("The parcel is in the hall.", "")
	e.Role = distill.Tool
	if got := found(t, e); len(got) > 0 {
		t.Errorf("a tool's output gives %q", got)
	}
	e = event("你女儿叫小雨。", "王芳")
	e.To = "李明"
	if got := found(t, e); len(got) != 1 || got[0] != "李明 | 的女儿是 | 小雨" {
		t.Errorf("addressed: %q", got)
	}
}
