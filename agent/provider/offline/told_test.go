package offline

import (
	"encoding/json"
	"strings"
	"testing"

	"homeagent/agent/provider"
	"homeagent/agent/tool"
)

// lives takes apart the one sentence of these tests that tells something.
func lives(msg provider.Message, _ string) []Fact {
	if place, ok := strings.CutPrefix(msg.Content, "I live in "); ok {
		return []Fact{{"user", "lives in", place}}
	}
	return nil
}

// What is told is committed at once; what tells nothing, or cannot be
// committed, is answered as before.
func TestTold(t *testing.T) {
	commit := provider.Message{Role: provider.Assistant, Calls: []tool.Call{{ID: "offline-1", Name: "memory_commit",
		Args: json.RawMessage(`{"triples":[{"subject":"user","relation":"lives in","object":"Rome"}]}`)}}}
	result := func(st tool.Status, text string) provider.Message {
		return provider.Message{Role: provider.Tool, CallID: "offline-1", Name: "memory_commit", Status: st, Content: text}
	}
	for _, row := range []struct {
		name, text string
		after      []provider.Message
		tools      []tool.Def
		call, want string
		blank      bool
	}{
		{"told", "I live in Rome", nil, tools(), `{"triples":[{"subject":"user","relation":"lives in","object":"Rome"}]}`, "", false},
		{"kept", "I live in Rome", []provider.Message{commit, result(tool.Done, "remembered: 1.")}, tools(), "", "OK, noted.", true},
		{"not kept", "I live in Rome", []provider.Message{commit, result(tool.Failed, "this turn leaves no memory")}, tools(), "", "I could not keep that: this turn leaves no memory.", true},
		{"nothing told", "lovely weather over there", nil, tools(), "", "I cannot answer that by myself", true},
		{"no tool", "I live in Rome", nil, nil, "", "I cannot answer that by myself", true},
		{"too long", "I live in " + strings.Repeat("a", maxStatement), nil, tools(), "", "I cannot answer that by myself", true},
		{"the time passes", "what time is it", nil, tools(), "", "It is 3:20 PM.", true},
		{"a command comes first", "turn on the kitchen lamp", nil, tools(), `{"name":"kitchen_lamp","state":"on"}`, "", false},
	} {
		t.Run(row.name, func(t *testing.T) {
			p := fixed(t, func(o *Options) { o.Facts = lives })
			res, err := p.Chat(t.Context(), provider.Request{Messages: append([]provider.Message{user(row.text)}, row.after...), Tools: row.tools, Lang: "en"})
			if err != nil {
				t.Fatal(err)
			}
			call := ""
			if len(res.Calls) == 1 {
				call = string(res.Calls[0].Args)
			}
			if call != "" && !sameJSON(json.RawMessage(call), json.RawMessage(row.call)) || call == "" && row.call != "" {
				t.Errorf("calls %q, want %q", call, row.call)
			}
			if !strings.HasPrefix(res.Text, row.want) || res.NoMemory != row.blank {
				t.Errorf("says %q (not worth keeping: %v), want %q (%v)", res.Text, res.NoMemory, row.want, row.blank)
			}
		})
	}
}

// What was found is told to whom it concerns, in the question's language, as it
// is now or as it was; where there is no fact, what was said.
func TestRecalled(t *testing.T) {
	moved := "- user moved to Berlin\t(noted 2026-12-01, from distiller)\n- user lives in Rome\t(noted 2026-11-01, no longer so since 2026-12-01)\n" +
		"- 用户搬到杭州\t(noted 2026-12-01)\n- 小雨过敏原是花生\t(noted 2026-12-01)"
	for _, row := range []struct{ name, lang, question, found, want string }{
		{"now", "en", "where do I live?", moved, "You moved to Berlin."},
		{"before", "en", "where did I live before?", moved, "I noted earlier: you live in Rome."},
		{"in Chinese", "zh", "我现在住哪儿", moved, "你搬到杭州。"},
		{"of oneself", "en", "what am I allergic to?", "- 小雨过敏原是花生\t(noted)\n- user is allergic to nuts\t(noted)", "You are allergic to nuts."},
		{"whose", "en", "who is my mother's doctor?", "- user's mother doctor is Doctor Weiss\t(noted)", "Your mother's doctor is Doctor Weiss."},
		{"a date goes to the end", "en", "when is my dentist appointment?", "- user has (2026-12-04 15:00) dentist appointment\t(noted)",
			"You have dentist appointment (2026-12-04 15:00)."},
		{"only said", "en", "where is my drill?", "In the words of then:\n* where is my drill?\t(2026-11-30 10:00, a/u)\n* I lent the drill to Bob\t(2026-11-29 09:00, b/u)",
			`On 2026-11-29 this was said: "I lent the drill to Bob".`},
		{"only said, zh", "zh", "钥匙在哪里", "当时的原话：\n* 钥匙昨天给了张阿姨\t（2026-11-29 09:00，b/u）", "2026-11-29 说过：“钥匙昨天给了张阿姨”。"},
		{"said by the house", "en", "where is my drill?", "In the words of then:\n* I put the drill away\t(2026-11-30 10:00, a/f)", "I have nothing about your drill in my memory."},
		{"only asked", "en", "where is my drill?", "In the words of then:\n* where is my drill?\t(2026-11-30 10:00, a/u)", "I have nothing about your drill in my memory."},
		{"of oneself, nothing", "zh", "我现在住哪儿", "没有找到相关的记忆。", "没有找到相关的记忆。"},
	} {
		t.Run(row.name, func(t *testing.T) {
			m, ok := set(t).Parse(row.question, row.lang)
			if !ok || m.Intent != "recall" {
				t.Fatalf("%q is %+v", row.question, m)
			}
			if got := recalled(m, row.found, row.question, row.lang); got != row.want {
				t.Errorf("%q, want %q", got, row.want)
			}
		})
	}
}
