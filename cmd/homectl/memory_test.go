package main

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// remembering is a door before a memory that answers always the same and keeps
// what it was asked.
type remembering struct {
	asked []string
	dry   string // the answer of a dry run
	wet   string
}

func (r *remembering) note(req *http.Request) string {
	b, _ := io.ReadAll(io.LimitReader(req.Body, 1<<20))
	r.asked = append(r.asked, strings.TrimSpace(req.Method+" "+strings.TrimPrefix(req.URL.RequestURI(), "/api/v1/memory/")+" "+string(b)))
	return string(b)
}

const (
	oneFact = `{"id":7,"text":"Bob lives in Rome","subject":"Bob","status":"active","heard":2,"source":"web",` +
		`"created":"2026-03-01T12:00:00Z","updated":"2026-03-01T12:00:00Z"}`
	oldFact = `{"id":3,"text":"Bob lives in Oslo","status":"past","heard":1,"created":"2026-01-01T12:00:00Z","updated":"2026-03-01T12:00:00Z"}`
	export  = `{"homeagent_memory":{"version":1}}` + "\n" + `{"turn":{"text":"SECRET-OF-THE-HOUSE"}}` + "\n" + `{"end":{"lines":2}}` + "\n"
)

func (r *remembering) door(t *testing.T) *house {
	mux := http.NewServeMux()
	for pattern, text := range map[string]string{
		"GET search":       `{"items":[{"id":"t1/u","text":"my  key is\nhere","kind":"event","time":"2026-03-01T12:00:00Z"},{"id":"fact:7","text":"Bob lives in Rome","kind":"fact","until":"2026-04-01T12:00:00Z"}]}`,
		"GET facts":        `{"facts":[` + oneFact + `,` + oldFact + `]}`,
		"POST restore":     `{"facts":[` + oneFact + `]}`,
		"GET pairs":        `{"pairs":[{"id":4,"a":"张三","b":"三哥","state":"undecided","reason":"同姓"},{"id":5,"a":"Bob","b":"","state":"merged"}]}`,
		"POST pairs":       `{"done":"DONE"}`,
		"GET merges":       `{"merges":[{"id":9,"kept":"Bob","dropped":"Bobby","reason":"he said so","time":"2026-03-01T12:00:00Z"}]}`,
		"POST merges/undo": `{"undone":9}`,
		"POST tidy":        `{"report":{},"text":"TIDIED"}`,
		"POST import":      `{"entities":1,"facts":2,"known":3,"documents":4,"knowledge":5,"kept":["manual"],"turns":6,"events":7,"pairs":8,"merges":9}`,
		"GET context":      `{"events":[{"role":"user","user":"Ann","time":"2026-03-01T12:00:00Z","text":"hello\nyou"},{"role":"tool","tool":"memory_recall","time":"2026-03-01T12:00:00Z","text":"x"}]}`,
		"GET tools":        `{"tools":[{"name":"memory_recall","risk":"read","description":"Look up."}]}`,
		"GET stats":        `{"facts":1,"past":2,"archived":3,"forgotten":4,"entities":5,"pairs_waiting":6,"merges":7,"documents":8,"knowledge":9,"passages":10,"journal_files":11,"journal_bytes":12,"journal_waiting":13,"backlog":14,"distill_by_grammar":true,"distill_deferred":true,"distill_error":"BROKEN","last_distilled":"2026-03-01T12:00:00Z","tidy":{"running":true}}`,
	} {
		method, path, _ := strings.Cut(pattern, " ")
		mux.HandleFunc(method+" /api/v1/memory/"+path, func(w http.ResponseWriter, req *http.Request) {
			r.note(req)
			io.WriteString(w, text)
		})
	}
	mux.HandleFunc("POST /api/v1/memory/forget", func(w http.ResponseWriter, req *http.Request) {
		if strings.Contains(r.note(req), `"dry":true`) {
			io.WriteString(w, r.dry)
			return
		}
		io.WriteString(w, r.wet)
	})
	mux.Handle("GET /api/v1/memory/export", answer([]byte(export)))
	return newHouse(t).door(mux)
}

