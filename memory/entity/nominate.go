package entity

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// least is the share of common pairs of signs from which names are alike.
const least = 0.5

// MaxWeak is how many others a weak key (a surname with a title, one given
// name) may lead to; where there are more, it tells nothing and nominates none.
const MaxWeak = 8

// bigrams are the pairs of neighbouring runes, each once; of one rune itself.
func bigrams(key string) []string {
	rs := []rune(key)
	if len(rs) == 1 {
		return []string{key}
	}
	out := make([]string, 0, len(rs))
	for i := 1; i < len(rs); i++ {
		if g := string(rs[i-1 : i+1]); !slices.Contains(out, g) {
			out = append(out, g)
		}
	}
	return out
}

func jaccard(a, b []string) float64 {
	n := 0
	for _, g := range a {
		if slices.Contains(b, g) {
			n++
		}
	}
	if n == 0 {
		return 0
	}
	return float64(n) / float64(len(a)+len(b)-n)
}

// Keys are what a candidate is found by. Two candidates are nominated if one's
// Look has a key of the other's Own, or half of their pairs of signs are common.
type Keys struct {
	// Own is what others may look for, Look what this one looks for. Keys that
	// begin with "~" are weak: they nominate only where few share them.
	Own, Look []string
	// Names are the names' spellings, for the pairs of signs.
	Names []string
}

// KeysOf gives the keys of a candidate.
func KeysOf(c Candidate) Keys {
	var k Keys
	for _, n := range names(c, Parse(c.Name)) {
		if n.Key == "" {
			continue
		}
		k.name(n)
	}
	own := names(c, Parse(c.Name))
	for _, text := range c.Context[:min(len(c.Context), maxContext)] {
		for _, s := range sentences(text) {
			for _, n := range own {
				for _, other := range otherNames(s, n) {
					if o := Key(other); o != "" && o != n.full() {
						k.Look = append(k.Look, "n:"+o)
					}
				}
			}
		}
	}
	slices.Sort(k.Own)
	slices.Sort(k.Look)
	k.Own, k.Look = slices.Compact(k.Own), slices.Compact(k.Look)
	return k
}

func (k *Keys) own(keys ...string)  { k.Own = append(k.Own, keys...) }
func (k *Keys) both(keys ...string) { k.Own, k.Look = append(k.Own, keys...), append(k.Look, keys...) }

// name adds the keys of one name.
func (k *Keys) name(n Name) {
	k.Names = append(k.Names, n.Key)
	k.both("n:" + n.Key)
	if n.Bracket != "" {
		k.own("n:" + n.full())
	}
	for _, r := range romanKeys(n) {
		k.both("r:" + r)
	}
	if hasHan(n.Key) {
		k.han(n)
		return
	}
	k.latin(n)
}

func (k *Keys) han(n Name) {
	switch n.Form {
	case Full:
		k.own("~full:" + n.Surname)
		k.Look = append(k.Look, "~short:"+n.Surname)
		for _, r := range n.Given {
			k.own("~given:" + string(r))
			k.Look = append(k.Look, "~pet:"+string(r))
		}
		if utf8.RuneCountInString(n.Given) == 2 {
			k.Look = append(k.Look, "n:"+n.Given)
			k.own("whole:" + n.Given)
		}
	case Plain:
		if utf8.RuneCountInString(n.Key) == 2 {
			k.Look = append(k.Look, "whole:"+n.Key)
		}
	case Titled, Prefixed:
		if n.Surname != "" {
			k.both("~short:" + n.Surname)
			k.Look = append(k.Look, "~full:"+n.Surname)
		}
		if n.Surname != "" && n.Given != "" && n.Form == Titled {
			k.both("n:" + n.Surname + n.Given)
		}
		for _, r := range n.Given {
			k.both("~pet:" + string(r))
			k.Look = append(k.Look, "~given:"+string(r))
		}
	case Doubled:
		k.both("~pet:" + n.Given)
		k.Look = append(k.Look, "~given:"+n.Given)
	}
}

