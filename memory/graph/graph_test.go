package graph_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"homeagent/agent/plugin"
	"homeagent/memory/graph"
)

// clock is a time that tests move.
type clock struct{ t time.Time }

func (c *clock) now() time.Time { return c.t }

func openAt(t testing.TB, path string, c *clock) *graph.Graph {
	t.Helper()
	opts := graph.Options{}
	if c != nil {
		opts.Now = c.now
	}
	g, notice, err := graph.Open(path, opts)
	if err != nil {
		t.Fatal(err)
	}
	if notice != nil {
		t.Fatalf("unexpected notice: %+v", notice)
	}
	t.Cleanup(func() { g.Close() })
	return g
}

func open(t testing.TB) *graph.Graph {
	t.Helper()
	return openAt(t, filepath.Join(t.TempDir(), "graph.db"), nil)
}

// facts reads "subject/relation/object" lines.
func facts(lines ...string) (out []plugin.Triple) {
	for _, l := range lines {
		p := strings.SplitN(l, "/", 3)
		out = append(out, plugin.Triple{Subject: p[0], Relation: p[1], Object: p[2]})
	}
	return out
}

func commit(t testing.TB, g *graph.Graph, turn string, lines ...string) graph.Committed {
	t.Helper()
	c, err := g.Commit(context.Background(), facts(lines...), graph.Origin{Source: "test", Turn: turn})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func recall(t testing.TB, g *graph.Graph, q graph.Query) (texts []string, r graph.Recalled) {
	t.Helper()
	r, err := g.Recall(context.Background(), q)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Facts {
		texts = append(texts, f.Text())
	}
	return texts, r
}

// household is a small memory that every query is held against.
var household = []string{
	"钥匙/在/门垫下面", "备忘//钥匙在门垫下面，备用的在王阿姨家", "小明/喜欢/红烧肉", "小明/住在/上海", "小明/的妈妈是/李华",
	"李华/生日是/三月五日", "奶奶/对/花生过敏", "客厅灯/坏了/上周三", "WiFi/密码是/home1234", "我/养了/一只叫豆豆的狗",
	"spare key/is under/the mat", "Bob/likes/black coffee", "Bob/works at/the hospital", "car/is parked in/the back yard",
	"grandma/is allergic to/peanuts", "dentist/appointment on/Tuesday 14:30", "Bob's daughter/is called/Alice", "Alice/plays/the violin",
}

func TestRecallFinds(t *testing.T) {
	g := open(t)
	commit(t, g, "1", household...)
	tests := []struct {
		query string
		want  string // the first fact; "" is none at all
		depth int
	}{
		{"钥匙在哪", "钥匙在门垫下面", 0},
		{"钥匙在哪里？", "钥匙在门垫下面", 1},
		{"我的钥匙放哪了", "钥匙在门垫下面", 1},
		{"小明喜欢吃什么", "小明喜欢红烧肉", 1},
		{"小明住哪", "小明住在上海", 1},
		{"谁对花生过敏", "奶奶对花生过敏", 1},
		{"wifi密码", "WiFi 密码是 home1234", 1},
		{"WIFI 的密码是多少", "WiFi 密码是 home1234", 1},
		{"豆豆是谁", "我养了一只叫豆豆的狗", 1},
		{"where is the spare key?", "spare key is under the mat", 1},
		{"Where are my keys", "spare key is under the mat", 1},
		{"where did I park the car", "car is parked in the back yard", 1},
		{"what does bob like", "Bob likes black coffee", 1},
		{"who has an allergy to peanuts", "grandma is allergic to peanuts", 1},
		{"when is my dentist appointment", "dentist appointment on Tuesday 14:30", 1},
		{"今天天气怎么样", "", 1},
		{"turn on the light", "", 1},
		{"", "", 1},
		{"what is the", "", 1},
		{"' OR 1=1; DROP TABLE relations;--", "", 1},
		{`key" NEAR/2 mat* AND (`, "spare key is under the mat", 1},
		{"\x00\xff\u202e", "", 1},
		{strings.Repeat("钥匙在哪 ", 100_000), "钥匙在门垫下面", 1},
	}
	for _, tt := range tests {
		t.Run(tt.query[:min(len(tt.query), 40)], func(t *testing.T) {
			got, _ := recall(t, g, graph.Query{Text: tt.query, Depth: tt.depth})
			first := ""
			if len(got) > 0 {
				first = got[0]
			}
			if first != tt.want {
				t.Fatalf("got %q, want first %q", got, tt.want)
			}
		})
	}
}

func TestRecallWalks(t *testing.T) {
	g := open(t)
	commit(t, g, "1", household...)
	tests := []struct {
		query, want string
		depth       int
		found       bool
	}{
		{"小明的妈妈生日", "李华生日是三月五日", 2, true},
		{"小明", "小明的妈妈是李华", 1, true},
		{"小明", "李华生日是三月五日", 1, false},
		{"小明", "李华生日是三月五日", 2, true},
		{"Bob's daughter", "Alice plays the violin", 1, false},
		{"Bob's daughter", "Alice plays the violin", 2, true},
	}
	for _, tt := range tests {
		t.Run(tt.query, func(t *testing.T) {
			got, _ := recall(t, g, graph.Query{Text: tt.query, Depth: tt.depth})
			if slices.Contains(got, tt.want) != tt.found {
				t.Fatalf("depth %d: %q", tt.depth, got)
			}
		})
	}
	_, r := recall(t, g, graph.Query{Text: "小明", Depth: 2})
	if len(r.Entities) == 0 || r.Entities[0].Name != "小明" || r.Entities[0].Mentions != 3 {
		t.Fatalf("entities %+v", r.Entities)
	}
	got, _ := recall(t, g, graph.Query{Text: "小明", Depth: 3, Limit: 1})
	if len(got) != 1 {
		t.Fatalf("limit 1: %q", got)
	}
}

func TestCommitKnowsARepeatedFact(t *testing.T) {
	g := open(t)
	first := commit(t, g, "1", "Bob/likes/Coffee")
	again := commit(t, g, "1", "Bob/likes/Coffee") // the turn is taken up again
	if first.Added != 1 || again.Added != 0 || again.Confirmed != 1 {
		t.Fatalf("%+v, %+v", first, again)
	}
	conf := func() float64 {
		_, r := recall(t, g, graph.Query{Text: "bob coffee"})
		if len(r.Facts) != 1 {
			t.Fatalf("%d rows", len(r.Facts))
		}
		return r.Facts[0].Confidence
	}
	before := conf()
	if c := commit(t, g, "1", "ｂｏｂ/ Likes /coffee"); c.Confirmed != 1 || conf() != before {
		t.Fatalf("the same turn raised the confidence: %+v, %v", c, conf())
	}
	commit(t, g, "2", "bob/likes/COFFEE")
	if conf() <= before {
		t.Fatalf("confidence %v, then %v", before, conf())
	}
	for range 50 {
		commit(t, g, "", "Bob/likes/Coffee")
	}
	if c := conf(); c > 1 || c < .99 {
		t.Fatalf("confidence %v after 50 times", c)
	}
}

func TestANewerFactEndsTheOlder(t *testing.T) {
	tests := []struct {
		name       string
		old, new   string
		query      string
		ends, both bool
	}{
		{"where a thing is", "钥匙/在/门垫下面", "钥匙/放在/抽屉里", "钥匙", true, false},
		{"where a person lives", "Ann/lives in/Paris", "Ann/moved to/Rome", "ann", true, false},
		{"a name", "我/叫/小明", "我/名字是/大明", "小明 大明", true, false},
		{"a password", "WiFi/password is/abc", "wifi/password/def", "wifi password", true, false},
		{"underscores", "Ann/lives_in/Paris", "Ann/lives_in/Rome", "ann", true, false},
		{"a time is no place", "the party/is on/Friday", "the party/is in/the garden", "party", false, true},
		{"another time", "聚会/在/周五", "聚会/在/周六", "聚会", true, false},
		{"likes add up", "Ann/likes/tea", "Ann/likes/coffee", "ann", false, true},
		{"other subject", "Ann/lives in/Paris", "Eve/lives in/Rome", "ann eve", false, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := &clock{time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)}
			g := openAt(t, filepath.Join(t.TempDir(), "graph.db"), c)
			commit(t, g, "1", tt.old)
			heard := c.t
			c.t = c.t.Add(48 * time.Hour)
			done := commit(t, g, "2", tt.new)
			if (done.Ended == 1) != tt.ends || done.Added != 1 {
				t.Fatalf("%+v", done)
			}
			_, now := recall(t, g, graph.Query{Text: tt.query})
			if want := 1 + map[bool]int{true: 1}[tt.both]; len(now.Facts) != want {
				t.Fatalf("now %+v", now.Facts)
			}
			_, all := recall(t, g, graph.Query{Text: tt.query, Past: true})
			if len(all.Facts) != 2 {
				t.Fatalf("with history %+v", all.Facts)
			}
			if !tt.ends {
				return
			}
			old := all.Facts[1]
			if old.Status != graph.Past || !old.Created.Equal(heard) || !old.Updated.Equal(c.t) || all.Facts[0].Status != graph.Active {
				t.Fatalf("history %+v", all.Facts)
			}
			// And back again: a third row, two of history.
			if back := commit(t, g, "3", tt.old); back.Added != 1 || back.Ended != 1 {
				t.Fatalf("back again: %+v", back)
			}
			if _, all := recall(t, g, graph.Query{Text: tt.query, Past: true}); len(all.Facts) != 3 {
				t.Fatalf("history %+v", all.Facts)
			}
		})
	}
}

