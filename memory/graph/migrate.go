package graph

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
)

// migrateStep is how many rows are held in memory at a time.
const migrateStep = 1000

// migrate brings a file of schema 1 to the present one, in the transaction tx:
// a cut leaves the old file as it was. No row is lost; keys of names and
// relations are made anew, since the rules for them have grown.
func migrate(ctx context.Context, tx *sql.Tx) error {
	run := func(statements ...string) error {
		for _, s := range statements {
			if _, err := tx.ExecContext(ctx, s); err != nil {
				return fmt.Errorf("%w: bring schema 1 to %d: %w", ErrDamaged, schemaVersion, err)
			}
		}
		return nil
	}
	err := run(
		"DROP INDEX aliases_by_entity", "ALTER TABLE aliases RENAME TO aliases_1", schemaAliases,
		"DROP INDEX relations_by_source", "DROP INDEX relations_by_target", "DROP INDEX relations_by_key", "DROP INDEX relations_forgotten",
		"ALTER TABLE relations RENAME TO relations_1", schemaRelations,
		"ALTER TABLE entities ADD COLUMN vague INTEGER NOT NULL DEFAULT 0",
		schemaIdentities, schemaPairs,
	)
	if err == nil {
		err = migrateAliases(ctx, tx)
	}
	if err == nil {
		err = migrateRelations(ctx, tx)
	}
	if err != nil {
		return err
	}
	return run(
		// Ids of rows that were erased must never come again.
		`INSERT INTO sqlite_sequence(name, seq) SELECT 'relations', 0
			WHERE NOT EXISTS(SELECT 1 FROM sqlite_sequence WHERE name = 'relations')`,
		`UPDATE sqlite_sequence SET seq = max(seq, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'relations_1'), 0))
			WHERE name = 'relations'`,
		"DROP TABLE relations_1", "DROP TABLE aliases_1",
		"INSERT INTO changes(entity_id, seq) SELECT id, id FROM entities",
		"PRAGMA user_version = "+strconv.Itoa(schemaVersion),
	)
}

func migrateAliases(ctx context.Context, tx *sql.Tx) error {
	type alias struct {
		entity, created int64
		alias, label    string
	}
	var all []alias
	var last int64
	for {
		all = all[:0]
		// Of one entity all aliases at once: there are few.
		err := each(ctx, tx, `SELECT a.entity_id, a.alias, a.created_at, e.name FROM aliases_1 a JOIN entities e ON e.id = a.entity_id
			WHERE a.entity_id IN (SELECT id FROM entities WHERE id > ? ORDER BY id LIMIT ?) ORDER BY a.entity_id`,
			func(r *sql.Rows) error {
				var a alias
				err := r.Scan(&a.entity, &a.alias, &a.created, &a.label)
				all = append(all, a)
				return err
			}, last, migrateStep)
		if err != nil {
			return err
		}
		for _, a := range all {
			_, err := tx.ExecContext(ctx, "INSERT OR IGNORE INTO aliases(key, entity_id, alias, own, created_at) VALUES(?, ?, ?, ?, ?)",
				nameKey(a.alias), a.entity, a.alias, a.alias == a.label, a.created)
			if err != nil {
				return err
			}
		}
		next := sql.NullInt64{}
		if err := tx.QueryRowContext(ctx, "SELECT max(id) FROM (SELECT id FROM entities WHERE id > ? ORDER BY id LIMIT ?)",
			last, migrateStep).Scan(&next); err != nil {
			return err
		}
		if !next.Valid {
			return nil
		}
		last = next.Int64
	}
}

func migrateRelations(ctx context.Context, tx *sql.Tx) error {
	type row struct {
		id                        int64
		subject, relation, object string
	}
	put, err := tx.PrepareContext(ctx, `INSERT INTO relations(id, source_id, target_id, relation_type, relation_key, said,
		confidence, status, before,
		session_id, turn_id, created_at, updated_at, date_bucket)
		SELECT id, source_id, target_id, relation_type, ?, ?, confidence, status, iif(status = 'forgotten', 'active', ''),
		session_id, turn_id, created_at, updated_at, date_bucket FROM relations_1 WHERE id = ?`)
	if err != nil {
		return err
	}
	defer put.Close()
	var all []row
	var last int64
	for {
		all = all[:0]
		err := each(ctx, tx, `SELECT r.id, s.name, r.relation_type, t.name FROM relations_1 r
			JOIN entities s ON s.id = r.source_id JOIN entities t ON t.id = r.target_id WHERE r.id > ? ORDER BY r.id LIMIT ?`,
			func(r *sql.Rows) error {
				var x row
				err := r.Scan(&x.id, &x.subject, &x.relation, &x.object)
				all = append(all, x)
				return err
			}, last, migrateStep)
		if err != nil {
			return err
		}
		if len(all) == 0 {
			return nil
		}
		for _, x := range all {
			key, _ := relationKey(x.relation, x.object)
			if _, err := put.ExecContext(ctx, key, said(x.subject, x.relation, x.object), x.id); err != nil {
				return err
			}
			last = x.id
		}
	}
}
