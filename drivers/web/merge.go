package web

import "context"

// window returns at most limit items before the one with the id, oldest first:
// the plugin's own list, which alone knows of turns that run, of those without
// memory and of rings, and what memory has beyond it. Memory fills the hole that
// a crash leaves in the list, and reaches further back.
func (a *agent) window(ctx context.Context, limit int, before string) []Item {
	h, ok := a.reg.(Historian)
	if !ok {
		return a.history.window(limit, before)
	}
	own := a.history.all()
	ask, from, at := limit, before, -1
	if before != "" {
		if at = index(own, before); at >= 0 {
			// Memory may never have heard of that item; what is newer is cut off below.
			ask, from = limit+len(own)-at, ""
		}
	}
	kept, err := h.History(ctx, ask, from)
	if err != nil {
		a.log.Warn("memory's part of the history cannot be read", "err", err)
		return a.history.window(limit, before)
	}
	if before != "" && at < 0 {
		if len(kept) == 0 {
			return []Item{}
		}
		own = upTo(own, kept[len(kept)-1])
	}
	all := merge(own, kept)
	if at >= 0 {
		all = all[:index(all, before)]
	}
	return last(all, limit)
}

// upTo are the items of the list that are not newer than it.
func upTo(items []Item, it Item) []Item {
	var out []Item
	for _, o := range items {
		if !o.Time.After(it.Time) {
			out = append(out, o)
		}
	}
	return out
}

// sameness is what an item of the list and its like from memory have in common,
// whatever the id: a list that an older version has saved has other ids.
type sameness struct {
	input, more string
	role        Role
}

func samenessOf(it Item) sameness {
	s := sameness{input: it.Input, role: it.Role}
	switch it.Role {
	case RoleAgent:
		s.more = it.Channel + "\x00" + it.Text
	case RoleDid:
		if it.Call != nil {
			s.more = it.Call.ID
		}
	}
	return s
}

// merge puts what only memory has between the items of the list, by time. Each
// keeps its own order; both are oldest first.
func merge(own, kept []Item) []Item {
	ids, known := map[string]bool{}, map[sameness]bool{}
	for _, it := range own {
		ids[it.ID], known[samenessOf(it)] = true, true
	}
	out := make([]Item, 0, len(own)+len(kept))
	for _, it := range kept {
		if ids[it.ID] || known[samenessOf(it)] {
			continue
		}
		for len(own) > 0 && !own[0].Time.After(it.Time) {
			out, own = append(out, own[0]), own[1:]
		}
		out = append(out, it)
	}
	return append(out, own...)
}

// last are the last items, at most limit. They do not begin in the middle of a
// turn unless nothing else would be left, so that whoever pages back misses
// nothing of it.
func last(items []Item, limit int) []Item {
	first := max(0, len(items)-limit)
	for at := first; at < len(items); at++ {
		if at == 0 || items[at].Input == "" || items[at].Input != items[at-1].Input {
			return items[at:]
		}
	}
	return items[first:]
}
