package door

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// tale is what was passed on of a loss.
type tale struct {
	kept     string
	memories bool
}

// notesOf are the notes of GET /session, and those of the door in GET /status,
// in one language.
func (h *house) notesOf(lang string) (claim, status []struct{ Code, Text, Detail string }) {
	h.t.Helper()
	var session struct {
		Notes []struct{ Code, Text, Detail string }
	}
	if err := json.Unmarshal(h.call("GET", "/api/v1/session?lang="+lang, "").body, &session); err != nil {
		h.t.Fatal(err)
	}
	var all struct {
		Door struct {
			Notes []struct{ Code, Text, Detail string }
		}
	}
	if err := json.Unmarshal(h.local("GET", "/api/v1/status?lang="+lang, "").body, &all); err != nil {
		h.t.Fatal(err)
	}
	return session.Notes, all.Door.Notes
}

// TestLostAccountsAreTold: whoever must claim a house again that is not new is
// told why before the claim, once by voice, and no longer after it.
func TestLostAccountsAreTold(t *testing.T) {
	whole := tempDir(t)
	h := openIn(t, whole, nil)
	h.claim()
	h.stop()
	good, err := os.ReadFile(filepath.Join(whole, "door.db"))
	if err != nil {
		t.Fatal(err)
	}
	garbage := []byte(strings.Repeat("garbage ", 4000))
	for _, row := range []struct {
		name   string
		db     []byte // nil is a missing file
		beside string // a file set aside by an earlier start
		used   bool
		code   string // "" where nothing is lost
		zh, en []string
		not    string // must not be said in English
	}{
		{"missing", nil, "", true, "door_db_missing",
			[]string{"door.db 不见了", "也没有留下", "记忆不受影响", "新的设置码"}, []string{"door.db, is gone", "no damaged file", "memories are not touched", "new setup code"}, "kept"},
		{"missing, a damaged one beside it", nil, "door.db.bad-20260228T120000", true, "door_db_missing",
			[]string{"door.db 不见了", "door.db.bad-20260228T120000", "记忆不受影响"}, []string{"is gone", "kept in the data folder as door.db.bad-20260228T120000", "new setup code"}, "no damaged"},
		{"missing where nothing else is but a damaged one", nil, "door.db.bad-20260228T120000", false, "door_db_missing",
			[]string{"不见了", "新的设置码"}, []string{"is gone", "new setup code"}, "memories"},
		{"garbage", garbage, "", true, "door_db_damaged",
			[]string{"账户文件损坏了", "door.db.bad-20260301T080000", "记忆不受影响", "新的设置码"},
			[]string{"is damaged", "kept in the data folder as door.db.bad-20260301T080000", "memories are not touched", "new setup code"}, "is gone"},
		{"truncated", good[:2*os.Getpagesize()], "", true, "door_db_damaged",
			[]string{"账户文件损坏了", "记忆不受影响"}, []string{"is damaged", "door.db.bad-20260301T080000", "memories are not touched"}, "is gone"},
		{"empty", []byte{}, "", true, "door_db_damaged", []string{"账户文件损坏了"}, []string{"is damaged"}, "is gone"},
		{"garbage in a house without memories", garbage, "", false, "door_db_damaged",
			[]string{"账户文件损坏了"}, []string{"is damaged", "new setup code"}, "memories"},
		{"a first start", nil, "", false, "", nil, nil, ""},
		{"nothing lost", good, "", true, "", nil, nil, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			dir := tempDir(t)
			if row.db != nil {
				if err := os.WriteFile(filepath.Join(dir, "door.db"), row.db, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if row.beside != "" {
				if err := os.WriteFile(filepath.Join(dir, row.beside), garbage, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			tales := make(chan tale, 8)
			options := func(o *Options) {
				o.Used = row.used
				o.Lost = func(_ context.Context, kept string, memories bool) error {
					tales <- tale{kept, memories}
					return nil
				}
			}
			h := openIn(t, dir, options)
			check := func() {
				t.Helper()
				for lang, parts := range map[string][]string{"zh": row.zh, "en": row.en} {
					claim, status := h.notesOf(lang)
					if row.code == "" {
						if len(claim)+len(status) > 0 {
							t.Errorf("told %+v, %+v", claim, status)
						}
						continue
					}
					if len(claim) != 1 || len(status) != 1 || claim[0].Text != status[0].Text || claim[0].Code != row.code || status[0].Code != row.code {
						t.Fatalf("%s: told %+v, %+v", lang, claim, status)
					}
					if claim[0].Detail != "" || (status[0].Detail != "") != (row.db != nil || row.beside != "") {
						t.Errorf("%s: details %q, %q", lang, claim[0].Detail, status[0].Detail)
					}
					for _, p := range parts {
						if !strings.Contains(claim[0].Text, p) {
							t.Errorf("%q lacks %q", claim[0].Text, p)
						}
					}
					if lang == "en" && strings.Contains(claim[0].Text, row.not) {
						t.Errorf("%q has %q", claim[0].Text, row.not)
					}
				}
			}
			check()
			if row.code == "" {
				h.stop()
				if len(tales) > 0 {
					t.Errorf("passed on: %+v", <-tales)
				}
				return
			}
			select {
			case got := <-tales:
				if got.memories != row.used || (got.kept != "") != (row.db != nil || row.beside != "") || strings.Contains(got.kept, "/") {
					t.Errorf("passed on: %+v", got)
				}
			case <-time.After(patience):
				t.Fatal("nothing is passed on")
			}
			// Switched off before anybody has claimed it: still shown, not spoken again.
			h.stop()
			row.used = true // the rest of the house has been made meanwhile
			h = openIn(t, dir, options)
			check()
			h.claim()
			for _, lang := range []string{"zh", "en"} {
				if claim, status := h.notesOf(lang); len(claim)+len(status) > 0 {
					t.Errorf("after the claim: %+v, %+v", claim, status)
				}
			}
			h.stop()
			h = openIn(t, dir, options)
			if claim, status := h.notesOf("en"); len(claim)+len(status) > 0 {
				t.Errorf("at the start after the claim: %+v, %+v", claim, status)
			}
			if h.code != "" {
				t.Error("it wants to be claimed again")
			}
			h.stop()
			if len(tales) > 0 {
				t.Errorf("passed on again: %+v", <-tales)
			}
		})
	}
}

// TestALossThatCouldNotBePassedOn is told at the next start.
func TestALossThatCouldNotBePassedOn(t *testing.T) {
	dir := tempDir(t)
	tales := make(chan string, 8)
	var answer error
	options := func(o *Options) {
		o.Used = true
		o.Lost = func(_ context.Context, kept string, _ bool) error {
			tales <- kept
			return answer
		}
	}
	for _, answer = range []error{errors.New("no supervisor"), nil, nil} {
		openIn(t, dir, options).stop()
	}
	if len(tales) != 2 {
		t.Errorf("told %d times, want 2: refused once, then taken", len(tales))
	}
}