func TestMemoryCommands(t *testing.T) {
	r := &remembering{wet: `{"facts":[` + oneFact + `],"turns":0,"events":0,"documents":0}`}
	h := r.door(t)
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).Local()
	at, on := noon.Format(time.DateTime), noon.Format(time.DateOnly)
	tests := []struct {
		name   string
		args   []string
		asked  string
		zh, en []string
	}{
		{"search", []string{"search", "where", "is", "my key", "-n", "3"}, "GET search?limit=3&q=where+is+my+key",
			[]string{"my key is here（对话，" + on + "，t1/u）\n", "（事实，到 2026-04-01 为止，fact:7）"}, []string{"my key is here (said, " + on + ", t1/u)\n", "(fact, until 2026-04-01, fact:7)"}},
		{"facts", []string{"facts"}, "GET facts?limit=50",
			[]string{"#7     Bob lives in Rome（2026-03-01 记下，来自 web，听到 2 次）\n", "到 2026-03-01 为止，现在已不是"},
			[]string{"#7     Bob lives in Rome (noted 2026-03-01, from web, heard 2 times)\n", "held until 2026-03-01, no longer"}},
		{"facts of one", []string{"facts", "--subject", "Bob", "--past"}, "GET facts?limit=50&past=1&subject=Bob", []string{"#3"}, []string{"#3"}},
		{"facts by words", []string{"facts", "钥匙"}, "GET facts?limit=50&q=%E9%92%A5%E5%8C%99", []string{"#7"}, []string{"#7"}},
		{"forget", []string{"forget", "--yes", "Bob"}, `POST forget {"query":"Bob"}`,
			[]string{"#7", "homectl memory restore 7\n"}, []string{"#7", "to take it back: homectl memory restore 7\n"}},
		{"forget for good", []string{"forget", "-y", "--hard", "--subject", "Bob", "--relation", "likes", "--object", "tea"},
			`POST forget {"subject":"Bob","relation":"likes","object":"tea","hard":true}`, []string{"彻底忘掉了"}, []string{"Forgotten for good"}},
		{"restore", []string{"restore", "7", "8"}, `POST restore {"facts":[7,8]}`, []string{"#7"}, []string{"#7"}},
		{"pairs", []string{"pairs"}, "GET pairs?limit=50", []string{"#4     张三 ~ 三哥（判断不了，同姓）\n", "Bob ~ —（已合并）"}, []string{"(undecided, 同姓)", "Bob ~ — (merged)"}},
		{"pairs of a state", []string{"pairs", "--state", "undecided"}, "GET pairs?limit=50&state=undecided", []string{"#4"}, []string{"#4"}},
		{"answer", []string{"answer", "4", "different", "--reason", "two people"}, `POST pairs {"outcome":"different","pair":4,"reason":"two people"}`, []string{"DONE\n"}, []string{"DONE\n"}},
		{"merges", []string{"merges"}, "GET merges?limit=50", []string{"#9     Bobby → Bob（2026-03-01，he said so）\n"}, []string{"Bobby → Bob (2026-03-01, he said so)\n"}},
		{"undo", []string{"undo-merge", "9"}, `POST merges/undo {"merge":9}`, []string{"合并 9 已撤销"}, []string{"Merge 9 is undone"}},
		{"tidy", []string{"tidy"}, "POST tidy", []string{"TIDIED\n"}, []string{"TIDIED\n"}},
		{"context", []string{"context"}, "GET context", []string{at + "  人 Ann：hello you\n", "工具 memory_recall：x"}, []string{at + "  user Ann: hello you\n", "tool memory_recall: x"}},
		{"tools", []string{"tools"}, "GET tools", []string{"memory_recall      read  Look up.\n"}, []string{"memory_recall      read  Look up.\n"}},
		{"stats", []string{"stats"}, "GET stats", []string{"事实：1 条，另有历史 2、归档 3、已忘掉（可恢复）4", "按语法提取", "等低价时段", "正在进行", "! 提取事实没有成功（BROKEN）"},
			[]string{"facts: 1; history: 2, archived: 3, forgotten but restorable: 4", "look-alikes to be judged: 6", "14 turns to go", "by grammar", "at work", "! distilling failed (BROKEN)"}},
		{"JSON", []string{"--json", "tidy"}, "POST tidy", []string{`{"report":{},"text":"TIDIED"}` + "\n"}, []string{`"text":"TIDIED"`}},
		{"JSON behind", []string{"merges", "--json"}, "GET merges?limit=50", []string{`"dropped":"Bobby"`}, []string{`"dropped":"Bobby"`}},
	}
	for _, tt := range tests {
		for lang, want := range map[string][]string{"zh": tt.zh, "en": tt.en} {
			t.Run(tt.name+" "+lang, func(t *testing.T) {
				r.asked = nil
				out, bad, code := h.run(lang, "", append([]string{"memory"}, tt.args...)...)
				if code != 0 || bad != "" {
					t.Fatalf("exit %d, %q, %q", code, out, bad)
				}
				for _, w := range want {
					if !strings.Contains(out, w) {
						t.Errorf("%q is not in %q", w, out)
					}
				}
				if len(r.asked) != 1 || r.asked[0] != tt.asked {
					t.Errorf("asked %q", r.asked)
				}
			})
		}
	}
}

