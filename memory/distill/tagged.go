package distill

import (
	"context"
	"strings"

	"homeagent/memory/entity"
	"homeagent/memory/token"
)

// Tagged is an Extractor whose Chinese facts are looked at with a Tagger: names
// that the tagger knows as people or places give the types that Inner has left
// open, and a fact with a person's name that ends in the middle of a word ("王伟昨"
// of 王伟昨天) is dropped. Where the tagger fails or knows no tags, facts stay as
// they are. It asks only about events that gave facts.
type Tagged struct {
	Inner  Extractor
	Tagger token.Tagger
}

var _ Extractor = Tagged{}

// Extract is Inner's, corrected.
func (t Tagged) Extract(ctx context.Context, events []Event) ([]Fact, error) {
	facts, err := t.Inner.Extract(ctx, events)
	if err != nil || t.Tagger == nil {
		return facts, err
	}
	turns := map[string]*tags{}
	kept := facts[:0]
	for _, f := range facts {
		if !token.HasHan(f.Subject) && !token.HasHan(f.Object) {
			kept = append(kept, f)
			continue
		}
		known, ok := turns[f.Turn]
		if !ok {
			known = t.tags(ctx, events, f.Turn)
			turns[f.Turn] = known
		}
		f.SubjectType = known.typeOf(f.Subject, f.SubjectType, "")
		f.ObjectType = known.typeOf(f.Object, f.ObjectType, f.Relation)
		if f.SubjectType == "person" && known.breaks(f.Subject) || f.ObjectType == "person" && known.breaks(f.Object) {
			continue
		}
		kept = append(kept, f)
	}
	return kept, ctx.Err()
}

// tags are the words of a turn that a tagger knows.
type tags struct {
	of    map[string]string // the tag of a word
	texts []tagged
}

// tagged is a text with the places inside its known words, where no name may end.
type tagged struct {
	text   string
	inside map[int]bool // by byte
}

// tags asks about the events of a turn.
func (t Tagged) tags(ctx context.Context, events []Event, turn string) *tags {
	k := &tags{of: map[string]string{}}
	for _, e := range events {
		if e.Turn != turn || e.Role == Tool || !token.HasHan(e.Text) {
			continue
		}
		text := clip(e.Text)
		words, err := t.Tagger.Tag(ctx, text)
		if err != nil {
			continue // without it the facts are what Inner made of them
		}
		one := tagged{text: text, inside: map[int]bool{}}
		at := 0
		for _, w := range words {
			i := strings.Index(text[at:], w.Text)
			if i < 0 || w.Text == "" {
				break // the tagger has changed the text; what follows has no place
			}
			at += i
			if w.Tag != "" && w.Tag != "x" {
				k.of[w.Text] = w.Tag
				for j := 1; j < len(w.Text); j++ {
					one.inside[at+j] = true
				}
			}
			at += len(w.Text)
		}
		k.texts = append(k.texts, one)
	}
	return k
}

// typeOf is the type of a name, was where the tags say nothing better. relation
// is the one that leads to it. A tag alone makes neither person nor place:
// dictionaries call 过敏 a person and 海鲜 a place.
func (k *tags) typeOf(name, was, relation string) string {
	if was != "" {
		return was
	}
	switch k.of[name] {
	case token.TagPerson:
		if entity.Parse(name).Form == entity.Full {
			return "person"
		}
	case token.TagPlace:
		if strings.ContainsAny(relation, leads) {
			return "place"
		}
	}
	return was
}

// leads are signs of relations that lead to a place: 住在, 去了, 搬到, 来自, 飞往, 老家是.
const leads = "住去到在自往飞搬回家"

// breaks tells whether a name stands in the texts and begins or ends inside a
// word wherever it does.
func (k *tags) breaks(name string) bool {
	found := false
	for _, t := range k.texts {
		for at := 0; name != ""; {
			i := strings.Index(t.text[at:], name)
			if i < 0 {
				break
			}
			at += i
			if !t.inside[at] && !t.inside[at+len(name)] {
				return false
			}
			found = true
			at += len(name)
		}
	}
	return found
}
