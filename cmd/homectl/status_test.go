package main

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"homeagent/firmware/control"
)

func golden(t *testing.T, name, got string) {
	t.Helper()
	want, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s (-want +got):\n%s\nwhole:\n%s", name, d, got)
	}
}

func TestStatus(t *testing.T) {
	raw, err := os.ReadFile("testdata/status.json")
	if err != nil {
		t.Fatal(err)
	}
	full, away := http.NewServeMux(), http.NewServeMux()
	full.Handle("GET /api/v1/status", answer(raw))
	full.Handle("GET /api/v1/voice", answer(map[string]any{"state": "idle", "muted": true, "understands": []string{"en", "zh"},
		"wake_words": []string{"小管家"}, "notes": []string{"NOTE-OF-THE-VOICE"}}))
	away.Handle("GET /api/v1/status", answer(map[string]any{
		"door":       map[string]any{"uptime_s": 5, "agent_linked": false, "notes": []any{}},
		"supervisor": map[string]any{"code": "supervisor_down", "title": "SUPERVISOR-AWAY"},
		"agent":      map[string]any{"code": "agent_down", "title": "AGENT-AWAY"},
	}))
	ctl := handler(func(req control.Request) (any, error) {
		return control.StatusReport{Version: "v1", DataDir: "/srv/home", Wifi: inLang(req, "不管理", "not managed"),
			Processes: []control.Process{{Name: "door", State: "stopped"}, {Name: "agent", State: "running", PID: 7, Since: 1700000000}}}, nil
	})
	houses := map[string]*house{
		"full":  newHouse(t).door(full),
		"away":  newHouse(t).door(away),
		"alone": newHouse(t).supervisor(ctl),
	}
	for name, h := range houses {
		for _, lang := range []string{"zh", "en"} {
			t.Run(name+" "+lang, func(t *testing.T) {
				out, bad, code := h.run(lang, "", "status")
				if code != 0 || bad != "" {
					t.Fatalf("exit %d, %s", code, bad)
				}
				golden(t, name+"."+lang+".golden", out)
			})
		}
	}
	t.Run("JSON is whole", func(t *testing.T) {
		for name, part := range map[string]string{"full": "engines_running", "alone": "not managed"} {
			out, bad, code := houses[name].run("en", "", "status", "--json")
			if code != 0 || !json.Valid([]byte(out)) || !strings.Contains(out, part) {
				t.Errorf("%s: exit %d, %s%s", name, code, out, bad)
			}
		}
	})
}

func TestStatusThatCannotBeRead(t *testing.T) {
	mux := http.NewServeMux()
	mux.Handle("GET /api/v1/status", answer(map[string]any{"agent": []int{1}}))
	h := newHouse(t).door(mux)
	for lang, want := range map[string]string{"zh": "同一个版本", "en": "of the same version"} {
		if _, bad, code := h.run(lang, "", "status"); code != 1 || !strings.Contains(bad, want) {
			t.Errorf("exit %d, %s", code, bad)
		}
	}
}

func TestSpan(t *testing.T) {
	tests := []struct {
		d      time.Duration
		zh, en string
	}{
		{-time.Second, "0 秒", "0 s"},
		{59 * time.Second, "59 秒", "59 s"},
		{time.Minute, "1 分钟", "1 min"},
		{61 * time.Minute, "1 小时 1 分钟", "1 h 1 min"},
		{49 * time.Hour, "2 天 1 小时", "2 d 1 h"},
	}
	for _, tt := range tests {
		if zh, en := (&env{lang: "zh"}).span(tt.d), (&env{lang: "en"}).span(tt.d); zh != tt.zh || en != tt.en {
			t.Errorf("%v: %q, %q", tt.d, zh, en)
		}
	}
}
