package search

import (
	"context"
	"database/sql"
	"strings"

	"homeagent/memory/token"
)

const (
	// maxQueryText and maxQueryTerms bound what is read of a query: bytes,
	// different terms.
	maxQueryText  = 8 << 10
	maxQueryTerms = 64
	// signWeight is what single signs of scripts without spaces count beside
	// pairs: who asks in other words (大夫 for 医生, 睡房 for 卧室) keeps a sign
	// and no pair. Measured on messages of a Chinese household, R@5 at 0.3 .48,
	// at 1 .55, at 1.5 .57.
	signWeight = 1.5
	// nameWeight is what a speaker's name counts as a word of the text: who is
	// spoken to is named more often than who is spoken of.
	nameWeight = 0.3
)

// askingHan are the signs with which a Chinese question asks; the pairs that
// they make with their neighbours are words of no answer. Longer ones come first.
var askingHan = strings.NewReplacer(pairsOf(`什么时候 为什么 什么样 怎么样 是不是 有没有 能不能 告诉我 什么 怎么 怎样 哪里 哪儿 哪个 哪些 多少 几个 几点 请问 记得 知道 谁 哪 吗 呢`)...)

func pairsOf(list string) []string {
	var out []string
	for _, w := range strings.Fields(list) {
		out = append(out, w, " ")
	}
	return out
}

// term is a term of the query with what the index knows of it.
type term struct {
	text   string
	weight float64 // how much it counts before rarity
	id     int64
	df     int
}

// search is one search at work.
type search struct {
	ctx   context.Context
	x     *Index
	query Query

	terms  []*term
	order  []string // all terms in the order of the query, for phrases
	whole  float64  // weight times rarity of all terms, those in no passage included
	voices map[int64]bool
	when   bool
	spans  []span

	count  float64 // passages
	length float64 // their mean length, in terms
	sums   *sums
	list   []posting
}

// newSearch reads what a query asks for and looks its terms up.
func (x *Index) newSearch(ctx context.Context, q Query) (*search, error) {
	s := &search{ctx: ctx, x: x, query: q}
	text := askingHan.Replace(cut(q.Text, maxQueryText))
	words := token.Set(text, maxQueryTerms)
	if len(words) == 0 {
		return s, nil
	}
	s.order = token.Terms(text)
	s.order = s.order[:min(len(s.order), 2*maxQueryTerms)]
	weights := make(map[string]float64, len(words))
	for _, w := range words {
		weights[w] = form(w)
	}
	if len(words) == 1 {
		weights[words[0]] = 1
	}
	if q.Without&Speakers == 0 {
		if err := s.named(weights); err != nil {
			return nil, err
		}
	}
	if q.Without&Times == 0 {
		s.when, s.spans = asksWhen(q.Text), spansOf(q.Text, q.Now)
	}
	var size int64
	if err := rows(ctx, x.stmt.size, func(r *sql.Rows) error { return r.Scan(&size) }); err != nil {
		return nil, err
	}
	err := rows(ctx, x.stmt.totals, func(r *sql.Rows) error { return r.Scan(&s.count, &s.length) })
	if err != nil {
		return nil, err
	}
	s.length /= max(s.count, 1)
	if s.terms, err = s.lookUp(words, weights); err != nil {
		return nil, err
	}
	known := make(map[string]*term, len(s.terms))
	for _, t := range s.terms {
		known[t.text] = t
	}
	for _, w := range words {
		df := 0
		if t := known[w]; t != nil {
			df = t.df
		}
		s.whole += weights[w] * s.idf(df)
	}
	if len(s.terms) > 0 {
		s.sums = newSums(size)
	}
	return s, nil
}

// named finds the speakers that the query names, and lowers their names as words.
func (s *search) named(weights map[string]float64) error {
	s.voices = map[int64]bool{}
	var own []string
	err := rows(s.ctx, s.x.stmt.speakers, func(r *sql.Rows) error {
		var id int64
		var name string
		if err := r.Scan(&id, &name); err != nil {
			return err
		}
		terms := nameTerms(name)
		for _, t := range terms {
			if weights[t] == 0 {
				return nil
			}
		}
		if len(terms) > 0 {
			s.voices[id] = true
			own = append(own, token.Terms(name)...)
		}
		return nil
	}, maxSpeakers)
	if err != nil || len(own) == 0 {
		return err
	}
	for _, t := range own {
		if _, is := weights[t]; is {
			weights[t] = nameWeight * form(t)
		}
	}
	return nil
}

// form is what a term counts by its form.
func form(word string) float64 {
	if single(word) {
		return signWeight
	}
	return 1
}

// lookUp finds terms in the file, in the order of words; unknown ones are left out.
func (s *search) lookUp(words []string, weights map[string]float64) ([]*term, error) {
	found := make(map[string]*term, len(words))
	err := rows(s.ctx, s.x.stmt.terms, func(r *sql.Rows) error {
		t := &term{}
		err := r.Scan(&t.id, &t.text, &t.df)
		t.weight = weights[t.text]
		found[t.text] = t
		return err
	}, list(words))
	if err != nil {
		return nil, err
	}
	var terms []*term
	for _, w := range words {
		if t := found[w]; t != nil && t.df > 0 {
			terms = append(terms, t)
		}
	}
	return terms, nil
}