// A person is shown what would go, and asked; nobody else forgets without --yes.
func TestForgetAsks(t *testing.T) {
	full := `{"facts":[` + oneFact + `],"turns":2,"events":3,"documents":1}`
	tests := []struct {
		name, dry, stdin string
		terminal         bool
		code             int
		gone             bool
		zh, en           string
	}{
		{"yes", full, "y\n", true, 0, true, "彻底忘掉了", "Forgotten for good"},
		{"yes in Chinese", full, "是\n", true, 0, true, "彻底忘掉了", "Forgotten for good"},
		{"no", full, "n\n", true, 0, false, "什么也没删。", "Nothing was forgotten."},
		{"return alone", full, "\n", true, 0, false, "什么也没删。", "Nothing was forgotten."},
		{"the end of the input", full, "", true, 1, false, "请加 --yes", "add --yes"},
		{"a pipe", full, "y\n", false, 1, false, "请加 --yes", "add --yes"},
		{"nothing fits", `{"facts":[],"turns":0}`, "y\n", true, 0, false, "没有找到要忘掉的事", "Nothing fits"},
		{"nothing that can be read", `[]`, "y\n", true, 1, false, "同一个版本", "of the same version"},
	}
	for _, tt := range tests {
		for lang, want := range map[string]string{"zh": tt.zh, "en": tt.en} {
			t.Run(tt.name+" "+lang, func(t *testing.T) {
				r := &remembering{dry: tt.dry, wet: full}
				h := r.door(t)
				var out, bad bytes.Buffer
				code := run([]string{"-data", h.dir, "--lang", lang, "memory", "forget", "--hard", "Bob"}, world{in: strings.NewReader(tt.stdin), terminal: tt.terminal,
					out: &out, err: &bad, getenv: func(string) string { return "" }, now: time.Now})
				all := out.String() + bad.String()
				if code != tt.code || !strings.Contains(all, want) {
					t.Errorf("exit %d, %q", code, all)
				}
				if tt.dry == full && !(strings.Contains(out.String(), "#7     Bob lives in Rome") && strings.Contains(out.String(), "2")) {
					t.Errorf("what would go was not shown: %q", out.String())
				}
				if gone := len(r.asked) == 2; gone != tt.gone || r.asked[0] != `POST forget {"query":"Bob","hard":true,"dry":true}` {
					t.Errorf("asked %q", r.asked)
				}
			})
		}
	}
	r := &remembering{}
	h := r.door(t)
	for lang, want := range map[string]string{"zh": "没有说要忘掉什么", "en": "nothing says what to forget"} {
		if _, bad, code := h.run(lang, "", "memory", "forget", "--hard", "--yes"); code != 1 || !strings.Contains(bad, want) || len(r.asked) > 0 {
			t.Errorf("exit %d, %q, asked %q", code, bad, r.asked)
		}
	}
}

