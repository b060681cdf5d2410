package graph_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"homeagent/agent/plugin"
	"homeagent/memory/graph"
)

// statement reads "subject/relation/object" followed by fields such as
// "s=dog", "o=child" (types), "sid=qq:1", "oid=device:x", "by=qq:2", "turn=3".
func statement(line string) graph.Statement {
	main, rest, _ := strings.Cut(line, " | ")
	p := strings.SplitN(main, "/", 3)
	s := graph.Statement{Triple: plugin.Triple{Subject: p[0], Relation: p[1], Object: p[2]}, Origin: graph.Origin{Source: "test"}}
	for f := range strings.FieldsSeq(rest) {
		key, value, _ := strings.Cut(f, "=")
		*map[string]*string{"s": &s.SubjectType, "o": &s.ObjectType, "sid": &s.SubjectID, "oid": &s.ObjectID, "by": &s.Speaker,
			"turn": &s.Turn}[key] = value
	}
	return s
}

func learn(t testing.TB, g *graph.Graph, lines ...string) (c graph.Committed) {
	t.Helper()
	for _, l := range lines {
		done, err := g.Learn(context.Background(), []graph.Statement{statement(l)})
		if err != nil {
			t.Fatal(err)
		}
		c.Added, c.Confirmed, c.Ended, c.Nominated = c.Added+done.Added, c.Confirmed+done.Confirmed, c.Ended+done.Ended,
			c.Nominated+done.Nominated
	}
	return c
}

