package tidy

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"homeagent/agent/plugin"
	"homeagent/memory/graph"
)

// TestOnlySentencesMerge: of all that looks alike, only what a sentence equates
// becomes one.
func TestOnlySentencesMerge(t *testing.T) {
	r := newRig(t)
	r.learn("陈总|就是|陈建国", "陈总|喜欢|咖啡", "张三|住在|北京", "张先生|喜欢|茶", "张三的妈妈|住在|上海",
		"王芳|喜欢|花", "王方|喜欢|树", "Bob|likes|tea", "Robert|lives in|London", "李明|小名|明明", "阿明|喜欢|球")
	rep := r.run()
	merged := r.merges()
	if rep.Sum().Merged != 2 || !slices.Contains(merged, "陈总") || !slices.Contains(merged, "明明") {
		t.Errorf("merged %v, %+v", merged, rep.Sum())
	}
	open := r.pairs(graph.PairOpen)
	for _, want := range []string{"张三/张先生", "Bob/Robert", "李明/阿明"} {
		a, b, _ := strings.Cut(want, "/")
		if !slices.Contains(open, want) && !slices.Contains(open, b+"/"+a) {
			t.Errorf("%s is not listed: %v", want, open)
		}
	}
	for _, p := range open {
		if strings.Contains(p, "妈妈") || strings.Contains(p, "王方") {
			t.Errorf("%s is listed", p)
		}
	}
	if found, err := r.g.Find(t.Context(), "陈总", 2); err != nil || len(found) != 1 || found[0].Name != "陈建国" {
		t.Errorf("陈总 is %v, %v", found, err)
	}
}

// TestTwoBearersOfAName: the sentence is about one 陈总 and merges no other.
func TestTwoBearersOfAName(t *testing.T) {
	r := newRig(t)
	for i, f := range [][3]string{{"陈总", "就是", "陈建国"}, {"陈总", "喜欢", "茶"}} {
		_, err := r.g.Learn(t.Context(), []graph.Statement{{Triple: plugin.Triple{Subject: f[0], Relation: f[1], Object: f[2]},
			SubjectID: fmt.Sprintf("phone:1380000000%d", i), SubjectType: "person"}})
		if err != nil {
			t.Fatal(err)
		}
	}
	two, err := r.g.Find(t.Context(), "陈总", 5)
	if err != nil || len(two) != 2 {
		t.Fatalf("%v, %v", two, err)
	}
	r.run()
	if m := r.merges(); len(m) != 1 {
		t.Errorf("merged %v", m)
	}
	one, err := r.g.Find(t.Context(), "phone:13800000001", 2)
	if err != nil || len(one) != 1 || one[0].Name == "陈建国" {
		t.Errorf("the other 陈总 is %v, %v", one, err)
	}
	// One that no fact connects with a bearer: two fit, so none is merged.
	r.learn("王芳|是|我的老师")
	for i := range 2 {
		_, err := r.g.Learn(t.Context(), []graph.Statement{{Triple: plugin.Triple{Subject: "王老师", Relation: "喜欢", Object: "茶"},
			SubjectID: fmt.Sprintf("phone:1390000000%d", i), SubjectType: "person"}})
		if err != nil {
			t.Fatal(err)
		}
	}
	r.run()
	if m := r.merges(); len(m) != 1 {
		t.Errorf("merged %v", m)
	}
}

func (r *rig) merges() (dropped []string) {
	r.t.Helper()
	list, err := r.g.Merges(r.t.Context(), 100)
	if err != nil {
		r.t.Fatal(err)
	}
	for _, m := range list {
		dropped = append(dropped, m.Dropped.Name)
	}
	return dropped
}

