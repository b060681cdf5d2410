package use

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"homeagent/tools/powercut/ledger"
)

// What a user may have at once; the house has bounds of its own.
const (
	maxTimers = 40
	maxTokens = 20
)

// SecretName is the secret that changes; the house shows it to the model.
const SecretName = "powercut"

// Setup points the house to the model, with a key of its own.
func (h *House) Setup(ctx context.Context, url string) error {
	if err := h.setSecret(ctx); err != nil {
		return err
	}
	provider := map[string]string{"kind": "openai", "base_url": url, "model": "fake", "key": SecretName}
	var out json.RawMessage
	err := h.renewed(ctx, func() error {
		return h.api.Do(ctx, http.MethodPut, "config", map[string]any{
			"providers": []any{provider}, "voice": map[string]string{"microphone": "off", "speaker": "off"}}, &out)
	})
	if err != nil {
		return fmt.Errorf("point the house to the model: %w", err)
	}
	h.setUp = true
	return nil
}

// Step makes one wish, drawn at random, and returns what it was. An error means
// that it was not acknowledged; the house may be gone.
func (h *House) Step(ctx context.Context) (what string, err error) {
	switch n := h.rng.IntN(100); {
	case n < 40:
		what = "text"
		text := "Powercut note " + h.name("n") + " " + strings.Repeat("lorem ipsum dolor ", h.rng.IntN(40))
		_, err = h.Say(ctx, strings.TrimSpace(text))
	case n < 62:
		what, err = "fact", h.fact(ctx)
	case n < 82:
		what, err = "timer", h.timer(ctx)
	case n < 92:
		what, err = "token", h.tokenWish(ctx)
	case n < 96:
		what, err = "secret", h.setSecret(ctx)
	default:
		what, err = "config", h.setConfig(ctx)
	}
	if err != nil {
		return what, fmt.Errorf("%s: %w", what, err)
	}
	return what, nil
}

// wish says a text whose answer must hold a word for the write to be done.
func (h *House) wish(ctx context.Context, w ledger.Write, text string, done ...string) error {
	return h.try(w, func() error {
		answer, err := h.Say(ctx, text)
		if err != nil {
			return err
		}
		for _, word := range done {
			if strings.Contains(answer, word) {
				return nil
			}
		}
		return &RefusedError{Wish: text, Answer: answer}
	})
}

// RefusedError is an answer that does not say that the wish was fulfilled.
type RefusedError struct{ Wish, Answer string }

func (e *RefusedError) Error() string { return fmt.Sprintf("%q was answered %q", e.Wish, e.Answer) }

func (h *House) fact(ctx context.Context) error {
	subject, rest := h.name("Subject"), "owns "+h.name("Thing")
	return h.wish(ctx, ledger.Write{Kind: ledger.Fact, Name: subject, Value: rest}, wishFact+" "+subject+" "+rest, "remembered: 1")
}

func (h *House) timer(ctx context.Context) error {
	if len(h.timers) > 0 && (len(h.timers) >= maxTimers || h.rng.IntN(4) == 0) {
		i := h.rng.IntN(len(h.timers))
		label := h.timers[i]
		h.timers = append(h.timers[:i], h.timers[i+1:]...) // after a failure nobody knows
		return h.wish(ctx, ledger.Write{Kind: ledger.Timer, Name: label, Value: ""}, wishDrop+" "+label, label)
	}
	label := h.name("timer")
	err := h.wish(ctx, ledger.Write{Kind: ledger.Timer, Name: label, Value: ledger.Present}, wishTimer+" "+label, label)
	if err == nil {
		h.timers = append(h.timers, label)
	}
	return err
}

func (h *House) tokenWish(ctx context.Context) error {
	if len(h.tokens) > 0 && (len(h.tokens) >= maxTokens || h.rng.IntN(3) == 0) {
		i := h.rng.IntN(len(h.tokens))
		name := h.tokens[i]
		h.tokens = append(h.tokens[:i], h.tokens[i+1:]...)
		return h.try(ledger.Write{Kind: ledger.Token, Name: name, Value: ""}, func() error {
			return h.api.Do(ctx, http.MethodDelete, "tokens/"+name, nil, nil)
		})
	}
	name := h.name("t")
	err := h.try(ledger.Write{Kind: ledger.Token, Name: name, Value: ledger.Present}, func() error {
		return h.api.Do(ctx, http.MethodPost, "tokens", map[string]string{"name": name, "scope": "read"}, nil)
	})
	if err == nil {
		h.tokens = append(h.tokens, name)
	}
	return err
}

func (h *House) setSecret(ctx context.Context) error {
	value := h.name("secret-")
	return h.renewed(ctx, func() error {
		return h.try(ledger.Write{Kind: ledger.Secret, Name: SecretName, Value: value}, func() error {
			return h.api.Do(ctx, http.MethodPut, "secrets", map[string]string{"name": SecretName, "value": value}, nil)
		})
	})
}

// configKey is the setting that changes.
const configKey = "memory.keep"

func (h *House) setConfig(ctx context.Context) error {
	h.n++
	n := 100 + h.n
	section, key, _ := strings.Cut(configKey, ".")
	return h.renewed(ctx, func() error {
		return h.try(ledger.Write{Kind: ledger.Config, Name: configKey, Value: strconv.Itoa(n)}, func() error {
			var out json.RawMessage
			return h.api.Do(ctx, http.MethodPut, "config", map[string]any{section: map[string]int{key: n}}, &out)
		})
	})
}
