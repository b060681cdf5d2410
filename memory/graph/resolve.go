package graph

import (
	"database/sql"
	"fmt"
	"unicode/utf8"

	"homeagent/memory/token"
)

const (
	// maxBearers is how many bearers of one name are looked at.
	maxBearers = 64
	// maxRivals is how many pairs one mention may nominate.
	maxRivals = 4
	// speakerFacts is how many of an entity's newest facts are asked whether a
	// speaker has told them.
	speakerFacts = 64
)

// mention is a name as somebody said it.
type mention struct {
	name, kind, id, speaker string
}

// place is the entity that a mention means, or what is needed to make it.
type place struct {
	id    int64 // 0: to be made
	name  string
	label string // of the row; of one to be made once it is

	kind     string
	identity [2]string // kind and value of a stable id that is to be kept
	scope    string    // the speaker whose alias the name is, "" for everybody's
	alias    bool      // the name is to be added to a row that was found by its id
	vague    bool
	pinned   bool    // by a stable id: words do not tell who is meant
	rivals   []int64 // bearers of the name to be compared with a row to be made
	reason   string
}

// bearer is an entity that has a name.
type bearer struct {
	id    int64
	label string
	kind  string
	alias string
	vague bool
	own   bool
}

// Reasons of the pairs that Commit nominates.
const (
	reasonSeveral  = "several bearers of the name fit"
	reasonConflict = "same name, contradicting attributes"
	reasonAccount  = "an account bears the name"
	reasonSpeaker  = "the name was told without a speaker before"
)

// resolve finds out whom a mention means, by stable id, then by name, kind and
// speaker. It writes nothing.
func (c *committer) resolve(m mention) (place, error) {
	p := place{name: m.name, kind: m.kind}
	kind, value, byID := identity(m.id)
	if !byID {
		kind, value, byID = nameIdentity(m.name)
	}
	if entityType(m.name) != "" {
		p.kind = entityType(m.name)
	}
	if byID {
		p.pinned, p.identity = true, [2]string{kind, value}
		err := c.one("SELECT e.id, e.name FROM identities i JOIN entities e ON e.id = i.entity_id WHERE i.kind = ? AND i.value = ?",
			[]any{kind, value}, &p.id, &p.label)
		if ok, err := found(err); ok || err != nil {
			p.alias = ok
			return p, err
		}
	}
	if m.speaker != "" && c.relative(m.name) {
		p.scope = m.speaker
	}
	all, err := c.bearers(nameKey(m.name), p.scope)
	if err != nil {
		return p, err
	}
	fits, conflicts, err := c.sift(all, p)
	if err != nil {
		return p, err
	}
	if byID && kind != kindDevice && kind != kindPhone && len(fits) > 0 {
		// Anybody may give an account any name: that alone never binds it.
		p.rivals, p.reason = ids(fits), reasonAccount
		return p, nil
	}
	b, ok, err := c.choose(fits, p, m.speaker)
	switch {
	case err != nil:
		return p, err
	case ok:
		p.id, p.label = b.id, b.label
		if b.kind != "" {
			p.kind = "" // nothing to add
		}
		return p, nil
	case len(fits) > 0:
		p.vague, p.rivals, p.reason = true, ids(fits), reasonSeveral
	case len(conflicts) > 0:
		p.rivals, p.reason = ids(conflicts), reasonConflict
	case p.scope != "":
		if all, err = c.bearers(nameKey(m.name), ""); err != nil {
			return p, err
		}
		p.rivals, p.reason = ids(all), reasonSpeaker
	}
	return p, nil
}

func ids(all []bearer) []int64 {
	var out []int64
	for _, b := range all[:min(len(all), maxRivals)] {
		out = append(out, b.id)
	}
	return out
}

// bearers are the entities that have a name in a scope, those whose own name it
// is if there are any, else those to whom it was given.
func (c *committer) bearers(key, scope string) ([]bearer, error) {
	var own, given []bearer
	err := c.each(`SELECT e.id, e.name, e.type, e.vague, a.own, a.alias FROM aliases a JOIN entities e ON e.id = a.entity_id
		WHERE a.key = ? AND a.speaker = ? ORDER BY e.mention_count DESC, e.id LIMIT ?`, func(r *sql.Rows) error {
		var b bearer
		err := r.Scan(&b.id, &b.label, &b.kind, &b.vague, &b.own, &b.alias)
		if b.own {
			own = append(own, b)
		} else {
			given = append(given, b)
		}
		return err
	}, key, scope, maxBearers)
	if len(own) > 0 {
		return own, err
	}
	return given, err
}

// sift parts the bearers that may be meant from those that cannot.
func (c *committer) sift(all []bearer, p place) (fits, conflicts []bearer, err error) {
	for _, b := range all {
		conflict := exclusive(b.kind, p.kind)
		if p.pinned && !conflict {
			// Of one kind of stable id everybody has one.
			err := c.one("SELECT 1 FROM identities WHERE entity_id = ? AND kind = ? LIMIT 1", []any{b.id, p.identity[0]}, new(int))
			if conflict, err = found(err); err != nil {
				return nil, nil, err
			}
		}
		if conflict {
			conflicts = append(conflicts, b)
		} else {
			fits = append(fits, b)
		}
	}
	return fits, conflicts, nil
}