// TestUndoneStaysUndone: the sentence is still there, and does not count any more.
func TestUndoneStaysUndone(t *testing.T) {
	r := newRig(t)
	r.learn("陈总|就是|陈建国", "陈总|喜欢|咖啡")
	r.run()
	list, err := r.g.Merges(t.Context(), 10)
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	if err := r.tidy.Undo(t.Context(), list[0].ID); err != nil {
		t.Fatal(err)
	}
	r.run()
	r.learn("陈总|喜欢|茶")
	r.run()
	if m := r.merges(); len(m) != 0 {
		t.Errorf("merged again: %v", m)
	}
	if err := r.tidy.Undo(t.Context(), list[0].ID); !errors.Is(err, graph.ErrUndone) {
		t.Errorf("undone twice: %v", err)
	}
}

// TestTasks follows pairs from the question to each outcome.
func TestTasks(t *testing.T) {
	r := newRig(t)
	r.house.model = false
	r.learn("张三|住在|北京", "张先生|喜欢|茶")
	rep := r.run()
	if len(r.house.asked()) != 0 || rep.Sum().Waiting != 1 {
		t.Fatalf("offline: asked %v, %+v", r.house.asked(), rep.Sum())
	}
	r.house.set(func(h *house) { h.model = true })
	r.run()
	r.run()
	in := r.house.asked()
	if len(in) != 1 {
		t.Fatalf("asked %d times", len(in))
	}
	for _, want := range []string{"张三", "张先生", "住在", "北京", "喜欢", "茶", "memory_pair", "different", "undecided"} {
		if !strings.Contains(in[0].Payload, want) {
			t.Errorf("the task does not say %s: %s", want, in[0].Payload)
		}
	}
	id, ok := PairOf(in[0])
	if !ok || in[0].Source != Source || in[0].Channel != "" || in[0].Lang != "zh" {
		t.Fatalf("the input %+v", in[0])
	}

	// Undecided: asked again only after new facts.
	text, err := r.tidy.Answer(t.Context(), Args{Pair: id, Outcome: Undecided, Reason: "没有依据"})
	if err != nil || !strings.Contains(text, "新的事实") {
		t.Fatal(text, err)
	}
	r.run()
	if n := len(r.house.asked()); n != 1 {
		t.Fatalf("asked %d times without a new fact", n)
	}
	r.learn("张先生|爱看|球赛")
	r.run()
	r.run()
	if n := len(r.house.asked()); n != 2 {
		t.Fatalf("asked %d times after a new fact", n)
	}

	// Different: never again.
	if _, err := r.tidy.Answer(t.Context(), Args{Pair: id, Outcome: Different}); err != nil {
		t.Fatal(err)
	}
	r.learn("张先生|养|狗", "张三|养|猫")
	r.run()
	if n := len(r.house.asked()); n != 2 {
		t.Errorf("asked %d times after it was decided", n)
	}
	if _, err := r.tidy.Answer(t.Context(), Args{Pair: id, Outcome: Same}); !errors.Is(err, ErrPair) {
		t.Errorf("answered again: %v", err)
	}

	// Same: merged, and can be undone.
	r.learn("Bob|likes|tea", "Robert|lives in|London")
	r.run()
	in = r.house.asked()
	last := in[len(in)-1]
	id, _ = PairOf(last)
	if last.Lang != "en" || !strings.Contains(last.Payload, "Judge by the facts") {
		t.Errorf("the English task: %s", last.Payload)
	}
	if _, err := r.tidy.Answer(t.Context(), Args{Pair: id, Outcome: "maybe"}); !errors.Is(err, ErrOutcome) {
		t.Errorf("an odd outcome: %v", err)
	}
	text, err = r.tidy.Answer(t.Context(), Args{Pair: id, Outcome: Same, Reason: "the same man"})
	if err != nil || !strings.Contains(text, "Merged") || len(r.merges()) != 1 {
		t.Errorf("%s, %v, %v", text, err, r.merges())
	}
	if len(r.tidy.saved.Asked) != 0 {
		t.Errorf("still noted as asked: %v", r.tidy.saved.Asked)
	}
}

