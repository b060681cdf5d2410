package wholepath

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"homeagent/drivers/web/client"
	"homeagent/tools/fakellm"
)

// memory runs `homectl memory` and must succeed.
func (h *house) memory(args ...string) string {
	h.t.Helper()
	out, bad, code := h.homectl(turnWait, append([]string{"memory"}, args...)...)
	if code != 0 {
		h.t.Fatalf("homectl memory %q: exit %d, %s%s", args, code, out, bad)
	}
	return out
}

// holding are the files of a data folder that hold the words in any of the
// forms in which they may be written, by their paths in it.
func holding(t testing.TB, dir string, words ...string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil // it has gone meanwhile, or is a socket
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return nil
		}
		b = bytes.ToLower(b)
		for _, w := range words {
			if bytes.Contains(b, []byte(w)) {
				rel, err := filepath.Rel(dir, path)
				names = append(names, rel)
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// kill pulls the plug and starts the house again.
func (h *house) kill() *house {
	h.t.Helper()
	pids := h.pids()
	if err := h.homed.cmd.Process.Kill(); err != nil {
		h.t.Fatal(err)
	}
	<-h.homed.ended
	eventually(h.t, endWait, "the children died with homed", func() bool { return len(left(pids)) == 0 })
	again := start(h.t, h.dir)
	again.ready()
	return again
}

// facts are those that memory lists, by their texts.
func (h *house) facts(args ...string) (texts []string) {
	h.t.Helper()
	var got struct{ Facts []struct{ Text string } }
	out := h.memory(append([]string{"--json", "facts", "-n", "200"}, args...)...)
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		h.t.Fatalf("%v: %s", err, out)
	}
	for _, f := range got.Facts {
		texts = append(texts, f.Text)
	}
	slices.Sort(texts)
	return texts
}

// counts are those numbers of the statistics that an export carries over.
func (h *house) counts() map[string]float64 {
	h.t.Helper()
	var all map[string]any
	if err := json.Unmarshal([]byte(h.memory("--json", "stats")), &all); err != nil {
		h.t.Fatal(err)
	}
	got := map[string]float64{}
	for _, name := range []string{"facts", "past", "archived", "forgotten", "entities", "knowledge", "merges", "pairs_waiting"} {
		n, ok := all[name].(float64)
		if !ok {
			h.t.Fatalf("no %s in %v", name, all)
		}
		got[name] = n
	}
	return got
}

// TestMemory is a household's memory over the real processes, without a
// language model: told, asked, killed, forgotten, carried to another house.
func TestMemory(t *testing.T) {
	t.Parallel()
	const secret = "s3cr3t-of-the-speech-server"
	h := open(t, quiet)
	pid := h.agentPID()
	if _, bad, code := h.homectlIn(turnWait, secret+"\n", "secret", "set", "speech"); code != 0 {
		t.Fatal(bad)
	}
	eventually(t, startWait, "the agent starts anew with the secret", func() bool { now := h.agentPID(); return now != 0 && now != pid })
	h.ready()
	manual := filepath.Join(h.dir, "knowledge", "boiler", "content.md")
	if err := os.MkdirAll(filepath.Dir(manual), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(manual, []byte("# Boiler\n\nPress the green knob for ten seconds.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	h.say("remember that my passport is in the walrusbox drawer")
	h.say("remember that the ladder is in the shed")
	h.say("记住备用钥匙在花盆下面")
	if got := h.say("where is my passport"); !strings.Contains(got, "walrusbox") {
		t.Fatalf("the passport: %q", got)
	}

	t.Run("a turn without memory", func(t *testing.T) {
		h := h.in(t)
		ctx, cancel := context.WithTimeout(t.Context(), turnWait)
		defer cancel()
		for _, text := range []string{"remember that the zebrafish sleeps in the bath", "what is a quokkanaut"} {
			if _, err := h.api.Chat(ctx, map[string]any{"text": text, "no_memory": true}); err != nil {
				t.Fatal(err)
			}
		}
		h.memory("tidy")
		h.memory("export", filepath.Join(t.TempDir(), "x")) // moves everything to its files
		for _, args := range [][]string{{"search", "zebrafish quokkanaut"}, {"facts"}, {"context"}, {"export", "-"}} {
			if out := h.memory(args...); strings.Contains(out, "zebrafish") || strings.Contains(out, "quokkanaut") {
				t.Errorf("%q tells it: %s", args, out)
			}
		}
		// Neither a layer of memory holds it, nor the queue, nor the page's history.
		for _, name := range holding(t, h.dir, "zebrafish", "quokkanaut") {
			t.Errorf("%s holds what was to leave no trace", name)
		}
	})

	h = h.kill()
	if got := strings.Join(h.facts(), "; "); !strings.Contains(got, "walrusbox") || !strings.Contains(got, "ladder is in the shed") || !strings.Contains(got, "花盆下面") {
		t.Fatalf("facts after a kill: %s", got)
	}
	if out := h.memory("facts", "where is my passport"); !strings.Contains(out, "walrusbox") {
		t.Errorf("facts by a question: %s", out)
	}
	if out := h.memory("search", "walrusbox"); !strings.Contains(out, "walrusbox") || !strings.Contains(out, "(said") {
		t.Errorf("search: %s", out)
	}

	t.Run("who may ask", func(t *testing.T) { testMemoryLogin(t, h.in(t)) })
	t.Run("secrets stay where they are", func(t *testing.T) {
		h := h.in(t)
		for _, args := range [][]string{{"export", "-"}, {"stats", "--json"}, {"context", "--json"}, {"tools", "--json"}, {"search", secret}, {"facts", secret}} {
			if out := h.memory(args...); strings.Contains(out, secret) {
				t.Errorf("%q tells the secret", args)
			}
		}
	})

	// Forgotten: not without being asked, then for good, and the plug pulled.
	h.memory("tidy")
	if out, bad, code := h.homectl(turnWait, "memory", "forget", "--hard", "walrusbox"); code != 1 || !strings.Contains(bad, "--yes") || !strings.Contains(out, "walrusbox") {
		t.Errorf("forget from a script: exit %d, %s%s", code, out, bad)
	}
	if got := strings.Join(h.facts(), "; "); !strings.Contains(got, "walrusbox") {
		t.Fatalf("it was forgotten without a yes: %s", got)
	}
	if out := h.memory("forget", "--hard", "--yes", "walrusbox"); !strings.Contains(out, "walrusbox") || !strings.Contains(out, "turns of the journal") {
		t.Errorf("forget: %s", out)
	}
	h = h.kill()
	h.memory("tidy")
	for _, args := range [][]string{{"facts"}, {"facts", "walrusbox", "--past"}, {"search", "walrusbox passport"}, {"context"}, {"export", "-"}} {
		if out := h.memory(args...); strings.Contains(out, "walrusbox") {
			t.Errorf("%q still tells it: %s", args, out)
		}
	}
	if got := h.say("where is my passport"); strings.Contains(got, "walrusbox") {
		t.Errorf("it is still known: %q", got)
	}
	for _, name := range holding(t, h.dir, "walrusbox") {
		t.Errorf("%s still holds what was forgotten", name)
	}

	t.Run("carried to another house", func(t *testing.T) { testCarried(t, h.in(t), secret) })
}

// testCarried exports, imports into a new house twice with a kill between, and compares.
func testCarried(t *testing.T, h *house, secret string) {
	h.memory("tidy")
	file := filepath.Join(t.TempDir(), "memory.jsonl")
	if out := h.memory("export", file); !strings.Contains(out, "like a diary") {
		t.Errorf("export: %s", out)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if _, bad, code := h.homectl(turnWait, "memory", "export", file); code != 1 || !strings.Contains(bad, "--force") {
		t.Errorf("an export over another: exit %d, %s", code, bad)
	}
	h.memory("export", "--force", file)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if s := string(text); strings.Contains(s, secret) || strings.Contains(s, "walrusbox") || !strings.Contains(s, "green knob") || !strings.Contains(s, "花盆下面") {
		t.Errorf("the export: %.2000s", s)
	}

	other := open(t, quiet)
	if out := other.memory("import", file); !strings.Contains(out, "Imported.") || strings.Contains(out, "facts 0,") || strings.Contains(out, "turns 0,") || !strings.Contains(out, "taught texts 1,") {
		t.Errorf("import: %s", out)
	}
	other = other.kill()
	if out := other.memory("import", file); !strings.Contains(out, "facts 0,") || !strings.Contains(out, "turns 0,") || !strings.Contains(out, "taught texts 0,") {
		t.Errorf("the same again: %s", out)
	}
	if a, b := h.counts(), other.counts(); fmt.Sprint(a) != fmt.Sprint(b) {
		t.Errorf("here %v, there %v", a, b)
	}
	if a, b := h.facts("--past"), other.facts("--past"); !slices.Equal(a, b) {
		t.Errorf("here %q, there %q", a, b)
	}
	if got := other.say("where is the ladder"); !strings.Contains(got, "shed") {
		t.Errorf("asked there: %q", got)
	}
	half := filepath.Join(t.TempDir(), "half.jsonl")
	if err := os.WriteFile(half, text[:len(text)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	if _, bad, code := other.homectl(turnWait, "memory", "import", half); code != 1 || !strings.Contains(bad, "no whole export") {
		t.Errorf("half an export: exit %d, %s", code, bad)
	}
}

var doorOpen = regexp.MustCompile(`msg="door open" addr=(\S+)`)

// testMemoryLogin asks over TCP: by nobody, and by programs of three scopes.
func testMemoryLogin(t *testing.T, h *house) {
	found := doorOpen.FindAllStringSubmatch(h.log.String(), -1)
	if found == nil {
		t.Fatalf("no address in %s", h.log)
	}
	base := "http://" + found[len(found)-1][1]
	claim, cancel := context.WithTimeout(t.Context(), turnWait)
	defer cancel()
	if err := h.api.Do(claim, http.MethodPost, "claim", map[string]string{"password": "correct horse battery"}, nil); err != nil {
		t.Fatal(err)
	}
	token := func(scope string) string {
		out, bad, code := h.homectl(turnWait, "token", "new", "memory-"+scope, "--scope", scope)
		if code != 0 {
			t.Fatal(bad)
		}
		return strings.TrimSpace(out)
	}
	all, read, chat := token("all"), token("read"), token("chat")
	for _, row := range []struct {
		method, path, body string
		all, read          int
	}{
		{"GET", "stats", "", 200, 200},
		{"GET", "facts", "", 200, 200},
		{"GET", "search?q=ladder", "", 200, 200},
		{"GET", "context", "", 200, 200},
		{"GET", "tools", "", 200, 200},
		{"GET", "pairs", "", 200, 200},
		{"GET", "merges", "", 200, 200},
		{"GET", "export", "", 200, 200},
		{"POST", "forget", `{"query":"ladder","dry":true}`, 200, 403},
		{"POST", "restore", `{"facts":[1]}`, 200, 403},
		{"POST", "pairs", `{"pair":99,"outcome":"same"}`, 404, 403},
		{"POST", "merges/undo", `{"merge":99}`, 404, 403},
		{"POST", "import", "hello", 400, 403},
		{"POST", "tidy", "", 200, 403},
	} {
		for who, want := range map[string]int{"": 401, "ha_nobody": 401, all: row.all, read: row.read, chat: 403} {
			ctx, cancel := context.WithTimeout(t.Context(), turnWait)
			req, err := http.NewRequestWithContext(ctx, row.method, base+"/api/v1/memory/"+row.path, strings.NewReader(row.body))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("X-Homeagent", "1")
			if who != "" {
				req.Header.Set("Authorization", "Bearer "+who)
			}
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			if resp.Body.Close(); resp.StatusCode != want {
				t.Errorf("%s %s by %.12q: %d, want %d", row.method, row.path, who, resp.StatusCode, want)
			}
			cancel()
		}
	}
	http.DefaultClient.CloseIdleConnections()
	// An import larger than what the agent is sent otherwise passes the door.
	api, err := client.TCP(base, all, "en")
	if err != nil {
		t.Fatal(err)
	}
	defer api.Close()
	ctx, done := context.WithTimeout(t.Context(), turnWait)
	defer done()
	large := client.Upload{ContentType: "application/x-ndjson", Body: strings.NewReader(strings.Repeat("x", 3<<20))}
	if err := api.Do(ctx, http.MethodPost, "memory/import", large, nil); err == nil || !strings.Contains(err.Error(), "no whole export") {
		t.Errorf("a large import: %v", err)
	}
}

// TestMemoryWithAModel lets a model commit a fact and looks what it is shown next.
func TestMemoryWithAModel(t *testing.T) {
	t.Parallel()
	script := func(r fakellm.Request) fakellm.Reply {
		for _, tool := range r.Tools {
			if tool.Function.Name == "record_facts" { // the distiller asks
				return fakellm.Reply{Calls: []fakellm.Call{{ID: "d1", Name: "record_facts", Args: `{"facts":[]}`}}}
			}
		}
		if r.Contains("Note") && r.Last("tool") == "" {
			return fakellm.Reply{Calls: []fakellm.Call{{ID: "c1", Name: "memory_commit",
				Args: `{"triples":[{"subject":"the passport","relation":"is in","object":"the walrusbox"}]}`}}}
		}
		return fakellm.Reply{Text: "Understood."}
	}
	m := newModel(t, script)
	h := open(t, m.config()+quiet)
	h.say("Note: the passport is in the walrusbox")
	if out := h.memory("facts"); !strings.Contains(out, "the passport is in the walrusbox") {
		t.Fatalf("facts: %s", out)
	}
	pid := h.pids()["agent"]
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually(t, startWait, "another agent", func() bool { now := h.pids()["agent"]; return now != 0 && now != pid })
	h.ready()
	seen := func(question string) string {
		t.Helper()
		h.say(question)
		all := m.Requests()
		for i := len(all) - 1; i >= 0; i-- {
			whole, err := json.Marshal(all[i].Messages)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(whole), question) {
				return string(whole)
			}
		}
		t.Fatal("the model was not asked")
		return ""
	}
	if got := seen("Where might the passport be?"); !strings.Contains(got, "[Memory index]") || !strings.Contains(got, "walrusbox") {
		t.Errorf("the model was shown %s", got)
	}
	h.memory("forget", "--hard", "--yes", "walrusbox")
	if got := seen("Is the passport anywhere?"); strings.Contains(got, "walrusbox") {
		t.Errorf("after forgetting the model was shown %s", got)
	}
	if out := h.memory("tidy"); !strings.Contains(out, "Tidied") {
		t.Errorf("tidy: %s", out)
	}
	if got := h.facts("--past"); slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, "walrusbox") }) {
		t.Errorf("it came back: %q", got)
	}
	if v := m.Violations(); len(v) > 0 {
		t.Errorf("the model complains: %q", v)
	}
}
