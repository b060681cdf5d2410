package mind

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"homeagent/agent/plugin"
	"homeagent/agent/provider"
	"homeagent/agent/tool"
)

// streams emits the chunks of the n-th request and then answers with its response.
type stream struct {
	chunks []provider.Chunk
	resp   provider.Response
	err    error
}

func streams(list ...stream) think {
	return func(_ context.Context, n int, _ provider.Request, emit func(provider.Chunk) error) (provider.Response, error) {
		s := list[min(n, len(list)-1)]
		for _, c := range s.chunks {
			if err := emit(c); err != nil {
				return provider.Response{}, err
			}
		}
		return s.resp, s.err
	}
}

func text(parts ...string) (out []provider.Chunk) {
	for _, p := range parts {
		out = append(out, provider.Chunk{Text: p})
	}
	return out
}

// shown joins drafts into one line: text as it is, "<" for a withdrawal, "(n)" for a notice.
func shown(list []plugin.Draft) string {
	var b strings.Builder
	for _, d := range list {
		switch {
		case d.Withdrawn:
			b.WriteString("<")
		case d.Notice != "":
			b.WriteString("(" + d.Notice + ")")
		default:
			b.WriteString(d.Text)
		}
	}
	return b.String()
}

func TestDrafts(t *testing.T) {
	lamp := calls(call("", "lamp", `{}`))
	rows := []struct {
		name    string
		list    []stream
		stage   plugin.Stage // a handler takes part there
		source  string
		channel string
		want    string
	}{
		{"a text grows", []stream{{chunks: text("It ", "is ", "nine."), resp: provider.Response{Text: "It is nine."}}}, "", "console", "console", "It is nine."},
		{"a call follows", []stream{{chunks: text("I look."), resp: lamp}, {chunks: text("done"), resp: provider.Response{Text: "done"}}}, "", "console", "console", "I look.<done"},
		{"another provider begins anew", []stream{{chunks: append(text("It i"), provider.Chunk{Restart: true}, provider.Chunk{Notice: "still thinking"}, provider.Chunk{Text: "Nine."}), resp: provider.Response{Text: "Nine."}}}, "", "console", "console", "It i<(still thinking)Nine."},
		{"the provider fails", []stream{{chunks: text("It i"), err: &provider.Error{Kind: provider.Network}}}, "", "console", "console", "It i<"},
		{"reasoning is not shown", []stream{{chunks: []provider.Chunk{{Reasoning: "hmm"}, {}, {Text: "Nine."}}, resp: provider.Response{Text: "Nine."}}}, "", "console", "console", "Nine."},
		{"post_action may change it", []stream{{chunks: append(text("It is"), provider.Chunk{Notice: "wait"}), resp: provider.Response{Text: "It is nine."}}}, plugin.PostAction, "console", "console", "(wait)"},
		{"before_output may withhold it", []stream{{chunks: text("It is"), resp: provider.Response{Text: "It is nine."}}}, plugin.BeforeOutput, "console", "console", ""},
		{"other stages do not matter", []stream{{chunks: text("It is"), resp: provider.Response{Text: "It is nine."}}}, plugin.AfterOutput, "console", "console", "It is"},
		{"the agent's own turn", []stream{{chunks: text("It is"), resp: provider.Response{Text: "It is nine."}}}, "", "_probe_", "console", ""},
		{"nobody waits", []stream{{chunks: text("It is"), resp: provider.Response{Text: "It is nine."}}}, "", "console", "", ""},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			r := newRig(t, streams(row.list...))
			r.tool("lamp", tool.Read, func(context.Context, tool.Call) (tool.Result, error) { return tool.Result{}, nil })
			if row.stage != "" {
				r.stage(row.stage, func(context.Context, *plugin.StageContext) error { return nil })
			}
			r.start()
			id := r.over(r.inject(plugin.Input{Source: row.source, Channel: row.channel, Payload: "what time is it"}))
			if got := shown(r.con.Drafts()); got != row.want {
				t.Errorf("shown %q", got)
			}
			for _, d := range r.con.Drafts() {
				if d.Channel != "console" || d.ReplyTo != id {
					t.Errorf("draft %+v", d)
				}
			}
		})
	}
}

// stubborn is a channel whose drafts hang.
type stubborn struct {
	gate chan struct{}
	sent []plugin.Message
}

func (s *stubborn) Send(_ context.Context, m plugin.Message) error {
	s.sent = append(s.sent, m)
	return nil
}

func (s *stubborn) Draft(context.Context, plugin.Draft) { <-s.gate }

func TestHangingDraftsDoNotHoldTheAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var chunks []provider.Chunk
		for i := range 5000 {
			chunks = append(chunks, provider.Chunk{Text: fmt.Sprint(i)}, provider.Chunk{Notice: "n"})
		}
		r := newRig(t, streams(stream{chunks: chunks, resp: provider.Response{Text: "the answer"}}))
		s := &stubborn{gate: make(chan struct{})}
		if err := r.api.Channel("web", s); err != nil {
			t.Fatal(err)
		}
		r.start()
		r.over(r.inject(plugin.Input{Source: "web", Channel: "web:1", Payload: "hello"}))
		if len(s.sent) != 1 || s.sent[0].Text != "the answer" {
			t.Errorf("sent %+v", s.sent)
		}
		close(s.gate)
		r.end()
	})
}

func TestDraftsJoin(t *testing.T) {
	gate := make(chan struct{})
	var got []plugin.Draft
	d := &drafts{ctx: t.Context(), send: func(_ context.Context, x plugin.Draft) error {
		<-gate
		got = append(got, x)
		return nil
	}}
	for i := range 1000 {
		d.put(plugin.Draft{Text: fmt.Sprint(i % 10)})
	}
	if n := len(d.pending); n > 2 {
		t.Errorf("%d drafts wait", n)
	}
	close(gate)
	d.stop()
	if s := shown(got); len(s) != 1000 || s[990:] != "0123456789" {
		t.Errorf("%d characters were shown", len(s))
	}
	d.put(plugin.Draft{Text: "late"})
	if len(d.pending) != 0 {
		t.Error("a draft is taken after the end")
	}
}
