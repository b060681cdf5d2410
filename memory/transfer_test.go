package memory_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"homeagent/agent/plugin"
	"homeagent/agent/provider"
	"homeagent/memory"
	"homeagent/memory/document"
	"homeagent/memory/graph"
)

// exportLine is a line of an export as the tests read it.
type exportLine struct {
	Header *struct {
		Version int `json:"version"`
	} `json:"homeagent_memory"`
	Graph     *graph.Record      `json:"graph"`
	Document  *document.Document `json:"document"`
	Knowledge *struct {
		Name, Content string
	} `json:"knowledge"`
	Turn *struct {
		ID        string `json:"id"`
		Final     string `json:"final"`
		Distilled bool   `json:"distilled"`
	} `json:"turn"`
	Event *provider.Message `json:"event"`
}

func export(t testing.TB, m *memory.Memory) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := m.Export(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func exported(t testing.TB, m *memory.Memory) (out []exportLine) {
	t.Helper()
	for line := range bytes.Lines(export(t, m)) {
		var e exportLine
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatal(err)
		}
		out = append(out, e)
	}
	return out
}

// content is what a memory holds, in lines that compare: without the numbers
// and names of places that differ from house to house.
func content(t testing.TB, m *memory.Memory) []string {
	t.Helper()
	var out []string
	put := func(kind string, v any) {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, kind+" "+string(b))
	}
	for _, e := range exported(t, m) {
		switch {
		case e.Graph != nil:
			put("graph", e.Graph)
		case e.Knowledge != nil:
			put("knowledge", e.Knowledge)
		case e.Turn != nil:
			put("turn", e.Turn)
		case e.Event != nil:
			put("event", e.Event)
		case e.Document != nil && e.Document.Origin == document.Context:
			for _, x := range e.Document.Events {
				x.Stream, x.Seq = "", 0
				put("event in a document", x)
			}
		case e.Document != nil && e.Document.Origin == document.Commit:
			put("document", []any{e.Document.ID, e.Document.Title, e.Document.Text})
		}
	}
	slices.Sort(out)
	return out
}

// differ are the lines that only one of two has.
func differ(a, b []string) (out []string) {
	in := map[string]int{}
	for _, l := range a {
		in[l]++
	}
	for _, l := range b {
		in[l]--
	}
	for _, l := range slices.Sorted(maps.Keys(in)) {
		if in[l] != 0 {
			out = append(out, fmt.Sprintf("%+d %.300s", in[l], l))
		}
	}
	return out
}

// rich fills a memory: 60 turns, the last five not distilled, a document,
// knowledge, facts, a merge, something softly forgotten.
func rich(t testing.TB, m *memory.Memory) {
	t.Helper()
	ctx := t.Context()
	for n := range 55 {
		text := fmt.Sprintf("remark %d about nothing in particular", n)
		if n%10 == 0 {
			text = fmt.Sprintf("My cousin lives in Town%d.", n)
		}
		have(t, m, talk(n, text))
	}
	settle(t, m)
	use := func(name, args string) {
		if _, err := handler(t, m, name)(ctx, call(name, args)); err != nil {
			t.Fatal(err)
		}
	}
	use("doc_commit", `{"title":"Pancakes","content":"flour, milk and two eggs"}`)
	use("knowledge_create", `{"name":"boiler","content":"# Boiler\\nPress reset for five seconds."}`)
	use("memory_commit", `{"triples":[{"subject":"Robert Smith","relation":"likes","object":"tea"},{"subject":"Bob Smith","relation":"plays","object":"chess"},
		{"subject":"the safe","relation":"opens with","object":"the brass key"},{"subject":"Rex","relation":"is a","object":"dog"}]}`)
	use("memory_merge", `{"keep":"Robert Smith","drop":"Bob Smith"}`)
	use("memory_purge", `{"criteria":{"subject":"Rex"},"mode":"soft"}`)
	for n := 55; n < 60; n++ {
		have(t, m, talk(n, "My brother is called Benno."))
	}
}

