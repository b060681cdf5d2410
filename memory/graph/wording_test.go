package graph_test

import (
	"slices"
	"testing"

	"homeagent/memory/graph"
)

// TestTheSameFactStaysOneRow: told 20 times, exactly and in other words.
func TestTheSameFactStaysOneRow(t *testing.T) {
	tests := []struct {
		name string
		told []string
	}{
		{"Chinese likes", []string{"小明/喜欢/红烧肉", "小明/很喜欢/红烧肉", "小明/喜爱/红烧肉。", "小明/喜欢/“红烧肉”", "小明/喜欢 /红烧肉！", "小 明/喜欢/红烧肉", "小明/喜欢红烧/肉"}},
		{"English likes", []string{"Bob/likes/black coffee", "bob/like/Black Coffee.", "Bob/really likes/the black coffee",
			"Bob/enjoys/black coffee", "Bob/is fond of/black coffee"}},
		{"kin", []string{"小明/的妈妈是/李华", "小明/妈妈/李华", "小明/母亲是/李华", "小明的妈妈/是/李华", "小明/mother is/李华"}},
		{"a place", []string{"key/is in/the drawer", "key/is kept in/drawer", "The key/is_in/the drawer"}},
		{"both directions", []string{"Ann/is married to/Bob", "Bob/is married to/Ann", "ann/married/bob", "Bob/spouse/Ann"}},
		{"friends", []string{"小明/的朋友是/李华", "李华/朋友/小明", "小明/好朋友/李华"}},
		{"an allergy", []string{"奶奶/对/花生过敏", "奶奶/对花生/过敏", "奶奶//对花生过敏"}},
		{"an allergy in English", []string{"grandma/is allergic to/peanuts", "Grandma/allergic to/peanuts",
			"grandma/has an allergy to/peanuts"}},
		{"emoji", []string{"🐶/loves/🦴", "🐶/love/🦴"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := open(t)
			for i := range 20 {
				learn(t, g, tt.told[i%len(tt.told)])
			}
			_, r := recall(t, g, graph.Query{Text: tt.told[0]})
			if got := texts(t, g); len(got) != 1 || len(r.Facts) != 1 || r.Facts[0].Confidence < .99 || r.Facts[0].Heard != 20 {
				t.Fatalf("rows %q, recalled %+v", got, r.Facts)
			}
		})
	}
}

// TestOtherFactsStayApart: what is only similar is not the same.
func TestOtherFactsStayApart(t *testing.T) {
	for _, told := range [][]string{
		{"Bob/likes/coffee", "Bob/loves/coffee"},
		{"Bob/lent to/Ann", "Bob/lent from/Ann"},
		{"Bob/likes/Ann", "Ann/likes/Bob"},
		{"Bob/is taller than/Ann", "Ann/is taller than/Bob"},
		{"Bob/visits/my mother", "Bob/visits/your mother"},
		{"Bob/can/swim", "Bob/will/swim"},
		{"Bob/owes/5 pounds", "Bob/owes/50 pounds"},
		{"room/has/+5", "room/has/-5"},
		{"小明/怕/狗", "小明/怕/猫"},
		{"小明/去/北京", "小明/去了/北京"},
		{"小明/会/游泳", "小明/要/游泳"},
		{"张三/打/李四", "李四/打/张三"},
		{"小明/喜欢/茶", "小明/喜欢喝/茶"},
		{"Bob/was/a nurse", "Bob/is/a nurse"},
		{"Bob/doesn't eat/meat", "Bob/doesn't eat/fish"},
	} {
		t.Run(told[0], func(t *testing.T) {
			g := open(t)
			if c := learn(t, g, told...); c.Added != len(told) || c.Ended != 0 {
				t.Fatalf("%+v: %q", c, texts(t, g))
			}
		})
	}
}

// TestTheOppositeEndsAFact: and the opposite of the opposite.
func TestTheOppositeEndsAFact(t *testing.T) {
	for _, told := range [][3]string{
		{"Bob/likes/coffee", "Bob/doesn't like/coffee", "Bob/likes/coffee"},
		{"Bob/eats/meat", "Bob/does not eat/meat", "Bob/eats/meat"},
		{"lamp/is/broken", "lamp/is not/broken", "lamp/is/broken"},
		{"小明/喜欢/茶", "小明/讨厌/茶", "小明/喜欢/茶"},
		{"小明/吃/辣椒", "小明/不吃/辣椒", "小明/吃/辣椒"},
		{"小明/是/老师", "小明/不是/老师", "小明/是/老师"},
	} {
		t.Run(told[0], func(t *testing.T) {
			g := open(t)
			for i, line := range told {
				if c := learn(t, g, line); c.Added != 1 || c.Ended != min(i, 1) {
					t.Fatalf("%s: %+v, %q", line, c, texts(t, g))
				}
			}
			if got := texts(t, g); !slices.Equal(got, []string{told[0] + " past", told[1] + " past", told[2]}) {
				t.Fatalf("%q", got)
			}
		})
	}
}
