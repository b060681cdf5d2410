package main

import (
	"bytes"
	"errors"
	"net/http"
	"strings"
	"testing"

	"homeagent/drivers/web/problem"
	"homeagent/drivers/web/sse"
	"homeagent/firmware/words"
)

type said struct{ name, data string }

func TestPrinter(t *testing.T) {
	tests := []struct {
		name   string
		events []said
		want   string
		done   bool
		err    string // part of the error in Chinese
	}{
		{name: "drafts grow into the answer", events: []said{{"draft", `{"text":"The lamp"}`}, {"draft", `{"text":" is"}`}, {"final", `{"text":"The lamp is on."}`}},
			want: "The lamp is on.\n", done: true},
		{name: "the draft is the answer", events: []said{{"draft", `{"text":"on"}`}, {"final", `{"text":"on"}`}}, want: "on\n", done: true},
		{name: "no draft", events: []said{{"final", `{"text":"开了。"}`}}, want: "开了。\n", done: true},
		{name: "a withdrawn draft ends its line", events: []said{{"draft", `{"text":"I thi"}`}, {"withdraw", `{}`}, {"draft", `{"text":"It"}`}, {"final", `{"text":"It is on."}`}},
			want: "I thi\nIt is on.\n", done: true},
		{name: "withdrawn before anything was shown", events: []said{{"withdraw", `{}`}, {"final", `{"text":"on"}`}}, want: "on\n", done: true},
		{name: "another answer than the draft", events: []said{{"draft", `{"text":"It is off"}`}, {"final", `{"text":"It is on."}`}}, want: "It is off\nIt is on.\n", done: true},
		{name: "messages before the last", events: []said{{"message", `{"text":"one"}`}, {"final", `{"text":"two"}`}}, want: "one\ntwo\n", done: true},
		{name: "a message is not the end", events: []said{{"message", `{"text":"one"}`}}, want: "one\n"},
		{name: "a notice within a draft", events: []said{{"draft", `{"text":"It"}`}, {"notice", `{"text":"wait"}`}}, want: "It\n(wait)\n"},
		{name: "files", events: []said{{"final", `{"text":"here","files":["a.png","b.png"]}`}}, want: "here\n[a.png]\n[b.png]\n", done: true},
		{name: "only files", events: []said{{"final", `{"files":["a.png"]}`}}, want: "[a.png]\n", done: true},
		{name: "an empty end", events: []said{{"final", `{"text":""}`}}, done: true},
		{name: "an event that is not known", events: []said{{"thinking", `{"text":"hm"}`}, {"final", `{"text":"on"}`}}, want: "on\n", done: true},
		{name: "an error within a draft", events: []said{{"draft", `{"text":"It"}`}, {"error", `{"title":"坏了","code":"internal"}`}}, want: "It\n", done: true, err: "坏了"},
		{name: "an error that is none", events: []said{{"error", `[]`}}, done: true, err: "回答看不懂"},
		{name: "no JSON", events: []said{{"draft", `hm`}}, done: true, err: "回答看不懂"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var out bytes.Buffer
			p := printer{out: &out}
			var done bool
			var err error
			for i, ev := range tt.events {
				if done {
					t.Fatalf("it ended before event %d", i)
				}
				done, err = p.event(ev.name, []byte(ev.data))
			}
			if out.String() != tt.want || done != tt.done {
				t.Errorf("got %q, done %v", out.String(), done)
			}
			if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(words.In(err, "zh"), tt.err) {
				t.Errorf("error %v, want %q", err, tt.err)
			}
		})
	}
	var prob *problem.Problem
	if _, err := (&printer{out: &bytes.Buffer{}}).event("error", []byte(`{"title":"x","code":"y"}`)); !errors.As(err, &prob) || prob.Code != "y" {
		t.Errorf("an error event gives %v", err)
	}
}

func TestSay(t *testing.T) {
	chat := func(events ...said) *house {
		mux := http.NewServeMux()
		mux.HandleFunc("POST /api/v1/chat", func(w http.ResponseWriter, _ *http.Request) {
			out := sse.NewWriter(w)
			for _, ev := range events {
				out.Send("", ev.name, map[string]string{"text": ev.data})
			}
		})
		return newHouse(t).door(mux)
	}
	whole := chat(said{"draft", "开"}, said{"final", "开了。"})
	if out, bad, code := whole.run("zh", "", "say", "开", "灯"); code != 0 || out != "开了。\n" || bad != "" {
		t.Errorf("exit %d, %q, %q", code, out, bad)
	}
	if out, _, code := whole.run("zh", "开灯\n", "say", "-"); code != 0 || out != "开了。\n" {
		t.Errorf("from standard input: exit %d, %q", code, out)
	}
	if out, bad, code := whole.run("zh", "", "say", "a\uFFFD"); code != 0 || out != "开了。\n" {
		t.Errorf("a replacement character that was typed: exit %d, %q, %q", code, out, bad)
	}
	if out, bad, code := whole.run("zh", "\xff", "say", "-"); code != 1 || out != "" || !strings.Contains(bad, "UTF-8") {
		t.Errorf("bytes from standard input: exit %d, %q, %q", code, out, bad)
	}
	cut := chat(said{"draft", "开"})
	for lang, want := range map[string]string{"zh": "连接就断了", "en": "ended before the answer did"} {
		if _, bad, code := cut.run(lang, "", "say", "x"); code != 1 || !strings.Contains(bad, want) || !strings.Contains(bad, "homectl logs") {
			t.Errorf("cut off: exit %d, %s", code, bad)
		}
	}
}
