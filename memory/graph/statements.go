package graph

import (
	"database/sql"
	"fmt"
)

// statements are prepared once; each takes its lists as a JSON array, so that
// one statement serves any number of values.
type statements struct {
	terms, postings, newest, names, facts, factsPast, edges, ends, size *sql.Stmt
}

const recallFacts = "SELECT " + factColumns + `, s.mention_count, s.type, t.mention_count, t.type
	FROM json_each(?) j JOIN relations r ON r.id = j.value` + factEnds + "WHERE r.status "

func (s *statements) all() map[string]**sql.Stmt {
	return map[string]**sql.Stmt{
		"SELECT t.id, t.term, t.kind, t.df FROM json_each(?) j JOIN terms t ON t.term = j.value": &s.terms,
		"SELECT p.term_id, p.ids FROM json_each(?) j JOIN postings p ON p.term_id = j.value":     &s.postings,
		"SELECT term_id, ids FROM postings WHERE term_id = ? ORDER BY first DESC LIMIT ?":        &s.newest,
		`SELECT a.entity_id, a.alias, a.speaker, e.mention_count FROM json_each(?) j
			JOIN aliases a ON a.entity_id = j.value JOIN entities e ON e.id = j.value`: &s.names,
		recallFacts + "= 'active'":     &s.facts,
		recallFacts + "<> 'forgotten'": &s.factsPast,
		// The newest facts of each entity as "fact other fact other ...": one row
		// an entity, read from the indexes alone.
		`SELECT j.value,
			(SELECT group_concat(id || ' ' || target_id, ' ') FROM (SELECT id, target_id FROM relations
				WHERE source_id = j.value AND status = ?3 ORDER BY updated_at DESC LIMIT ?2)),
			(SELECT group_concat(id || ' ' || source_id, ' ') FROM (SELECT id, source_id FROM relations
				WHERE target_id = j.value AND status = ?3 ORDER BY updated_at DESC LIMIT ?2))
			FROM json_each(?1) j`: &s.edges,
		`SELECT r.id, r.source_id, r.target_id FROM json_each(?) j JOIN relations r ON r.id = j.value
			WHERE r.status = 'active'`: &s.ends,
		"SELECT coalesce((SELECT max(id) FROM relations), 0), coalesce((SELECT max(id) FROM entities), 0)": &s.size,
	}
}

func (s *statements) prepare(db *sql.DB) error {
	for text, to := range s.all() {
		var err error
		if *to, err = db.Prepare(text); err != nil {
			return fmt.Errorf("prepare %q: %w", text, err)
		}
	}
	return nil
}

func (s *statements) close() {
	for _, st := range s.all() {
		if *st != nil {
			(*st).Close()
		}
	}
}