// texts are all facts as stored, in order, with their status behind them
// unless it is active.
func texts(t testing.TB, g *graph.Graph) (out []string) {
	t.Helper()
	err := g.Each(context.Background(), func(r graph.Record) error {
		if f := r.Fact; f != nil {
			s := f.Subject + "/" + f.Relation + "/" + f.Object
			if f.Status != graph.Active {
				s += " " + string(f.Status)
			}
			out = append(out, s)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// entity finds the one entity with a label.
func entity(t testing.TB, g *graph.Graph, label string) graph.Entity {
	t.Helper()
	all, err := g.Find(context.Background(), label, 50)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		if e.Name == label {
			return e
		}
	}
	t.Fatalf("no entity %q among %+v", label, all)
	return graph.Entity{}
}

func TestWhoIsMeant(t *testing.T) {
	tests := []struct {
		name  string
		told  []string
		want  []string // facts as stored
		pairs []string // labels of nominated pairs
	}{
		{"one bearer", []string{"王芳/喜欢/茶", "王芳/住在/北京"}, []string{"王芳/喜欢/茶", "王芳/住在/北京"}, nil},
		{"another kind", []string{"豆豆/喜欢/骨头 | s=狗", "豆豆/喜欢/画画 | s=孩子"},
			[]string{"豆豆/喜欢/骨头", "豆豆（孩子）/喜欢/画画"}, []string{"豆豆 ~ 豆豆（孩子）"}},
		{"the kind tells whom", []string{"豆豆/喜欢/骨头 | s=狗", "豆豆/喜欢/画画 | s=孩子", "豆豆/怕/打雷 | s=dog", "豆豆/上/小学 | s=child"},
			[]string{"豆豆/喜欢/骨头", "豆豆（孩子）/喜欢/画画", "豆豆/怕/打雷", "豆豆（孩子）/上/小学"}, []string{"豆豆 ~ 豆豆（孩子）"}},
		{"the label tells whom", []string{"豆豆/喜欢/骨头 | s=狗", "豆豆/喜欢/画画 | s=孩子", "豆豆（孩子）/上/小学"},
			[]string{"豆豆/喜欢/骨头", "豆豆（孩子）/喜欢/画画", "豆豆（孩子）/上/小学"}, []string{"豆豆 ~ 豆豆（孩子）"}},
		{"two fit: one row for all of them", []string{"豆豆/喜欢/骨头 | s=狗", "豆豆/喜欢/画画 | s=孩子", "豆豆/在/楼下", "豆豆/去了/公园"},
			[]string{"豆豆/喜欢/骨头", "豆豆（孩子）/喜欢/画画", "豆豆（2）/在/楼下", "豆豆（2）/去了/公园"},
			[]string{"豆豆 ~ 豆豆（孩子）", "豆豆 ~ 豆豆（2）", "豆豆（孩子） ~ 豆豆（2）"}},
		{"who speaks tells whom", []string{"豆豆/喜欢/骨头 | s=狗 by=qq:1", "豆豆/喜欢/画画 | s=孩子 by=qq:2", "豆豆/在/楼下 | by=qq:2"},
			[]string{"豆豆/喜欢/骨头", "豆豆（孩子）/喜欢/画画", "豆豆（孩子）/在/楼下"}, []string{"豆豆 ~ 豆豆（孩子）"}},
		{"a kind learned later", []string{"豆豆/怕/打雷", "豆豆/喜欢/骨头 | s=狗", "豆豆/会/写字 | s=孩子"},
			[]string{"豆豆/怕/打雷", "豆豆/喜欢/骨头", "豆豆（孩子）/会/写字"}, []string{"豆豆 ~ 豆豆（孩子）"}},
		{"kinds that do not exclude", []string{"豆豆/怕/打雷 | s=宠物", "豆豆/喜欢/骨头 | s=狗", "lamp/is/red | s=thing", "lamp/is/on | s=device"},
			[]string{"豆豆/怕/打雷", "豆豆/喜欢/骨头", "lamp/is/red", "lamp/is/on"}, nil},
		{"stable id over name", []string{"小李/喜欢/茶 | sid=qq:10001", "阿强/喜欢/酒 | sid=qq:10001", "小李/在/家 | sid=QQ:10001"},
			[]string{"小李/喜欢/茶", "小李/喜欢/酒", "小李/在/家"}, nil},
		{"an id in the name's place", []string{"QQ:10001/喜欢/茶", "qq:10001/喜欢/酒"}, []string{"QQ:10001/喜欢/茶", "QQ:10001/喜欢/酒"}, nil},
		{"two ids, one name", []string{"张三/喜欢/茶 | sid=qq:1", "张三/喜欢/酒 | sid=qq:2"},
			[]string{"张三/喜欢/茶", "张三（2）/喜欢/酒"}, []string{"张三 ~ 张三（2）"}},
		{"a card that bears a known name", []string{"张三/喜欢/茶", "张三/喜欢/酒 | sid=qq:2"},
			[]string{"张三/喜欢/茶", "张三（2）/喜欢/酒"}, []string{"张三 ~ 张三（2）"}},
		{"a telephone number told later", []string{"王芳/喜欢/茶", "王芳/喜欢/酒 | sid=phone:138-0000-0001", "王芳/在/家 | sid=phone:13900000002"},
			[]string{"王芳/喜欢/茶", "王芳/喜欢/酒", "王芳（2）/在/家"}, []string{"王芳 ~ 王芳（2）"}},
		{"a device that was spoken of", []string{"客厅灯/坏了/昨天", "客厅灯/型号是/A1 | sid=device:lamp1", "客厅灯/型号是/B2 | sid=device:lamp2"},
			[]string{"客厅灯/坏了/昨天", "客厅灯/型号是/A1", "客厅灯（2）/型号是/B2"}, []string{"客厅灯 ~ 客厅灯（2）"}},
		{"kin of the one who speaks", []string{"我妈/喜欢/茶 | by=qq:1", "我妈/喜欢/酒 | by=qq:2", "我妈/在/家 | by=qq:1"},
			[]string{"我妈/喜欢/茶", "我妈（qq:2）/喜欢/酒", "我妈/在/家"}, nil},
		{"kin without a speaker", []string{"老公/喜欢/茶", "老公/喜欢/酒"}, []string{"老公/喜欢/茶", "老公/喜欢/酒"}, nil},
		{"English labels", []string{"Max/likes/bones | s=dog", "Max/likes/maths | s=child"},
			[]string{"Max/likes/bones", "Max (child)/likes/maths"}, []string{"Max ~ Max (child)"}},
		{"spelling", []string{"Zoë Ng/likes/tea", "zoë  ng./likes/wine", "张 三/喜欢/茶", "“张三”/喜欢/酒", "the attic/is/cold", "Attic/is/dark"},
			[]string{"Zoë Ng/likes/tea", "Zoë Ng/likes/wine", "张 三/喜欢/茶", "张 三/喜欢/酒", "the attic/is/cold", "the attic/is/dark"}, nil},
		{"not the same name", []string{"张三/喜欢/茶", "张三丰/喜欢/酒", "C/is/old", "C++/is/older"},
			[]string{"张三/喜欢/茶", "张三丰/喜欢/酒", "C/is/old", "C++/is/older"}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := open(t)
			c := learn(t, g, tt.told...)
			if got := texts(t, g); !slices.Equal(got, tt.want) {
				t.Errorf("facts %q\nwant  %q", got, tt.want)
			}
			pairs, err := g.Pairs(context.Background(), graph.PairOpen, 100)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, p := range pairs {
				got = append(got, p.A.Name+" ~ "+p.B.Name)
				if p.Reason == "" || p.Created.IsZero() || !p.Decided.IsZero() {
					t.Errorf("pair %+v", p)
				}
			}
			if !slices.Equal(got, tt.pairs) || c.Nominated != len(tt.pairs) {
				t.Errorf("pairs %q (%d), want %q", got, c.Nominated, tt.pairs)
			}
		})
	}
}

// TestBothCarryTheBareName: and the account keeps the names it was given.
func TestBothCarryTheBareName(t *testing.T) {
	g := open(t)
	ctx := context.Background()
	learn(t, g, "豆豆/喜欢/骨头 | s=狗", "豆豆/喜欢/画画 | s=孩子", "小李/喜欢/茶 | sid=qq:1", "阿强/喜欢/酒 | sid=qq:1")
	both, err := g.Find(ctx, "豆豆", 10)
	if err != nil || len(both) != 2 || both[0].Name != "豆豆" || both[1].Type != "孩子" {
		t.Fatalf("%+v, %v", both, err)
	}
	for _, name := range []string{"QQ:1", "阿强", "小李"} {
		if got, err := g.Find(ctx, name, 10); err != nil || len(got) != 1 || got[0].Name != "小李" {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	got, err := g.Similar(ctx, both[0].ID, 5)
	if err != nil || len(got) == 0 || got[0].ID != both[1].ID {
		t.Errorf("similar %+v, %v", got, err)
	}
}

func TestAMentionCountsOnce(t *testing.T) {
	g := open(t)
	learn(t, g, "小明/喜欢/茶 | turn=1", "小明/喜欢/茶 | turn=1", "小明/喜欢/茶 | turn=2", "小明/喜欢/茶 | turn=1", "小明/喜欢/酒 | turn=2", "小明/怕/小明 | turn=2")
	for name, want := range map[string]int{"小明": 5, "茶": 2, "酒": 1} {
		if e := entity(t, g, name); e.Mentions != want {
			t.Errorf("%s: %d mentions, want %d", name, e.Mentions, want)
		}
	}
	_, r := recall(t, g, graph.Query{Text: "小明喜欢茶"})
	if len(r.Facts) == 0 || !slices.Equal(r.Facts[0].Turns, []string{"1", "2"}) || r.Facts[0].Heard != 2 {
		t.Errorf("%+v", r.Facts)
	}
}

// TestSpeakerAsks: what another calls so is not meant.
func TestSpeakerAsks(t *testing.T) {
	g := open(t)
	learn(t, g, "我妈/爱喝/龙井茶 | by=qq:1", "我妈/爱喝/普洱茶 | by=qq:2")
	for speaker, want := range map[string]string{"qq:1": "我妈爱喝龙井茶", "qq:2": "我妈（qq:2）爱喝普洱茶"} {
		_, r := recall(t, g, graph.Query{Text: "我妈", Depth: 1, Speaker: speaker})
		if len(r.Facts) == 0 || r.Facts[0].Text() != want {
			t.Errorf("%s: %+v", speaker, r.Facts)
		}
	}
}

func FuzzLearn(f *testing.F) {
	f.Add("豆豆", "在", "楼下", "狗", "qq:1", "qq:2")
	f.Add("a\x00", "no longer", "x any more", "\xff", "phone:", ":")
	f.Add("😀", "is not", "’; DROP TABLE aliases;--", "person", "device:\u202e", "")
	g, _, err := graph.Open(f.TempDir()+"/graph.db", graph.Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { g.Close() })
	f.Fuzz(func(t *testing.T, s, r, o, kind, id, by string) {
		st := graph.Statement{Triple: plugin.Triple{Subject: s, Relation: r, Object: o}, SubjectType: kind, SubjectID: id,
			Origin: graph.Origin{Speaker: by}}
		first, err := g.Learn(context.Background(), []graph.Statement{st})
		if err != nil {
			return // refused; the table of odd texts says with what
		}
		again, err := g.Learn(context.Background(), []graph.Statement{st})
		if err != nil || again.Added != 0 && !st.Retracted && first.Ended == 0 {
			t.Fatalf("%s: first %+v, then %+v, %v", fmt.Sprintf("%q", []string{s, r, o, kind, id, by}), first, again, err)
		}
	})
}
