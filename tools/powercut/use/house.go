package use

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"homeagent/drivers/web/client"
	"homeagent/drivers/web/problem"
	"homeagent/tools/powercut/ledger"
)

// House is one house as its user knows it, across all of its starts.
type House struct {
	Ledger *ledger.Ledger
	Model  *Model
	// Position is the present end of the record of the disk's writes; nil where there is none.
	Position func() (uint64, error)

	rng    *rand.Rand
	token  string
	api    *client.Client
	n      int
	timers []string
	tokens []string
	setUp  bool // the house shows the model the secret that changes
}

// New makes a user whose wishes come from a seed.
func New(l *ledger.Ledger, m *Model, seed uint64) *House {
	return &House{Ledger: l, Model: m, rng: rand.New(rand.NewPCG(seed, 2))}
}

// Claimed reports whether the user has a way in.
func (h *House) Claimed() bool { return h.token != "" }

// API is the way in that Claim or Connect has opened.
func (h *House) API() *client.Client { return h.api }

// SetUp reports whether Setup has been done.
func (h *House) SetUp() bool { return h.setUp }

// Connect uses the address from now on, as after a start.
func (h *House) Connect(base string) error {
	if h.api != nil {
		h.api.Close()
	}
	var err error
	h.api, err = client.TCP(base, h.token, "en")
	return err
}

// try does one write: it is noted before and, if the house says so, after.
func (h *House) try(w ledger.Write, do func() error) error {
	op, err := h.Ledger.Tried(w)
	if err != nil {
		return err
	}
	if err := do(); err != nil {
		return err
	}
	return h.acked(op, w)
}

func (h *House) acked(op int, w ledger.Write) error {
	var at uint64
	if h.Position != nil {
		var err error
		if at, err = h.Position(); err != nil {
			return err
		}
	}
	return h.Ledger.Acked(op, w, at)
}

// password is that of the owner; it protects a house that lives for minutes.
const password = "powercut-owner"

// tokenName is the token that the user works with.
const tokenName = "powercut"

// Claim makes the owner's account with the setup code, or logs in where an
// earlier try has made it without being heard, and takes a token.
func (h *House) Claim(ctx context.Context, base, code string) error {
	cookie := ""
	w := ledger.Write{Kind: ledger.Claim, Name: "owner"}
	err := h.try(w, func() (err error) {
		cookie, err = post(ctx, base+"/api/v1/claim", "", map[string]string{"code": code, "password": password}, nil)
		return err
	})
	var p *problem.Problem
	if errors.As(err, &p) && p.Status == http.StatusConflict {
		cookie, err = post(ctx, base+"/api/v1/login", "", map[string]string{"password": password}, nil)
	}
	if err != nil {
		return fmt.Errorf("claim the house: %w", err)
	}
	name := tokenName
	if h.n > 0 {
		name = fmt.Sprintf("%s-%d", tokenName, h.n) // the last try may have made one
	}
	h.n++
	var out struct{ Token string }
	err = h.try(ledger.Write{Kind: ledger.Token, Name: name, Value: ledger.Present}, func() error {
		_, err := post(ctx, base+"/api/v1/tokens", cookie, map[string]string{"name": name}, &out)
		return err
	})
	if err != nil {
		return fmt.Errorf("make a token: %w", err)
	}
	h.token = out.Token
	return h.Connect(base)
}

// post is a request as the page sends it. It returns the cookie that was set.
func post(ctx context.Context, url, cookie string, body, out any) (string, error) {
	j, err := json.Marshal(body)
	if err != nil {
		return "", err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(j))
	if err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Homeagent", "1")
	if cookie != "" {
		req.Header.Set("Cookie", cookie)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	if resp.StatusCode >= 300 {
		return "", problem.Read(resp)
	}
	if out != nil {
		if err := json.NewDecoder(resp.Body).Decode(out); err != nil {
			return "", err
		}
	}
	for _, c := range resp.Cookies() {
		cookie = c.Name + "=" + c.Value
	}
	return cookie, nil
}

// Say sends a text and returns its answer.
func (h *House) Say(ctx context.Context, text string) (answer string, err error) {
	in := ledger.Write{Kind: ledger.Input, Value: text}
	// The id is the house's to give, so there is nothing to note before.
	s, err := h.api.Stream(ctx, http.MethodPost, "chat", map[string]string{"text": text})
	if err != nil {
		return "", err
	}
	defer s.Close()
	note := func(w ledger.Write) error { return h.try(w, func() error { return nil }) }
	for {
		ev, err := s.Next()
		if errors.Is(err, io.EOF) {
			return "", fmt.Errorf("%q: %w", text, io.ErrUnexpectedEOF)
		}
		if err != nil {
			return "", err
		}
		var data struct{ ID, Text, Title string }
		if err := json.Unmarshal([]byte(ev.Data), &data); err != nil {
			return "", fmt.Errorf("event %s: %w", ev.Name, err)
		}
		switch ev.Name {
		case "accepted":
			if in.Name = data.ID; in.Name == "" {
				return "", fmt.Errorf("%q was accepted without an id", text)
			}
			if err := note(in); err != nil {
				return "", err
			}
		case "final":
			return data.Text, note(ledger.Write{Kind: ledger.Answer, Name: in.Name, Value: data.Text})
		case "error":
			return "", fmt.Errorf("%q: %s", text, data.Title)
		}
	}
}

// Ready waits until the agent behind the page answers.
func (h *House) Ready(ctx context.Context) error {
	return h.until(ctx, func() (bool, error) {
		var s struct{ Agent bool }
		err := h.api.Do(ctx, http.MethodGet, "session", nil, &s)
		return s.Agent, err
	})
}

// until asks again and again.
func (h *House) until(ctx context.Context, done func() (bool, error)) error {
	for {
		ok, err := done()
		if ok && err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the agent does not answer: %w", errors.Join(ctx.Err(), err))
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// renewed makes a change after which the supervisor starts the agent anew, and
// waits until the new one is there: the old one still answers for a moment.
func (h *House) renewed(ctx context.Context, change func() error) error {
	before, err := h.agentPID(ctx)
	if err != nil {
		return err
	}
	if err := change(); err != nil {
		return err
	}
	err = h.until(ctx, func() (bool, error) {
		now, err := h.agentPID(ctx)
		return now != 0 && now != before, err
	})
	if err != nil {
		return err
	}
	return h.Ready(ctx)
}

// agentPID is the agent's process number, 0 while there is none.
func (h *House) agentPID(ctx context.Context) (int, error) {
	var s struct {
		Supervisor struct {
			Processes []struct {
				Name string
				PID  int
			}
		}
	}
	if err := h.api.Do(ctx, http.MethodGet, "status", nil, &s); err != nil {
		return 0, err
	}
	for _, p := range s.Supervisor.Processes {
		if p.Name == "agent" {
			return p.PID, nil
		}
	}
	return 0, nil
}

// name makes a name that never comes again in this house.
func (h *House) name(kind string) string {
	h.n++
	return fmt.Sprintf("%s%d%s", kind, h.n, strings.ToLower(fmt.Sprintf("%c%c", 'A'+h.rng.IntN(26), 'A'+h.rng.IntN(26))))
}