func TestCommitOfOddText(t *testing.T) {
	mb := strings.Repeat("x", 1<<20)
	tests := []struct {
		name string
		in   plugin.Triple
		want error
		text string // of the fact as recalled
		find string
	}{
		{"1 MB object", plugin.Triple{Subject: "a", Relation: "b", Object: mb}, graph.ErrTooLong, "", ""},
		{"1 MB subject", plugin.Triple{Subject: mb, Relation: "b", Object: "c"}, graph.ErrTooLong, "", ""},
		{"largest", plugin.Triple{Subject: "log", Relation: "says", Object: strings.Repeat("é",
			graph.MaxField/2)}, nil, "log says " + strings.Repeat("é", graph.MaxField/2), "log says"},
		{"empty", plugin.Triple{}, graph.ErrEmpty, "", ""},
		{"empty subject", plugin.Triple{Relation: "is", Object: "red"}, graph.ErrEmpty, "", ""},
		{"blank subject", plugin.Triple{Subject: " \t\u200b\u202e\x00", Relation: "is", Object: "red"}, graph.ErrEmpty, "", ""},
		{"subject only", plugin.Triple{Subject: "car"}, graph.ErrEmpty, "", ""},
		{"no object", plugin.Triple{Subject: "lamp", Relation: "broken"}, nil, "lamp broken", "lamp"},
		{"no relation", plugin.Triple{Subject: "note", Object: "buy milk"}, nil, "note buy milk", "milk"},
		{"quotes", plugin.Triple{Subject: `O'Brien "Bo"`, Relation: `said; DROP TABLE relations;--`,
			Object: `50% \ off`}, nil, `O'Brien "Bo" said; DROP TABLE relations;-- 50% \ off`, "o'brien"},
		{"NUL and line breaks", plugin.Triple{Subject: "a\x00b", Relation: "x\r\ny", Object: "c\td"}, nil, "a b x y c d", "b"},
		{"emoji", plugin.Triple{Subject: "👨‍👩‍👧", Relation: "love", Object: "🐶"}, nil, "👨‍👩‍👧 love 🐶", "🐶"},
		{"right to left", plugin.Triple{Subject: "\u202eדוד", Relation: "גר ב", Object: "חיפה\u2069"}, nil, "דוד גר ב חיפה", "חיפה"},
		{"invalid UTF-8", plugin.Triple{Subject: "k\xffey", Relation: "on", Object: "shelf"}, nil, "k ey on shelf", "shelf"},
		{"only marks", plugin.Triple{Subject: "\u0301", Relation: "x", Object: "y"}, graph.ErrEmpty, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := open(t)
			_, err := g.Commit(context.Background(), []plugin.Triple{{Subject: "good", Relation: "is",
				Object: "kept"}, tt.in}, graph.Origin{})
			if !errors.Is(err, tt.want) {
				t.Fatalf("got %v, want %v", err, tt.want)
			}
			s, serr := g.Introspect(context.Background(), 3)
			if serr != nil {
				t.Fatal(serr)
			}
			if tt.want != nil {
				if s.Active != 0 || s.Entities != 0 {
					t.Fatalf("a refused commit left %+v", s)
				}
				return
			}
			got, _ := recall(t, g, graph.Query{Text: tt.find})
			if len(got) != 1 || got[0] != tt.text {
				t.Fatalf("recalled %.200q, want %.200q", got, tt.text)
			}
		})
	}
}

