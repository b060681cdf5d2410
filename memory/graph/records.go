package graph

import (
	"database/sql"
	"fmt"
	"strings"
	"time"
)

// Record is one line of an export: exactly one of its fields is set. Facts and
// pairs name entities by their ids; entities come first.
type Record struct {
	Entity *EntityRecord `json:"entity,omitempty"`
	Fact   *FactRecord   `json:"fact,omitempty"`
	Pair   *PairRecord   `json:"pair,omitempty"`
	Merge  *Merge        `json:"merge,omitempty"`
}

// EntityRecord is a row of entities with its names and stable ids. Times are
// UTC, to the millisecond.
type EntityRecord struct {
	ID       int64     `json:"id"`
	Name     string    `json:"name"`
	Type     string    `json:"type,omitempty"`
	Vague    bool      `json:"vague,omitempty"` // for mentions that several bearers of a name fit
	Mentions int       `json:"mentions"`
	Created  time.Time `json:"created"`
	Updated  time.Time `json:"updated"`

	Names      []NameRecord     `json:"names,omitempty"`
	Identities []IdentityRecord `json:"identities,omitempty"`
}

// NameRecord is a name that an entity is found by. Own ones it was made with;
// one with a Speaker is only so called by that one.
type NameRecord struct {
	Name    string    `json:"name"`
	Own     bool      `json:"own,omitempty"`
	Speaker string    `json:"speaker,omitempty"`
	Created time.Time `json:"created"`
}

// IdentityRecord is a stable id: kind "qq", value "10001".
type IdentityRecord struct {
	Kind    string    `json:"kind"`
	Value   string    `json:"value"`
	Created time.Time `json:"created"`
}

// FactRecord is a row of relations.
type FactRecord struct {
	ID         int64     `json:"id"`
	SubjectID  int64     `json:"subject_id"`
	Subject    string    `json:"subject"` // for the reader; SubjectID counts
	Relation   string    `json:"relation,omitempty"`
	ObjectID   int64     `json:"object_id"`
	Object     string    `json:"object"`
	Confidence float64   `json:"confidence"`
	Heard      int       `json:"heard"`
	Status     Status    `json:"status"`
	Before     Status    `json:"before,omitempty"` // status that a soft purge took away
	Source     string    `json:"source,omitempty"`
	Turn       string    `json:"turn,omitempty"`
	Turns      []string  `json:"turns,omitempty"` // further turns it was heard in
	Speaker    string    `json:"speaker,omitempty"`
	Said       int64     `json:"said,string"` // sum of the words it was told in
	Created    time.Time `json:"created"`
	Updated    time.Time `json:"updated"`
	Day        string    `json:"day"` // local day of Created, 2006-01-02
}

// PairRecord is a row of pairs.
type PairRecord struct {
	ID      int64     `json:"id"`
	A       int64     `json:"a"`
	B       int64     `json:"b"`
	Reason  string    `json:"reason,omitempty"`
	State   PairState `json:"state"`
	Facts   int       `json:"facts,omitempty"`
	Created time.Time `json:"created"`
	Decided time.Time `json:"decided,omitzero"`
}