// choose narrows the bearers down to one: by kind, by the spelling, by who
// speaks of whom. Where that fails, the row for such mentions is the one.
func (c *committer) choose(fits []bearer, p place, speaker string) (bearer, bool, error) {
	clear, vague := fits[:0:0], fits[:0:0]
	for _, b := range fits {
		if b.vague {
			vague = append(vague, b)
		} else {
			clear = append(clear, b)
		}
	}
	narrow := func(keep func(bearer) bool) bool {
		var some []bearer
		for _, b := range clear {
			if keep(b) {
				some = append(some, b)
			}
		}
		if len(some) > 0 {
			clear = some
		}
		return len(clear) == 1
	}
	if len(clear) == 1 ||
		narrow(func(b bearer) bool { return sameKind(b.kind, p.kind) }) ||
		narrow(func(b bearer) bool { return b.alias == p.name }) {
		return clear[0], true, nil
	}
	if speaker != "" && len(clear) > 1 {
		told := map[int64]bool{}
		for _, b := range clear {
			var yes bool
			err := c.one(`SELECT EXISTS(SELECT 1 FROM (
				SELECT speaker FROM (SELECT speaker FROM relations WHERE source_id = ?1 AND status = 'active' ORDER BY updated_at DESC LIMIT ?2)
				UNION ALL SELECT speaker FROM (SELECT speaker FROM relations WHERE target_id = ?1 AND status = 'active' ORDER BY updated_at DESC LIMIT ?2)
				) WHERE speaker = ?3)`,
				[]any{b.id, speakerFacts, speaker}, &yes)
			if err != nil {
				return bearer{}, false, err
			}
			told[b.id] = yes
		}
		if narrow(func(b bearer) bool { return told[b.id] }) {
			return clear[0], true, nil
		}
	}
	if len(vague) > 0 {
		return vague[0], true, nil
	}
	return bearer{}, false, nil
}

// mention makes the entity of a place where it is missing, adds what the
// mention tells of it, and counts it if count.
func (c *committer) mention(p *place, count bool) error {
	defer func() { c.touch(p.id) }()
	if p.id == 0 {
		return c.establish(p, count)
	}
	_, err := c.exec(`UPDATE entities SET mention_count = mention_count + ?, updated_at = max(updated_at, ?),
		type = iif(type = '', ?, type) WHERE id = ?`,
		count, c.now, p.kind, p.id)
	if err == nil && p.alias {
		err = c.give(p.id, p.name, p.scope, false)
	}
	if err == nil && p.identity[0] != "" && !p.alias {
		err = c.identify(p)
	}
	return err
}

// establish makes the entity of a place. A second bearer of a name is labelled
// with what sets it apart, and found by the bare name as well.
func (c *committer) establish(p *place, count bool) (err error) {
	if p.label, err = c.label(p); err != nil {
		return err
	}
	p.id, err = c.insert("INSERT INTO entities(name, type, vague, mention_count, created_at, updated_at) VALUES(?, ?, ?, ?, ?, ?)",
		p.label, p.kind, p.vague, count, c.now, c.now)
	if err == nil {
		err = c.give(p.id, p.name, p.scope, true)
	}
	if err == nil && p.label != p.name {
		err = c.give(p.id, p.label, "", true)
	}
	if err == nil && p.identity[0] != "" {
		err = c.identify(p)
	}
	for _, rival := range p.rivals {
		if err == nil {
			err = c.nominate(p.id, rival, p.reason)
		}
	}
	return err
}

func (c *committer) identify(p *place) error {
	_, err := c.exec("INSERT OR IGNORE INTO identities(kind, value, entity_id, created_at) VALUES(?, ?, ?, ?)",
		p.identity[0], p.identity[1], p.id, c.now)
	return err
}

// label finds a free label for a new entity: the name, else the name with what
// sets it apart in brackets, else with a number.
func (c *committer) label(p *place) (string, error) {
	free := func(name string) (bool, error) {
		var taken bool
		err := c.one("SELECT EXISTS(SELECT 1 FROM entities WHERE name = ?)", []any{name}, &taken)
		return !taken, err
	}
	tries := []string{p.name}
	for _, by := range []string{p.scope, p.kind} {
		if by != "" && by != "text" {
			tries = append(tries, qualified(p.name, by))
		}
	}
	for i := 0; ; i++ {
		if i == len(tries) {
			tries = append(tries, qualified(p.name, fmt.Sprint(2+i-min(i, 1))))
		}
		ok, err := free(tries[i])
		if ok || err != nil {
			return tries[i], err
		}
	}
}

// qualified puts what sets a name apart behind it.
func qualified(name, by string) string {
	if token.HasHan(name) {
		return name + "（" + by + "）"
	}
	return name + " (" + by + ")"
}

// give lets an entity be found by a name, among those of a speaker's alone if
// speaker is one.
func (s *session) give(id int64, name, speaker string, own bool) error {
	if utf8.RuneCountInString(name) > maxName && !own {
		return nil // a text that speaks of it, no name
	}
	n, err := s.exec("INSERT OR IGNORE INTO aliases(key, entity_id, speaker, alias, own, created_at) VALUES(?, ?, ?, ?, ?, ?)",
		nameKey(name), id, speaker, name, own, s.now)
	if err == nil && n > 0 {
		s.index.put(kindEntity, id, nameTerms(name))
	}
	return err
}
