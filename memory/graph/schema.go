package graph

// schemaVersion is the file's user_version. Version 1 had no identities, pairs,
// hearings and changes, and no scope of aliases; see migrate.go.
const schemaVersion = 2

// schema creates the tables. Columns beyond entity and relation proper:
//
//   - entities.vague marks a row for mentions that several bearers of a name fit.
//   - aliases.speaker scopes a name that means another person in everybody's
//     mouth ("我妈"); own is the name a row was made with, the others were added.
//   - identities are what no two have: account, device, telephone number.
//   - relations.relation_key groups relations that mean the same (relation.go),
//     said groups wordings of one sentence (wording.go), heard counts how often
//     it was said, before is the status that a soft purge took away.
//   - hearings are the turns, beyond the first, that a fact was heard in.
//   - changes.seq grows with every transaction that changed an entity.
const schema = `
CREATE TABLE entities(
	id            INTEGER PRIMARY KEY AUTOINCREMENT,
	name          TEXT NOT NULL UNIQUE,
	type          TEXT NOT NULL DEFAULT '',
	vague         INTEGER NOT NULL DEFAULT 0,
	mention_count INTEGER NOT NULL DEFAULT 0,
	created_at    INTEGER NOT NULL,
	updated_at    INTEGER NOT NULL
);
CREATE INDEX entities_by_mentions ON entities(mention_count DESC);
` + schemaAliases + schemaIdentities + schemaRelations + schemaPairs + `
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

const schemaAliases = `
CREATE TABLE aliases(
	key        TEXT NOT NULL,
	entity_id  INTEGER NOT NULL REFERENCES entities(id) ON DELETE CASCADE,
	speaker    TEXT NOT NULL DEFAULT '',
	alias      TEXT NOT NULL,
	own        INTEGER NOT NULL DEFAULT 0,
	created_at INTEGER NOT NULL,
	PRIMARY KEY(key, entity_id, speaker)
) WITHOUT ROWID;
CREATE INDEX aliases_by_entity ON aliases(entity_id);
`

const schemaIdentities = `
CREATE TABLE identities(
	kind       TEXT NOT NULL,
	value      TEXT NOT NULL,
	entity_id  INTEGER NOT NULL REFERENCES entities(id) ON DELETE CASCADE,
	created_at INTEGER NOT NULL,
	PRIMARY KEY(kind, value)
) WITHOUT ROWID;
CREATE INDEX identities_by_entity ON identities(entity_id);
`

const schemaRelations = `
CREATE TABLE relations(
	id            INTEGER PRIMARY KEY AUTOINCREMENT,
	source_id     INTEGER NOT NULL REFERENCES entities(id),
	target_id     INTEGER NOT NULL REFERENCES entities(id),
	relation_type TEXT NOT NULL,
	relation_key  TEXT NOT NULL,
	said          INTEGER NOT NULL,
	confidence    REAL NOT NULL,
	heard         INTEGER NOT NULL DEFAULT 1,
	status        TEXT NOT NULL CHECK(status IN ('active', 'past', 'archived', 'forgotten')),
	before        TEXT NOT NULL DEFAULT '',
	session_id    TEXT NOT NULL DEFAULT '',
	turn_id       TEXT NOT NULL DEFAULT '',
	speaker       TEXT NOT NULL DEFAULT '',
	created_at    INTEGER NOT NULL,
	updated_at    INTEGER NOT NULL,
	date_bucket   TEXT NOT NULL
);
CREATE INDEX relations_by_source ON relations(source_id, status, updated_at, target_id);
CREATE INDEX relations_by_target ON relations(target_id, status, updated_at, source_id);
CREATE INDEX relations_by_key ON relations(source_id, relation_key, target_id);
CREATE INDEX relations_by_said ON relations(said);
CREATE INDEX relations_forgotten ON relations(id) WHERE status = 'forgotten';

CREATE TABLE hearings(
	relation_id INTEGER NOT NULL REFERENCES relations(id) ON DELETE CASCADE,
	turn_id     TEXT NOT NULL,
	PRIMARY KEY(relation_id, turn_id)
) WITHOUT ROWID;
`

const schemaPairs = `
CREATE TABLE pairs(
	id         INTEGER PRIMARY KEY AUTOINCREMENT,
	a          INTEGER NOT NULL,
	b          INTEGER NOT NULL,
	reason     TEXT NOT NULL,
	state      TEXT NOT NULL CHECK(state IN ('open', 'merged', 'different', 'undecided')),
	facts      INTEGER NOT NULL DEFAULT 0,
	created_at INTEGER NOT NULL,
	decided_at INTEGER NOT NULL DEFAULT 0,
	UNIQUE(a, b)
);
CREATE INDEX pairs_by_b ON pairs(b);
CREATE INDEX pairs_by_state ON pairs(state, id);

CREATE TABLE changes(
	entity_id INTEGER PRIMARY KEY,
	seq       INTEGER NOT NULL
);
CREATE INDEX changes_by_seq ON changes(seq, entity_id);
`