func (k *Keys) latin(n Name) {
	given := givenNames[n.Given]
	if given == nil && n.Given != "" {
		given = []string{n.Given}
	}
	switch {
	case n.Form == Full || n.Form == Titled && n.Surname != "" && n.Given != "":
		for _, g := range given {
			k.both("whole:" + g + " " + n.Surname)
			k.own("~given:" + g)
			k.Look = append(k.Look, "~first:"+g)
		}
		k.both("initial:" + first(n.Given, 1) + " " + n.Surname)
		k.own("~full:" + n.Surname)
		k.Look = append(k.Look, "~short:"+n.Surname)
	case n.Form == Titled && n.Surname != "":
		k.both("~short:" + n.Surname)
		k.Look = append(k.Look, "~full:"+n.Surname, "~first:"+n.Surname)
	case n.Form == First || n.Form == Titled:
		for _, g := range given {
			k.both("~first:" + g)
			k.Look = append(k.Look, "~given:"+g)
		}
		k.Look = append(k.Look, "~short:"+n.Given)
	}
}

// Nominated reports whether two candidates are to be compared at all.
func Nominated(a, b Candidate) bool {
	x := NewIndex()
	x.Add(1, a)
	return len(x.Nominate(2, b)) > 0
}

// Index finds those of many candidates that one might be. It holds keys and
// pairs of signs, not the candidates: some 300 bytes each. It is not safe for
// concurrent use.
type Index struct {
	own, look map[string][]int64
	grams     map[string][]gram
	weights   map[int64][]int32 // how many pairs each name has
}

// gram says that the which-th name of a candidate has a pair of signs.
type gram struct {
	id    int64
	which int32
}

// NewIndex is an empty Index.
func NewIndex() *Index {
	return &Index{own: map[string][]int64{}, look: map[string][]int64{}, grams: map[string][]gram{}, weights: map[int64][]int32{}}
}

// Len is the number of candidates.
func (x *Index) Len() int { return len(x.weights) }

// Add takes a candidate in under an id that is not there yet.
func (x *Index) Add(id int64, c Candidate) {
	k := KeysOf(c)
	for _, key := range k.Own {
		x.own[key] = append(x.own[key], id)
	}
	for _, key := range k.Look {
		x.look[key] = append(x.look[key], id)
	}
	weights := make([]int32, 0, len(k.Names))
	for i, name := range k.Names {
		gs := bigrams(name)
		weights = append(weights, int32(len(gs)))
		for _, g := range gs {
			x.grams[g] = append(x.grams[g], gram{id, int32(i)})
		}
	}
	x.weights[id] = weights
}

// Nominate returns the ids of those that c might be or that are to be kept
// apart from it, without id itself, ordered. Weak keys that more than a few
// share are passed over.
func (x *Index) Nominate(id int64, c Candidate) []int64 {
	found := map[int64]bool{}
	for hit := range x.Hits(id, c) {
		if !hit.Weak {
			found[hit.ID] = true
		}
	}
	weak := map[string][]int64{}
	for hit := range x.Hits(id, c) {
		if hit.Weak {
			weak[hit.Key] = append(weak[hit.Key], hit.ID)
		}
	}
	for _, ids := range weak {
		if len(ids) <= MaxWeak {
			for _, other := range ids {
				found[other] = true
			}
		}
	}
	out := make([]int64, 0, len(found))
	for other := range found {
		out = append(out, other)
	}
	slices.SortFunc(out, cmp.Compare[int64])
	return out
}

// Hit is one reason to nominate.
type Hit struct {
	ID  int64
	Key string // "" for alike by pairs of signs
	// Weak marks a key that tells only where few share it.
	Weak bool
}

// Hits yields the reasons to nominate c with what is in the index. An id may
// come several times.
func (x *Index) Hits(id int64, c Candidate) func(yield func(Hit) bool) {
	return func(yield func(Hit) bool) {
		k := KeysOf(c)
		for _, side := range []struct {
			keys []string
			in   map[string][]int64
		}{{k.Look, x.own}, {k.Own, x.look}} {
			for _, key := range side.keys {
				for _, other := range side.in[key] {
					if other != id && !yield(Hit{other, key, strings.HasPrefix(key, "~")}) {
						return
					}
				}
			}
		}
		for _, name := range k.Names {
			gs := bigrams(name)
			count := map[gram]int32{}
			for _, g := range gs {
				for _, at := range x.grams[g] {
					count[at]++
				}
			}
			for at, n := range count {
				all := int32(len(gs)) + x.weights[at.id][at.which] - n
				if at.id != id && float64(n) >= least*float64(all) && !yield(Hit{ID: at.id}) {
					return
				}
			}
		}
	}
}

// Has reports whether a candidate was taken in under an id.
func (x *Index) Has(id int64) bool {
	_, ok := x.weights[id]
	return ok
}