func TestAliases(t *testing.T) {
	g := open(t)
	ctx := context.Background()
	commit(t, g, "1", "李华/喜欢/茉莉花茶", "阿姨/来/周二")
	if err := g.AddAlias(ctx, "李华", "妈妈"); err != nil {
		t.Fatal(err)
	}
	if err := g.AddAlias(ctx, "nobody", "x"); !errors.Is(err, graph.ErrUnknown) {
		t.Fatalf("alias of nobody: %v", err)
	}
	if err := g.AddAlias(ctx, "李华", " "); !errors.Is(err, graph.ErrEmpty) {
		t.Fatalf("empty alias: %v", err)
	}
	if got, _ := recall(t, g, graph.Query{Text: "妈妈爱喝什么", Depth: 1}); !slices.Contains(got, "李华喜欢茉莉花茶") {
		t.Fatalf("by alias: %q", got)
	}
	if c := commit(t, g, "2", "妈妈/喜欢/茉莉花茶"); c.Confirmed != 1 {
		t.Fatalf("the alias made another entity: %+v", c)
	}
	// A label beats an alias.
	if err := g.AddAlias(ctx, "李华", "阿姨"); err != nil {
		t.Fatal(err)
	}
	if c := commit(t, g, "3", "阿姨/来/周二"); c.Confirmed != 1 {
		t.Fatalf("an alias took the label's mention: %+v", c)
	}
}

