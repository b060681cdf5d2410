package use

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"homeagent/tools/powercut/ledger"
)

// page is how many lines of the history are asked for at once.
const page = 200

// Verify asks a house that has just started for what is due.
func (h *House) Verify(ctx context.Context) (ledger.Found, error) {
	f := ledger.Found{Inputs: map[string]string{}, Answers: map[string]string{}, Facts: map[string]bool{}, Timers: map[string]bool{},
		Tokens: map[string]bool{}, Config: map[string]string{}, Claimed: new(bool)}
	due := h.Ledger.Due(ledger.All)
	if err := h.verifyDoor(ctx, f); err != nil {
		return f, err
	}
	if err := h.Ready(ctx); err != nil {
		return f, err
	}
	if err := h.verifyTurns(ctx, f, due); err != nil {
		return f, err
	}
	if err := h.verifyHistory(ctx, f); err != nil {
		return f, err
	}
	// An answer of which the house does not know whether it left is sent once
	// more, with words in front that say so.
	for _, e := range due {
		if e.Kind == ledger.Answer && e.Value != "" && strings.HasSuffix(f.Answers[e.Name], e.Value) {
			f.Answers[e.Name] = e.Value
		}
	}
	if h.setUp { // at least one turn was answered by now, so the key was shown
		f.Secrets = map[string]string{SecretName: h.Model.Key()}
	}
	return f, nil
}

// verifyDoor asks for what the door and the supervisor keep.
func (h *House) verifyDoor(ctx context.Context, f ledger.Found) error {
	var s struct{ Claimed bool }
	if err := h.api.Do(ctx, http.MethodGet, "session", nil, &s); err != nil {
		return err
	}
	*f.Claimed = s.Claimed
	var tokens struct{ Tokens []struct{ Name string } }
	if err := h.api.Do(ctx, http.MethodGet, "tokens", nil, &tokens); err != nil {
		return err
	}
	for _, t := range tokens.Tokens {
		f.Tokens[t.Name] = true
	}
	var config map[string]json.RawMessage
	if err := h.api.Do(ctx, http.MethodGet, "config", nil, &config); err != nil {
		return err
	}
	section, key, _ := strings.Cut(configKey, ".")
	var keys map[string]json.RawMessage
	if raw := config[section]; raw != nil {
		if err := json.Unmarshal(raw, &keys); err != nil {
			return fmt.Errorf("section %s of the configuration: %w", section, err)
		}
		if v := keys[key]; v != nil {
			f.Config[configKey] = string(v)
		}
	}
	return nil
}

// verifyTurns asks in words for facts and timers.
func (h *House) verifyTurns(ctx context.Context, f ledger.Found, due []ledger.Expectation) error {
	list, err := h.Say(ctx, wishList+" "+h.name("q"))
	if err != nil {
		return err
	}
	for _, e := range due {
		switch {
		case e.Kind == ledger.Timer && holds(list, e.Name):
			f.Timers[e.Name] = true
		case e.Kind == ledger.Fact:
			answer, err := h.Say(ctx, wishKnow+" "+e.Name)
			if err != nil {
				return err
			}
			ok := holds(answer, e.Name)
			for _, word := range strings.Fields(e.Value) {
				ok = ok && holds(answer, word)
			}
			f.Facts[ledger.FactKey(e.Name, e.Value)] = ok
		}
	}
	return nil
}

// holds reports whether a word stands in a text, and not only as part of a longer one.
func holds(text, word string) bool {
	letter := func(b byte) bool { return b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' }
	for from := 0; ; {
		i := strings.Index(text[from:], word)
		if i < 0 {
			return false
		}
		begin, end := from+i, from+i+len(word)
		if (begin == 0 || !letter(text[begin-1])) && (end == len(text) || !letter(text[end])) {
			return true
		}
		from = begin + 1
	}
}

// verifyHistory reads the whole conversation.
func (h *House) verifyHistory(ctx context.Context, f ledger.Found) error {
	for before := ""; ; {
		var got struct {
			Items []struct{ ID, Role, Text, Input string }
		}
		path := fmt.Sprintf("chat/history?limit=%d", page)
		if before != "" {
			path += "&before=" + before
		}
		if err := h.api.Do(ctx, http.MethodGet, path, nil, &got); err != nil {
			return err
		}
		if len(got.Items) == 0 {
			return nil
		}
		for _, it := range got.Items {
			switch id := it.Input; {
			case it.Role == "user":
				f.Inputs[id] = it.Text
			case strings.HasSuffix(it.ID, "/f"), it.Role == "agent" && f.Answers[id] == "":
				f.Answers[id] = it.Text
			}
		}
		before = got.Items[0].ID
	}
}