func TestExportFile(t *testing.T) {
	h := (&remembering{}).door(t)
	dir := t.TempDir()
	name := filepath.Join(dir, "all.jsonl")
	out, bad, code := h.run("en", "", "memory", "export", name)
	if code != 0 || !strings.Contains(out, "3 lines") || !strings.Contains(out, "keep it like a diary") || strings.Contains(out, "SECRET") {
		t.Fatalf("exit %d, %q, %q", code, out, bad)
	}
	check := func(want string) {
		t.Helper()
		b, err := os.ReadFile(name)
		info, serr := os.Stat(name)
		if err != nil || serr != nil || string(b) != want || info.Mode().Perm() != 0o600 {
			t.Errorf("%q, %v, %v", b, info, err)
		}
		if all, err := os.ReadDir(dir); err != nil || len(all) != 1 {
			t.Errorf("beside it: %v, %v", all, err)
		}
	}
	check(export)
	if err := os.WriteFile(name, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	for lang, want := range map[string]string{"zh": "已经存在", "en": "exists and was left as it is"} {
		if _, bad, code := h.run(lang, "", "memory", "export", name); code != 1 || !strings.Contains(bad, want) || !strings.Contains(bad, "--force") {
			t.Errorf("exit %d, %q", code, bad)
		}
	}
	check("mine")
	if out, bad, code := h.run("zh", "", "memory", "export", name, "--force"); code != 0 || !strings.Contains(out, "没有加密") {
		t.Errorf("exit %d, %q, %q", code, out, bad)
	}
	check(export)
	if out, _, code := h.run("en", "", "memory", "export", "-"); code != 0 || out != export {
		t.Errorf("exit %d, %q", code, out)
	}
	t.Run("by default into this folder", func(t *testing.T) {
		t.Chdir(t.TempDir())
		if _, bad, code := h.run("en", "", "memory", "export"); code != 0 {
			t.Fatal(code, bad)
		}
		want := "homeagent-memory-" + time.Unix(1700000120, 0).Format(time.DateOnly) + ".jsonl"
		if _, err := os.Stat(want); err != nil {
			t.Error(err)
		}
	})
}

// What breaks off leaves the file that was there, and no other.
func TestExportThatBreaksOff(t *testing.T) {
	for name, body := range map[string]string{
		"no end": export[:len(export)-20], "nothing": "", "lines lost": strings.Replace(export, `"lines":2`, `"lines":5`, 1), "no last line break": export[:len(export)-1],
		"no JSON": "hello\n", "another end": "{\"end\":null}\n",
	} {
		t.Run(name, func(t *testing.T) {
			mux := http.NewServeMux()
			mux.Handle("GET /api/v1/memory/export", answer([]byte(body)))
			h := newHouse(t).door(mux)
			dir := t.TempDir()
			for lang, want := range map[string]string{"zh": "没有传完", "en": "broke off"} {
				if out, bad, code := h.run(lang, "", "memory", "export", filepath.Join(dir, "x")); code != 1 || !strings.Contains(bad, want) {
					t.Errorf("exit %d, %q, %q", code, out, bad)
				}
			}
			if all, err := os.ReadDir(dir); err != nil || len(all) != 0 {
				t.Errorf("left %v, %v", all, err)
			}
		})
	}
	t.Run("the connection ends", func(t *testing.T) {
		mux := http.NewServeMux()
		mux.HandleFunc("GET /api/v1/memory/export", func(w http.ResponseWriter, _ *http.Request) {
			io.WriteString(w, export)
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		})
		if _, bad, code := newHouse(t).door(mux).run("en", "", "memory", "export", filepath.Join(t.TempDir(), "x")); code != 1 || !strings.Contains(bad, "broke off") {
			t.Errorf("exit %d, %q", code, bad)
		}
	})
	t.Run("no such folder", func(t *testing.T) {
		h := (&remembering{}).door(t)
		if _, bad, code := h.run("en", "", "memory", "export", "/none/x"); code != 1 || !strings.Contains(bad, "/none") || !strings.Contains(bad, "cannot be used") {
			t.Errorf("exit %d, %q", code, bad)
		}
	})
}

func TestTail(t *testing.T) {
	for _, piece := range []int{1, 7, 300, 5000} {
		var last tail
		text := strings.Repeat(strings.Repeat("x", 999)+"\n", 3) + "the end\n"
		for b := []byte(text); len(b) > 0; b = b[min(piece, len(b)):] {
			last.Write(b[:min(piece, len(b))])
		}
		if last.lines != 4 || string(last.line()) != "the end" || len(last.buf) > maxEnd {
			t.Errorf("pieces of %d: %d lines, %q", piece, last.lines, last.line())
		}
	}
}

func TestImport(t *testing.T) {
	r := &remembering{}
	h := r.door(t)
	name := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(name, []byte(export), 0o600); err != nil {
		t.Fatal(err)
	}
	for lang, want := range map[string][]string{"zh": {"事实 2、", "对话 6 轮", "已经有的 3", "保留了这里的：manual"}, "en": {"facts 2,", "turns 6,", "known before: 3", "was kept: manual"}} {
		for _, from := range []string{name, "-"} {
			r.asked = nil
			out, bad, code := h.run(lang, export, "memory", "import", from)
			if code != 0 || bad != "" || len(r.asked) != 1 || r.asked[0] != strings.TrimSpace("POST import "+export) {
				t.Fatalf("exit %d, %q, %q, asked %q", code, out, bad, r.asked)
			}
			for _, w := range want {
				if !strings.Contains(out, w) {
					t.Errorf("%q is not in %q", w, out)
				}
			}
		}
		if _, bad, code := h.run(lang, "", "memory", "import", name+"none"); code != 1 || !strings.Contains(bad, "none") {
			t.Errorf("exit %d, %q", code, bad)
		}
	}
}

func TestMemoryArguments(t *testing.T) {
	for _, tt := range []struct {
		args   []string
		zh, en string
	}{
		{[]string{"memory"}, "还缺一个命令", "expected one of"},
		{[]string{"memory", "search"}, "还缺参数", "expected"},
		{[]string{"memory", "restore", "x"}, "应当是整数", "int"},
		{[]string{"memory", "restore"}, "还缺参数", "expected"},
		{[]string{"memory", "answer", "1", "perhaps"}, "不能是", "must be one of"},
		{[]string{"memory", "pairs", "--state", "odd"}, "不能是", "must be one of"},
		{[]string{"memory", "undo-merge"}, "还缺参数", "expected"},
	} {
		for lang, want := range map[string]string{"zh": tt.zh, "en": tt.en} {
			if out, bad, code := homectl(map[string]string{"LANG": lang}, "", tt.args...); code != 2 || !strings.Contains(bad, want) {
				t.Errorf("%q %s: exit %d, %q, %q", tt.args, lang, code, out, bad)
			}
		}
	}
	for lang, want := range map[string]string{"zh": "忘掉事实", "en": "Forget facts"} {
		if out, _, code := homectl(map[string]string{"LANG": lang}, "", "memory", "--help"); code != 0 || !strings.Contains(out, want) {
			t.Errorf("help: exit %d, %s", code, out)
		}
	}
}

// An answer of another form is told, whatever was asked.
func TestMemoryThatCannotBeRead(t *testing.T) {
	mux := http.NewServeMux()
	mux.Handle("GET /api/v1/memory/facts", answer([]byte(`{"facts":{}}`)))
	mux.Handle("GET /api/v1/memory/stats", refuse(503, "等一等。", "Wait."))
	h := newHouse(t).door(mux)
	for lang, want := range map[string][2]string{"zh": {"同一个版本", "等一等。"}, "en": {"of the same version", "Wait."}} {
		for i, name := range []string{"facts", "stats"} {
			if _, bad, code := h.run(lang, "", "memory", name); code != 1 || !strings.Contains(bad, want[i]) {
				t.Errorf("%s: exit %d, %q", name, code, bad)
			}
		}
	}
}
