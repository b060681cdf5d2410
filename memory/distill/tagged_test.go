package distill_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"homeagent/agent/plugin"
	"homeagent/memory/distill"
	"homeagent/memory/token"
)

// given is an extractor with an answer.
type given struct {
	facts []distill.Fact
	err   error
}

func (g given) Extract(context.Context, []distill.Event) ([]distill.Fact, error) {
	return slices.Clone(g.facts), g.err
}

// tagging is a tagger with an answer; it counts its questions.
type tagging struct {
	words []token.Word
	err   error
	asked *int
}

func (g tagging) Tag(context.Context, string) ([]token.Word, error) {
	*g.asked++
	return g.words, g.err
}

func TestTagged(t *testing.T) {
	fact := func(s, r, o, st, ot string) distill.Fact {
		return distill.Fact{Triple: plugin.Triple{Subject: s, Relation: r, Object: o}, Turn: "t", SubjectType: st, ObjectType: ot}
	}
	word := func(text, tag string) token.Word { return token.Word{Text: text, Tag: tag} }
	said := "王伟昨天去了杭州，对花生过敏"
	words := []token.Word{word("王伟", "nr"), word("昨天", "t"), word("去", "v"), word("了", "ul"), word("杭州", "ns"),
		word("，", "x"), word("对", "p"), word("花生", "n"), word("过敏", "nr")}
	oops := errors.New("oops")
	tests := []struct {
		name  string
		text  string
		words []token.Word
		err   error
		in    distill.Fact
		out   []distill.Fact
		asked int
	}{
		{"types", said, words, nil, fact("王伟", "去了", "杭州", "", ""), []distill.Fact{fact("王伟", "去了", "杭州", "person", "place")}, 1},
		{"types that are there stay", said, words, nil, fact("王伟", "去了", "杭州", "animal", "thing"), []distill.Fact{fact("王伟", "去了", "杭州", "animal", "thing")}, 1},
		{"a food is no place", said, []token.Word{word("王伟", "nr"), word("花生", "ns")}, nil, fact("王伟", "不能吃", "花生", "person", ""),
			[]distill.Fact{fact("王伟", "不能吃", "花生", "person", "")}, 1},
		{"a common word is no person", said, words, nil, fact("王伟", "有", "过敏", "", ""), []distill.Fact{fact("王伟", "有", "过敏", "person", "")}, 1},
		{"a broken name", said, words, nil, fact("王伟昨", "去了", "杭州", "person", ""), nil, 1},
		{"a broken thing stays", said, words, nil, fact("用户", "吃", "花", "person", "thing"), []distill.Fact{fact("用户", "吃", "花", "person", "thing")}, 1},
		{"a name that was not said", said, words, nil, fact("用户", "认识", "李明", "person", "person"), []distill.Fact{fact("用户", "认识", "李明", "person", "person")}, 1},
		{"unknown words tell nothing", said, []token.Word{word("王伟", ""), word("昨天", "x")}, nil, fact("王伟昨", "去了", "杭州", "person", ""),
			[]distill.Fact{fact("王伟昨", "去了", "杭州", "person", "")}, 1},
		{"once whole is enough", "王伟昨天说王伟昨", append(slices.Clone(words[:2]), word("说", "v"), word("王伟", "nr"), word("昨", "t")), nil,
			fact("王伟昨", "是", "人", "person", ""), []distill.Fact{fact("王伟昨", "是", "人", "person", "")}, 1},
		{"the tagger fails", said, nil, oops, fact("王伟昨", "去了", "杭州", "person", ""), []distill.Fact{fact("王伟昨", "去了", "杭州", "person", "")}, 1},
		{"another text", said, []token.Word{word("上海", "ns")}, nil, fact("王伟", "去了", "杭州", "", ""), []distill.Fact{fact("王伟", "去了", "杭州", "", "")}, 1},
		{"English", "Ann went to Oslo", words, nil, fact("Ann", "went to", "Oslo", "", ""), []distill.Fact{fact("Ann", "went to", "Oslo", "", "")}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			asked := 0
			e := distill.Tagged{Inner: given{facts: []distill.Fact{tt.in}}, Tagger: tagging{tt.words, tt.err, &asked}}
			events := []distill.Event{{Turn: "t", Role: distill.User, Text: tt.text}, {Turn: "t", Role: distill.Tool, Text: "门"}, {Turn: "u", Text: said}}
			got, err := e.Extract(t.Context(), events)
			if err != nil || !slices.Equal(got, tt.out) || asked != tt.asked {
				t.Errorf("%+v, %v, asked %d times", got, err, asked)
			}
		})
	}
	if _, err := (distill.Tagged{Inner: given{err: oops}, Tagger: tagging{}}).Extract(t.Context(), nil); !errors.Is(err, oops) {
		t.Error(err)
	}
	if got, err := (distill.Tagged{Inner: given{facts: []distill.Fact{{}}}}).Extract(t.Context(), nil); err != nil || len(got) != 1 {
		t.Error("without a tagger")
	}
}