// TestFewTasks: at most three a round, none twice, over a restart too.
func TestFewTasks(t *testing.T) {
	r := newRig(t)
	for i, s := range []string{"赵", "钱", "孙", "李", "周"} {
		r.learn(fmt.Sprintf("%s大明|住在|%d 号", s, i), s+"老师|教|数学")
	}
	seen := map[int64]bool{}
	for round, want := range []int{3, 5, 5} {
		r.run()
		if round == 0 { // a new process goes on where this one was
			var err error
			if r.tidy, err = New(r.tidy.o); err != nil {
				t.Fatal(err)
			}
		}
		if n := len(r.house.asked()); n != want {
			t.Errorf("round %d: asked %d times, want %d", round, n, want)
		}
	}
	for _, in := range r.house.asked() {
		id, ok := PairOf(in)
		if !ok || seen[id] {
			t.Errorf("pair %d twice, or no pair: %s", id, in.Payload)
		}
		seen[id] = true
	}
}

func TestEnded(t *testing.T) {
	rows := []struct {
		name, final string
		thought     bool
		want        graph.PairState
		again       bool
	}{
		{"says different", "They are different people.", true, graph.PairDifferent, false},
		{"says 不同", "这是两个人，不同。", true, graph.PairDifferent, false},
		{"is not sure", "I am not sure; they may be different.", true, graph.PairUndecided, false},
		{"判断不了", "现有事实判断不了。", true, graph.PairUndecided, false},
		{"says same without a call", "They are the same.", true, graph.PairUndecided, false},
		{"says nothing", "", true, graph.PairUndecided, false},
		{"no model answered", "I cannot reach the language model.", false, graph.PairOpen, true},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			r := newRig(t)
			r.learn("张三|住在|北京", "张先生|喜欢|茶")
			r.run()
			in := r.house.asked()[0]
			if err := r.tidy.Ended(t.Context(), in, row.final, row.thought); err != nil {
				t.Fatal(err)
			}
			if got := r.pairs(row.want); len(got) != 1 {
				t.Errorf("%s: %v", row.want, got)
			}
			r.run()
			if again := len(r.house.asked()) == 2; again != row.again {
				t.Errorf("asked %d times", len(r.house.asked()))
			}
			if err := r.tidy.Ended(t.Context(), plugin.Input{Source: "web", Payload: in.Payload}, "different", true); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestNoAnswers: three inputs without an answer, or none for long, and the pair
// waits for new facts.
func TestNoAnswers(t *testing.T) {
	r := newRig(t)
	r.learn("张三|住在|北京", "张先生|喜欢|茶")
	for range 5 {
		r.run()
		in := r.house.asked()
		if err := r.tidy.Ended(t.Context(), in[len(in)-1], "", false); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(r.house.asked()); n != maxTries || len(r.pairs(graph.PairUndecided)) != 1 {
		t.Errorf("asked %d times, undecided %v", n, r.pairs(graph.PairUndecided))
	}
	r.learn("张先生|爱看|球赛")
	r.run()
	r.now = r.now.Add(DefaultOverdue + time.Minute)
	r.run()
	if n := len(r.house.asked()); n != maxTries+1 || len(r.pairs(graph.PairUndecided)) != 1 {
		t.Errorf("overdue: asked %d times, undecided %v", n, r.pairs(graph.PairUndecided))
	}
}

func TestRefusedInputIsNoQuestion(t *testing.T) {
	r := newRig(t)
	r.house.err = errors.New("made up by the test")
	r.learn("张三|住在|北京", "张先生|喜欢|茶")
	rep, err := r.tidy.Run(t.Context())
	if err != nil || !slices.Equal(rep.Failed(), []Kind{Ask}) {
		t.Fatalf("%v, %v", rep.Failed(), err)
	}
	r.house.set(func(h *house) { h.err = nil })
	r.run()
	if n := len(r.house.asked()); n != 1 {
		t.Errorf("asked %d times", n)
	}
}