func TestPurge(t *testing.T) {
	tests := []struct {
		name string
		c    graph.Criteria
		want []string
	}{
		{"by question", graph.Criteria{Query: "备用钥匙在王阿姨家"}, []string{"备忘钥匙在门垫下面，备用的在王阿姨家"}},
		{"English", graph.Criteria{Query: "where the car is parked"}, []string{"car is parked in the back yard"}},
		{"nothing fits", graph.Criteria{Query: "我的护照号码"}, nil},
		{"half fits", graph.Criteria{Query: "Bob's grandmother likes swimming in the lake"}, nil},
		{"subject", graph.Criteria{Subject: "小明", Relation: "住在"}, []string{"小明住在上海"}},
		{"subject by other case", graph.Criteria{Subject: "bob", Object: "BLACK coffee"}, []string{"Bob likes black coffee"}},
		{"source", graph.Criteria{Source: "elsewhere"}, nil},
		{"time", graph.Criteria{Until: time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)}, nil},
		{"grammar alone", graph.Criteria{Query: "what is the"}, nil},
		{"quotes", graph.Criteria{Subject: "' OR '1'='1"}, nil},
	}
	for _, hard := range []bool{false, true} {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				g := open(t)
				commit(t, g, "1", household...)
				gone, err := g.Purge(context.Background(), tt.c, hard)
				if err != nil {
					t.Fatal(err)
				}
				var got []string
				for _, f := range gone {
					got = append(got, f.Text())
				}
				if !slices.Equal(got, tt.want) {
					t.Fatalf("purged %q, want %q", got, tt.want)
				}
				s, err := g.Introspect(context.Background(), 0)
				if err != nil {
					t.Fatal(err)
				}
				if s.Active != len(household)-len(got) || (s.Forgotten == len(got)) == hard && len(got) > 0 {
					t.Fatalf("left %+v", s)
				}
				for _, text := range got {
					if now, _ := recall(t, g, graph.Query{Text: text, Depth: 2, Past: true}); slices.Contains(now, text) {
						t.Fatalf("%q is still recalled", text)
					}
				}
			})
		}
	}
	t.Run("everything", func(t *testing.T) {
		if _, err := open(t).Purge(context.Background(), graph.Criteria{}, true); !errors.Is(err, graph.ErrNoCriteria) {
			t.Fatalf("got %v", err)
		}
	})
}

// TestHardPurgeLeavesNoTrace: neither rows nor bytes.
func TestHardPurgeLeavesNoTrace(t *testing.T) {
	dir := t.TempDir()
	g := openAt(t, filepath.Join(dir, "graph.db"), nil)
	ctx := context.Background()
	commit(t, g, "1", household...)
	commit(t, g, "2", "safe/code is/xylophone4711", "safe/code is/zeppelin0815", "safe/stands in/the cellar")
	if _, err := g.Purge(ctx, graph.Criteria{Query: "xylophone4711"}, false); err != nil {
		t.Fatal(err)
	}
	gone, err := g.Purge(ctx, graph.Criteria{Subject: "safe", Relation: "code"}, true)
	if err != nil || len(gone) != 2 {
		t.Fatalf("purged %+v, %v", gone, err)
	}
	if got, _ := recall(t, g, graph.Query{Text: "safe", Depth: 1}); !slices.Equal(got, []string{"safe stands in the cellar"}) {
		t.Fatalf("left %q", got)
	}
	for _, word := range []string{"xylophone4711", "zeppelin0815"} {
		if where := grep(t, dir, word); where != "" {
			t.Fatalf("%s still holds %q", where, word)
		}
	}
	if grep(t, dir, "cellar") == "" {
		t.Fatal("the search for bytes does not find what is there")
	}
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
}
