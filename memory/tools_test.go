package memory_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"homeagent/agent/plugin"
	"homeagent/memory"
)

func TestToolDefinitions(t *testing.T) {
	m := open(t, t.TempDir())
	var names []string
	for _, r := range m.Tools() {
		names = append(names, r.Def.Name)
		if !json.Valid(r.Def.Parameters) || r.Def.Description == "" || r.Def.Risk == "" || r.Def.Touches == "" || r.Handler == nil {
			t.Errorf("%+v", r.Def)
		}
	}
	if got := strings.Join(names, " "); got != "memory_recall memory_commit memory_purge memory_introspect memory_merge memory_pair "+
		"doc_query doc_commit knowledge_search knowledge_create knowledge_list" {
		t.Fatalf("tools %q", got)
	}
}

// TestToolDialogue is one conversation; each row sees what those before did.
func TestToolDialogue(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.Local)
	m, _, err := memory.Open(t.TempDir(), memory.Options{Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	long := strings.Repeat("x", 5000)
	many := strings.Repeat(`{"subject":"a","relation":"b","object":"c"},`, 65)
	tests := []struct {
		name, tool, args string
		want             string // the whole text, or of an error the beginning
		fails            bool
	}{
		{"recall of nothing, zh", "memory_recall", `{"query":"钥匙在哪"}`, "没有找到相关的记忆。", false},
		{"recall of nothing, en", "memory_recall", `{"query":"where is the key"}`, "Nothing about that is remembered.", false},
		{"commit, zh", "memory_commit", `{"triples":[{"subject":"钥匙","relation":"在","object":"门垫下面"}]}`, "记住了 1 条。", false},
		{"commit, en", "memory_commit", `{"triples":[{"subject":"Bob","relation":"lives in","object":"Rome"},{"subject":"Bob","relation":"likes","object":"tea"}]}`, "remembered: 2.", false},
		{"commit again", "memory_commit", `{"triples":[{"subject":"bob","relation":"likes","object":"Tea"}]}`, "remembered: 0, known before: 1.", false},
		{"recall, zh", "memory_recall", `{"query":"钥匙在哪里"}`, "- 钥匙在门垫下面\t（2026-03-01 记下，来自 web）", false},
		{"recall, en", "memory_recall", `{"query":"where does Bob live"}`, "- Bob lives in Rome\t(noted 2026-03-01, from web)\n- Bob likes tea\t(noted 2026-03-01, from web)", false},
		{"a move", "memory_commit", `{"triples":[{"subject":"钥匙","relation":"放在","object":"抽屉里"}]}`, "记住了 1 条，1 条旧的成为历史。", false},
		{"history", "memory_recall", `{"query":"钥匙"}`, "- 钥匙放在抽屉里\t（2026-03-09 记下，来自 web）\n- 钥匙在门垫下面\t（2026-03-01 记下，来自 web，到 2026-03-09 为止，现在已不是）", false},
		{"purge, nothing fits", "memory_purge", `{"criteria":{"query":"护照"}}`, "没有找到要忘掉的事，什么也没删。", false},
		{"purge, soft by default", "memory_purge", `{"criteria":{"query":"where Bob lives"}}`, "Forgotten: 1\n- Bob lives in Rome", false},
		{"purged", "memory_recall", `{"query":"where does Bob live"}`, "- Bob likes tea\t(noted 2026-03-01, from web)", false},
		{"purge, hard", "memory_purge", `{"criteria":{"subject":"钥匙"},"mode":"hard"}`, "忘掉了 2 条：\n- 钥匙放在抽屉里\n- 钥匙在门垫下面", false},
		{"introspect", "memory_introspect", `{}`, "Facts: 1, history: 0, forgotten: 1; entities: 3; events in the conversation: 0, moved out: 0.\nMost frequent: Bob (3), tea (2), Rome (1)", false},
		{"too long", "memory_commit", `{"triples":[{"subject":"a","relation":"b","object":"` + long + `"}]}`, "Each part of a fact has at most 4096 bytes.", true},
		{"too long, zh", "memory_commit", `{"triples":[{"subject":"钥匙","relation":"b","object":"` + long + `"}]}`, "一条事实的每一部分最多 4096 字节", true},
		{"empty", "memory_commit", `{"triples":[{"subject":" ","relation":"b","object":"c"}]}`, "A fact needs a subject", true},
		{"none", "memory_commit", `{"triples":[]}`, "A fact needs a subject", true},
		{"too many", "memory_commit", `{"triples":[` + strings.TrimSuffix(many, ",") + `]}`, "at most 64 facts", true},
		{"no criteria", "memory_purge", `{"criteria":{}}`, "Nothing says what to forget.", true},
		{"odd mode", "memory_purge", `{"criteria":{"query":"钥匙"},"mode":"burn"}`, "mode 只能是 soft 或 hard。", true},
		{"no JSON", "memory_recall", `{"query":`, "the arguments do not fit memory_recall", true},
		{"other types", "memory_purge", `{"criteria":"all"}`, "the arguments do not fit memory_purge", true},
	}
	for i, tt := range tests {
		t.Run(fmt.Sprintf("%02d %s", i, tt.name), func(t *testing.T) {
			if tt.name == "a move" {
				now = now.Add(8 * 24 * time.Hour)
			}
			ctx := plugin.WithInput(context.Background(), plugin.Input{ID: fmt.Sprint("turn", i), Source: "web"})
			res, err := handler(t, m, tt.tool)(ctx, call(tt.tool, tt.args))
			if tt.fails {
				if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
					t.Fatalf("got %q, error %v, want %q", res.Text, err, tt.want)
				}
				return
			}
			if err != nil || res.Text != tt.want {
				t.Fatalf("got %q, %v\nwant %q", res.Text, err, tt.want)
			}
		})
	}
	t.Run("a long fact is told in part", func(t *testing.T) {
		ctx := context.Background()
		if err := m.Commit(ctx, []plugin.Triple{{Subject: "diary", Relation: "says", Object: strings.Repeat("很长 ", 500)}}, ""); err != nil {
			t.Fatal(err)
		}
		res, err := handler(t, m, "memory_recall")(ctx, call("memory_recall", `{"query":"diary"}`))
		if err != nil || len(res.Text) > 1500 || !strings.Contains(res.Text, "…\t") {
			t.Fatalf("%d bytes, %v", len(res.Text), err)
		}
	})
	t.Run("language of the input where the arguments have none", func(t *testing.T) {
		for lang, want := range map[string]string{"zh": "事实 ", "en": "Facts: "} {
			ctx := plugin.WithInput(context.Background(), plugin.Input{ID: "x", Lang: lang})
			res, err := handler(t, m, "memory_introspect")(ctx, call("memory_introspect", `{}`))
			if err != nil || !strings.HasPrefix(res.Text, want) {
				t.Fatalf("%s: %q, %v", lang, res.Text, err)
			}
		}
	})
}