// utc is a time of the file as records have it; 0 is none.
func utc(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// ms is the reverse of utc.
func ms(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

const factRecord = `SELECT r.id, r.source_id, s.name, r.relation_type, r.target_id, t.name, r.confidence, r.heard, r.status, r.before,
	r.session_id, r.turn_id, r.speaker, r.said, r.created_at, r.updated_at, r.date_bucket,
	(SELECT group_concat(turn_id, char(10)) FROM (SELECT turn_id FROM hearings WHERE relation_id = r.id ORDER BY turn_id))
	FROM relations r` + factEnds

func scanFactRecord(r *sql.Rows) (f FactRecord, err error) {
	var created, updated int64
	var turns sql.NullString
	err = r.Scan(&f.ID, &f.SubjectID, &f.Subject, &f.Relation, &f.ObjectID, &f.Object, &f.Confidence, &f.Heard, &f.Status, &f.Before,
		&f.Source, &f.Turn, &f.Speaker, &f.Said, &created, &updated, &f.Day, &turns)
	f.Created, f.Updated = utc(created), utc(updated)
	if turns.Valid {
		f.Turns = strings.Split(turns.String, "\n")
	}
	return f, err
}

// putFact inserts a row as it is, and nothing into the index.
func (s *session) putFact(f FactRecord) (int64, error) {
	key, _ := relationKey(f.Relation, f.Object)
	var id any // without one, the next
	if f.ID != 0 {
		id = f.ID
	}
	n, err := s.insert(`INSERT INTO relations(id, source_id, target_id, relation_type, relation_key, said,
		confidence, heard, status, before,
		session_id, turn_id, speaker, created_at, updated_at, date_bucket) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		id, f.SubjectID, f.ObjectID, f.Relation, key, f.Said, f.Confidence, f.Heard, f.Status, f.Before,
		f.Source, f.Turn, f.Speaker, ms(f.Created), ms(f.Updated), f.Day)
	for _, t := range f.Turns {
		if err == nil {
			_, err = s.exec("INSERT OR IGNORE INTO hearings(relation_id, turn_id) VALUES(?, ?)", n, t)
		}
	}
	return n, err
}

const pairRecord = "SELECT id, a, b, reason, state, facts, created_at, decided_at FROM pairs "

func scanPairRecord(r *sql.Rows) (p PairRecord, err error) {
	var created, decided int64
	err = r.Scan(&p.ID, &p.A, &p.B, &p.Reason, &p.State, &p.Facts, &created, &decided)
	p.Created, p.Decided = utc(created), utc(decided)
	return p, err
}

// putPair inserts a row as it is, unless the pair is there.
func (s *session) putPair(p PairRecord) (bool, error) {
	var id any
	if p.ID != 0 {
		id = p.ID
	}
	n, err := s.exec("INSERT OR IGNORE INTO pairs(id, a, b, reason, state, facts, created_at, decided_at) VALUES(?, ?, ?, ?, ?, ?, ?, ?)",
		id, min(p.A, p.B), max(p.A, p.B), p.Reason, p.State, p.Facts, ms(p.Created), ms(p.Decided))
	return n > 0, err
}

// rowsOf are the names and stable ids of an entity.
func rowsOf(read func(string, func(*sql.Rows) error, ...any) error, id int64) (names []NameRecord, identities []IdentityRecord, err error) {
	err = read("SELECT alias, own, speaker, created_at FROM aliases WHERE entity_id = ? ORDER BY created_at, key, speaker",
		func(r *sql.Rows) error {
			var n NameRecord
			var created int64
			err := r.Scan(&n.Name, &n.Own, &n.Speaker, &created)
			n.Created = utc(created)
			names = append(names, n)
			return err
		}, id)
	if err == nil {
		err = read("SELECT kind, value, created_at FROM identities WHERE entity_id = ? ORDER BY kind, value", func(r *sql.Rows) error {
			var n IdentityRecord
			var created int64
			err := r.Scan(&n.Kind, &n.Value, &created)
			n.Created = utc(created)
			identities = append(identities, n)
			return err
		}, id)
	}
	return names, identities, err
}

const entityRecord = "SELECT id, name, type, vague, mention_count, created_at, updated_at FROM entities "

func scanEntityRecord(r *sql.Rows) (e EntityRecord, err error) {
	var created, updated int64
	err = r.Scan(&e.ID, &e.Name, &e.Type, &e.Vague, &e.Mentions, &created, &updated)
	e.Created, e.Updated = utc(created), utc(updated)
	return e, err
}

// entity reads an entity whole; ErrUnknown is wrapped if there is none.
func (s *session) entity(id int64) (e EntityRecord, err error) {
	if err := s.exists(id); err != nil {
		return e, err
	}
	err = s.each(entityRecord+"WHERE id = ?", func(r *sql.Rows) (err error) {
		e, err = scanEntityRecord(r)
		return err
	}, id)
	if err == nil {
		e.Names, e.Identities, err = rowsOf(s.each, id)
	}
	return e, err
}

// putEntity inserts the row alone.
func (s *session) putEntity(e EntityRecord) (int64, error) {
	var id any
	if e.ID != 0 {
		id = e.ID
	}
	return s.insert("INSERT INTO entities(id, name, type, vague, mention_count, created_at, updated_at) VALUES(?, ?, ?, ?, ?, ?, ?)",
		id, e.Name, e.Type, e.Vague, e.Mentions, ms(e.Created), ms(e.Updated))
}

// putName adds a name of an entity; added is false if it has it.
func (s *session) putName(id int64, n NameRecord) (added bool, err error) {
	k, err := s.exec("INSERT OR IGNORE INTO aliases(key, entity_id, speaker, alias, own, created_at) VALUES(?, ?, ?, ?, ?, ?)",
		nameKey(n.Name), id, n.Speaker, n.Name, n.Own, ms(n.Created))
	return k > 0, err
}

// indexNames puts all names of an entity into the index.
func (s *session) indexNames(id int64) error {
	return s.each("SELECT alias FROM aliases WHERE entity_id = ?", func(r *sql.Rows) error {
		var alias string
		err := r.Scan(&alias)
		s.index.put(kindEntity, id, nameTerms(alias))
		return err
	}, id)
}

// Check tells whether a record from elsewhere makes sense by itself; errors
// wrap ErrRecord or ErrTooLong. Whether it fits those before it Import finds out.
func (r Record) Check() error {
	kinds := 0
	for _, is := range []bool{r.Entity != nil, r.Fact != nil, r.Pair != nil, r.Merge != nil} {
		if is {
			kinds++
		}
	}
	if kinds != 1 {
		return fmt.Errorf("%w: it holds %d things", ErrRecord, kinds)
	}
	var parts []string
	switch {
	case r.Entity != nil:
		if r.Entity.ID <= 0 || !visible(r.Entity.Name) {
			return fmt.Errorf("%w: entity %d", ErrRecord, r.Entity.ID)
		}
		parts = []string{r.Entity.Name, r.Entity.Type}
	case r.Fact != nil:
		if r.Fact.SubjectID <= 0 || r.Fact.ObjectID <= 0 {
			return fmt.Errorf("%w: fact %d between %d and %d", ErrRecord, r.Fact.ID, r.Fact.SubjectID, r.Fact.ObjectID)
		}
		parts = []string{r.Fact.Relation}
	}
	for _, p := range parts {
		if _, err := clean("part", p); err != nil {
			return err
		}
	}
	return nil
}
