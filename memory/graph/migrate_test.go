package graph_test

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"homeagent/memory/graph"
)

// schema1 copies a file that a program of schema 1 has written: the household,
// a fact that ended (小明 lived in 上海), one that was confirmed, one softly
// forgotten, a hard purge of the rows with the highest numbers, an alias.
func schema1(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "schema1.db"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "graph.db")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// rowsOf1 are the columns that both schemas have, as text.
func rowsOf1(t *testing.T, path string) (out []string) {
	t.Helper()
	db, err := sql.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, q := range []string{
		`SELECT concat_ws('|', 'fact', r.id, s.name, r.relation_type, t.name, r.confidence, r.status, r.session_id, r.turn_id,
			r.created_at, r.updated_at, r.date_bucket)
			FROM relations r JOIN entities s ON s.id = r.source_id JOIN entities t ON t.id = r.target_id ORDER BY r.id`,
		"SELECT concat_ws('|', 'entity', id, name, type, mention_count, created_at, updated_at) FROM entities ORDER BY id",
		"SELECT concat_ws('|', 'alias', entity_id, alias, created_at) FROM aliases ORDER BY entity_id, alias",
		"SELECT concat_ws('|', 'next', name, seq) FROM sqlite_sequence WHERE name IN ('entities', 'relations') ORDER BY name",
	} {
		rows, err := db.Query(q)
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			var s string
			if err := rows.Scan(&s); err != nil {
				t.Fatal(err)
			}
			out = append(out, s)
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		rows.Close()
	}
	return out
}

func TestSchema1BecomesThePresentOne(t *testing.T) {
	path := schema1(t)
	before := rowsOf1(t, path)
	g := openAt(t, path, nil)
	g.Close()
	after := rowsOf1(t, path)
	if !slices.Equal(before, after) {
		for i := range min(len(before), len(after)) {
			if before[i] != after[i] {
				t.Errorf("%s became %s", before[i], after[i])
			}
		}
		t.Fatalf("%d rows became %d", len(before), len(after))
	}
	g = openAt(t, path, nil)
	ctx := context.Background()
	t.Run("found as before", func(t *testing.T) {
		for query, want := range map[string]string{"钥匙在哪": "钥匙在门垫下面", "小明住哪": "小明搬到北京", "妈妈生日": "李华生日是三月五日"} {
			if got, _ := recall(t, g, graph.Query{Text: query, Depth: 2}); len(got) == 0 || got[0] != want {
				t.Errorf("%s: %q", query, got)
			}
		}
	})
	t.Run("history", func(t *testing.T) {
		got, _ := recall(t, g, graph.Query{Text: "小明以前住哪", Depth: 1})
		if len(got) == 0 || got[0] != "小明住在上海" {
			t.Errorf("%q", got)
		}
	})
	t.Run("known facts stay one row", func(t *testing.T) {
		for _, line := range []string{"bob/like/the black coffee.", "小明/喜欢/红烧肉。", "妈妈/的生日是/三月五日"} {
			if c := commit(t, g, "later", line); c.Confirmed != 1 || c.Added != 0 {
				t.Errorf("%s: %+v", line, c)
			}
		}
	})
	t.Run("numbers of erased rows do not come again", func(t *testing.T) {
		commit(t, g, "later", "new/is/newer")
		_, r := recall(t, g, graph.Query{Text: "newer"})
		if len(r.Facts) == 0 || r.Facts[0].ID != 24 { // 23 was erased by the old program
			t.Errorf("%+v", r.Facts)
		}
	})
	t.Run("forgotten facts can be restored", func(t *testing.T) {
		var id int64
		err := g.Each(ctx, func(r graph.Record) error {
			if r.Fact != nil && r.Fact.Status == graph.Forgotten {
				id = r.Fact.ID
			}
			return nil
		})
		if err != nil || id == 0 {
			t.Fatalf("none is left: %v", err)
		}
		back, err := g.Restore(ctx, id)
		if err != nil || len(back) != 1 || back[0].Text() != "safe code is 4711" || back[0].Status != graph.Active {
			t.Errorf("%+v, %v", back, err)
		}
	})
	t.Run("every entity has changed", func(t *testing.T) {
		s, err := g.Introspect(ctx, 0)
		if err != nil {
			t.Fatal(err)
		}
		changed, _, err := g.Changed(ctx, 0, 1000)
		if err != nil || len(changed) < s.Entities {
			t.Errorf("%d of %d, %v", len(changed), s.Entities, err)
		}
	})
}

// TestMigrationIsCut: a migration that did not end leaves the old file.
func TestMigrationIsCut(t *testing.T) {
	path := schema1(t)
	before := rowsOf1(t, path)
	db, err := sql.Open("sqlite3", path+"?_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	hold, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := graph.Open(path, graph.ImpatientOptions(20*time.Millisecond)); err == nil {
		t.Fatal("migrated a file that another program holds")
	}
	hold.Rollback()
	db.Close()
	if got := rowsOf1(t, path); !slices.Equal(got, before) {
		t.Fatal("the old file has changed")
	}
	openAt(t, path, nil)
}