func mustImport(t testing.TB, m *memory.Memory, data []byte) memory.Imported {
	t.Helper()
	got, err := m.Import(t.Context(), bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// TestImportIntoAnEmptyHouse: everything is there again, is found, goes on from
// there after a restart, and nothing that was distilled is distilled again.
func TestImportIntoAnEmptyHouse(t *testing.T) {
	old := open(t, t.TempDir())
	rich(t, old)
	data, want := export(t, old), content(t, old)

	a := newAgent(t, t.TempDir(), answers("ok"), answers(""), memory.Options{})
	got := mustImport(t, a.mem, data)
	if d := differ(want, content(t, a.mem)); len(d) > 0 {
		t.Fatalf("not the same:\n%s", strings.Join(d, "\n"))
	}
	if got.Turns != 60 || got.Events+got.Documents == 0 || got.Knowledge != 1 {
		t.Errorf("imported %+v", got)
	}
	again := mustImport(t, a.mem, data)
	if d := differ(want, content(t, a.mem)); len(d) > 0 || again.Turns+again.Events+again.Documents+again.Knowledge != 0 || len(again.Kept) != 0 {
		t.Fatalf("a second time it brings %+v, %q", again, d)
	}
	settle(t, a.mem)
	for _, req := range a.dist.requests(facts) {
		for _, m := range req.Messages {
			if strings.Contains(m.Content, "cousin") || !strings.Contains(m.Content, "Benno") {
				t.Fatalf("distilled again: %.400q", m.Content)
			}
		}
	}
	if len(a.dist.requests(facts)) == 0 {
		t.Fatal("the turns that had not been distilled were not")
	}
	if !holds(found(t, a.mem, "Town10"), "Town10") || !holds(found(t, a.mem, "pancakes"), "flour") {
		t.Error("what came is not found")
	}
	// New turns are indexed, whatever places the other house had.
	id := a.say("The spare fuse lies behind the zither")
	settle(t, a.mem)
	if !holds(found(t, a.mem, "where is the spare fuse"), "zither") {
		t.Errorf("turn %s is not found", id)
	}
	if err := a.mem.Close(); err != nil {
		t.Fatal(err)
	}
	m := open(t, a.dir)
	have(t, m, talk(900, "The ladder stands beside the glockenspiel"))
	settle(t, m)
	if !holds(found(t, m, "ladder"), "glockenspiel") {
		t.Error("after a restart new turns are not found")
	}
	if d := differ(want, content(t, m)); !holds(d, "glockenspiel") || holds(d, "remark") {
		t.Errorf("differences %q", d)
	}
}

// TestImportBesideOtherThings: a house keeps what it has and goes on with its own
// conversation; its backlog is distilled, what came distilled is not.
func TestImportBesideOtherThings(t *testing.T) {
	old := open(t, t.TempDir())
	rich(t, old)
	data := export(t, old)

	a := newAgent(t, t.TempDir(), answers("ok"), answers(""), memory.Options{})
	for range 3 {
		a.say("My uncle lives in Oslo.")
	}
	use := func(name, args string) {
		if _, err := handler(t, a.mem, name)(t.Context(), call(name, args)); err != nil {
			t.Fatal(err)
		}
	}
	use("knowledge_create", `{"name":"boiler","content":"ours is another"}`)
	use("memory_commit", `{"triples":[{"subject":"Nora","relation":"likes","object":"plums"}]}`)
	own, before := ids(a.mem.Window()), content(t, a.mem)
	got := mustImport(t, a.mem, data)
	if !slices.Equal(got.Kept, []string{"boiler"}) || got.Turns != 60 {
		t.Errorf("imported %+v", got)
	}
	if now := ids(a.mem.Window()); !slices.Equal(now, own) {
		t.Errorf("the conversation has become %q", now)
	}
	now := content(t, a.mem)
	for _, l := range before {
		// Graph rows may have been renumbered in the file, not here.
		if !slices.Contains(now, l) {
			t.Errorf("lost: %.300s", l)
		}
	}
	events := map[string]int{}
	for _, e := range exported(t, a.mem) {
		if e.Event != nil {
			events[e.Event.ID]++
		}
		if e.Document != nil {
			for _, x := range e.Document.Events {
				events[x.ID]++
			}
		}
	}
	for n := range 60 {
		for _, end := range []string{"/u", "/a"} {
			if id := fmt.Sprintf("t%04d%s", n, end); events[id] != 1 {
				t.Errorf("event %s is there %d times", id, events[id])
			}
		}
	}
	if d := differ(now, func() []string { mustImport(t, a.mem, data); return content(t, a.mem) }()); len(d) > 0 {
		t.Errorf("a second time changes\n%s", strings.Join(d, "\n"))
	}
	settle(t, a.mem)
	var given strings.Builder
	for _, req := range a.dist.requests(facts) {
		for _, m := range req.Messages {
			given.WriteString(m.Content)
		}
	}
	if s := given.String(); strings.Contains(s, "cousin") || !strings.Contains(s, "Oslo") || !strings.Contains(s, "Benno") {
		t.Errorf("the distiller was given %.2000q", s)
	}
}

// zeros reads as a line without an end.
type zeros struct{ at, size int64 }

func (z *zeros) Read(p []byte) (int, error) {
	n := int(min(int64(len(p)), z.size-z.at))
	for i := range p[:n] {
		p[i] = 'x'
	}
	z.at += int64(n)
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

func (z *zeros) Seek(offset int64, _ int) (int64, error) { z.at = offset; return offset, nil }

// TestWhatIsNoExport is refused in words, and nothing has changed.
func TestWhatIsNoExport(t *testing.T) {
	old := open(t, t.TempDir())
	rich(t, old)
	data := export(t, old)
	lines := bytes.SplitAfter(bytes.TrimSuffix(data, []byte("\n")), []byte("\n"))
	lines[len(lines)-1] = append(slices.Clone(lines[len(lines)-1]), '\n')
	with := func(bad string) []byte {
		all := slices.Insert(slices.Clone(lines[:len(lines)-1]), len(lines)/2, []byte(bad+"\n"))
		return append(bytes.Join(all, nil), fmt.Sprintf(`{"end":{"lines":%d}}`+"\n", len(all))...)
	}
	m := open(t, t.TempDir())
	have(t, m, talk(0, "The house has something of its own"))
	if err := m.Commit(t.Context(), []plugin.Triple{{Subject: "Nora", Relation: "likes", Object: "plums"}}, ""); err != nil {
		t.Fatal(err)
	}
	settle(t, m)
	before := content(t, m)
	rows := []struct {
		name  string
		file  io.ReadSeeker
		cause error
		en    string
	}{
		{"empty", bytes.NewReader(nil), memory.ErrExport, "no whole export"},
		{"garbage", strings.NewReader("\x00\x01garbage\n"), memory.ErrExport, "no whole export"},
		{"other JSON", strings.NewReader(`{"a":1}` + "\n"), memory.ErrExport, "no whole export"},
		{"newer", strings.NewReader(`{"homeagent_memory":{"version":99}}` + "\n"), memory.ErrExportNewer, "update HomeAgent"},
		{"cut at a line", bytes.NewReader(bytes.Join(lines[:len(lines)-1], nil)), memory.ErrExport, "no whole export"},
		{"cut within a line", bytes.NewReader(data[:len(data)/2]), memory.ErrExport, "no whole export"},
		{"a line is missing", bytes.NewReader(bytes.Join(append(slices.Clone(lines[:3]), lines[4:]...), nil)), memory.ErrExport, "no whole export"},
		{"two in one", bytes.NewReader(append(slices.Clone(data), data...)), memory.ErrExport, "no whole export"},
		{"a line of 100 MB", &zeros{size: 100 << 20}, memory.ErrExport, "no whole export"},
		{"an empty line's worth", bytes.NewReader(with(`{}`)), memory.ErrExport, "no whole export"},
		{"a document outside", bytes.NewReader(with(`{"document":{"id":"../../x","origin":"commit","text":"x"}}`)), memory.ErrExport, "no whole export"},
		{"knowledge outside", bytes.NewReader(with(`{"knowledge":{"name":"../x","content":"x"}}`)), memory.ErrExport, "no whole export"},
		{"a turn without an id", bytes.NewReader(with(`{"turn":{"final":"x"}}`)), memory.ErrExport, "no whole export"},
		{"a graph of nothing", bytes.NewReader(with(`{"graph":{}}`)), memory.ErrExport, "no whole export"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			_, err := m.Import(t.Context(), row.file)
			if !errors.Is(err, row.cause) || !strings.Contains(strings.ToLower(memory.Explain(err, "en")), strings.ToLower(row.en)) {
				t.Fatalf("got %v, said %q", err, memory.Explain(err, "en"))
			}
			if d := differ(before, content(t, m)); len(d) > 0 {
				t.Fatalf("it has changed\n%s", strings.Join(d, "\n"))
			}
		})
	}
	t.Run("ended by the caller", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := m.Import(ctx, bytes.NewReader(data)); !errors.Is(err, context.Canceled) {
			t.Fatalf("got %v", err)
		}
	})
}
