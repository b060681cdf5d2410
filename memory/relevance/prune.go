package relevance

import (
	"cmp"
	"math"
	"slices"

	"homeagent/agent/provider"
)

const (
	// fresh is the number of newest events that stay whatever they say: the
	// conversation as a person remembers it.
	fresh = 6
	// ageBonus is what the newest event gets for being new, in units of
	// cosine; ageHalf is the number of events after which it has halved. With
	// them an old event stays if it speaks of what the input speaks of.
	ageBonus = 0.35
	ageHalf  = 12
)

// unit is a run of events that no cut may part: one event, or an assistant
// message with calls and the answers to them, wherever they stand.
type unit struct {
	members []int // positions in events, ascending
	score   float64
	must    bool
}

// Prune cuts the context to Keep events if it has reached Max, and reports how
// many went. query is the text that relevance is measured against; with an
// empty one only age counts. The newest events stay. Units larger than what is
// left of Keep go, except where the newest event belongs to them.
func (c *Context) Prune(query string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.events) < c.opts.Max {
		return 0
	}
	units := c.units()
	c.score(units, query)
	keep := choose(units, c.opts.Keep)
	live := make([]*event, 0, len(c.events))
	before := len(c.gone)
	for i, e := range c.events {
		if keep[i] {
			live = append(live, e)
			continue
		}
		c.forgetLater(e.msg.ID)
		e.vec = nil
		c.gone = append(c.gone, e)
	}
	c.events = live
	return len(c.gone) - before
}

// units groups the events.
func (c *Context) units() []*unit {
	var units []*unit
	byCall := map[string]*unit{}
	for i, e := range c.events {
		if e.msg.Role == provider.Tool {
			if u := byCall[e.msg.CallID]; u != nil {
				u.members = append(u.members, i)
				continue
			}
		}
		u := &unit{members: []int{i}}
		units = append(units, u)
		for _, call := range e.msg.Calls {
			// The newest bearer of a call's id owns the answers that follow.
			byCall[call.ID] = u
		}
	}
	return units
}

// score fills in each unit's score and what must stay.
func (c *Context) score(units []*unit, query string) {
	vectors := make([]Vector, len(c.events))
	for i, e := range c.events {
		if !e.counted {
			e.vec, e.counted = c.vector(&e.msg), true
		}
		vectors[i] = e.vec
	}
	weight := idf(vectors)
	q := c.opts.Vectorizer.Vectorize(query)
	last := len(c.events) - 1
	for _, u := range units {
		for _, i := range u.members {
			age := float64(last - i)
			s := cosine(q, vectors[i], weight) + ageBonus*math.Exp2(-age/ageHalf)
			u.score = max(u.score, s)
			u.must = u.must || last-i < fresh
		}
	}
}

// vector is computed from what memory may compute on; nil where it is nothing.
func (c *Context) vector(m *provider.Message) Vector {
	text := m.Content
	switch {
	case m.NoMemory || m.Role == provider.Tool && c.opts.NoMemory != nil && c.opts.NoMemory(m.Name):
		return nil
	case m.Role == provider.Tool && c.opts.Cleaner != nil:
		if clean := c.opts.Cleaner(m.Name); clean != nil {
			text = clean(text)
		}
	}
	return c.opts.Vectorizer.Vectorize(text)
}

// choose returns the positions that stay: first the unit of the newest event,
// then the fresh ones from the newest back, then the others by score, each
// where it still fits.
func choose(units []*unit, room int) map[int]bool {
	newest := func(u *unit) int { return u.members[len(u.members)-1] }
	order := slices.Clone(units)
	slices.SortStableFunc(order, func(a, b *unit) int {
		switch {
		case a.must != b.must:
			if a.must {
				return -1
			}
			return 1
		case a.must:
			return cmp.Compare(newest(b), newest(a))
		case a.score != b.score:
			return cmp.Compare(b.score, a.score)
		}
		return cmp.Compare(newest(b), newest(a)) // equal scores: the newer stays
	})
	keep := map[int]bool{}
	for i, u := range order {
		if i > 0 && len(keep)+len(u.members) > room {
			continue
		}
		for _, m := range u.members {
			keep[m] = true
		}
	}
	return keep
}
