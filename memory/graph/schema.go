package graph

// schemaVersion is the file's user_version.
const schemaVersion = 1

// schema creates the tables. Columns beyond entity and relation proper:
// relation_key groups relations that mean the same (relation.go).
const schema = `
CREATE TABLE entities(
	id            INTEGER PRIMARY KEY AUTOINCREMENT,
	name          TEXT NOT NULL UNIQUE,
	type          TEXT NOT NULL DEFAULT '',
	mention_count INTEGER NOT NULL DEFAULT 0,
	created_at    INTEGER NOT NULL,
	updated_at    INTEGER NOT NULL
);
CREATE INDEX entities_by_mentions ON entities(mention_count DESC);

CREATE TABLE aliases(
	key        TEXT NOT NULL,
	entity_id  INTEGER NOT NULL REFERENCES entities(id) ON DELETE CASCADE,
	alias      TEXT NOT NULL,
	created_at INTEGER NOT NULL,
	PRIMARY KEY(key, entity_id)
) WITHOUT ROWID;
CREATE INDEX aliases_by_entity ON aliases(entity_id);

CREATE TABLE relations(
	id            INTEGER PRIMARY KEY AUTOINCREMENT,
	source_id     INTEGER NOT NULL REFERENCES entities(id),
	target_id     INTEGER NOT NULL REFERENCES entities(id),
	relation_type TEXT NOT NULL,
	relation_key  TEXT NOT NULL,
	confidence    REAL NOT NULL,
	status        TEXT NOT NULL CHECK(status IN ('active', 'past', 'forgotten')),
	session_id    TEXT NOT NULL DEFAULT '',
	turn_id       TEXT NOT NULL DEFAULT '',
	created_at    INTEGER NOT NULL,
	updated_at    INTEGER NOT NULL,
	date_bucket   TEXT NOT NULL
);
CREATE INDEX relations_by_source ON relations(source_id, status, updated_at, target_id);
CREATE INDEX relations_by_target ON relations(target_id, status, updated_at, source_id);
CREATE INDEX relations_by_key ON relations(source_id, relation_key, target_id);
CREATE INDEX relations_forgotten ON relations(id) WHERE status = 'forgotten';

CREATE TABLE merges(
	id         INTEGER PRIMARY KEY AUTOINCREMENT,
	kept_id    INTEGER NOT NULL,
	dropped_id INTEGER NOT NULL,
	dropped    TEXT NOT NULL,
	moved      TEXT NOT NULL,
	reason     TEXT NOT NULL,
	created_at INTEGER NOT NULL,
	undone_at  INTEGER
);

CREATE TABLE terms(
	id   INTEGER PRIMARY KEY,
	term TEXT NOT NULL,
	kind INTEGER NOT NULL,
	df   INTEGER NOT NULL,
	UNIQUE(term, kind)
);
CREATE TABLE postings(
	term_id INTEGER NOT NULL,
	first   INTEGER NOT NULL,
	ids     BLOB NOT NULL,
	PRIMARY KEY(term_id, first)
) WITHOUT ROWID;

CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
`
