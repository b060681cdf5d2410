package door

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync"
	"time"

	"homeagent/drivers/web/problem"
)

// controlTime is how long the door waits for the supervisor, statusTime for
// each part of the status.
const (
	controlTime = 20 * time.Second
	statusTime  = 3 * time.Second
)

// getStatus puts the three parts together; one that does not answer is a
// problem in its place, and the rest is still told.
func (s *server) getStatus(c *call) {
	ctx, cancel := context.WithTimeout(c.r.Context(), statusTime)
	defer cancel()
	var super, agent any
	var wg sync.WaitGroup
	wg.Go(func() {
		if s.opt.Control == nil {
			super = c.problem(kNoControl, "")
			return
		}
		j, err := s.opt.Control.Status(ctx, c.lang)
		if err != nil {
			super = s.controlProblem(c, err)
			return
		}
		super = j
	})
	wg.Go(func() {
		j, err := s.agentStatus(ctx, c)
		if err != nil {
			s.log.Debug("no status of the agent", "err", err)
			agent = c.problem(kNoAgent, "")
			return
		}
		agent = j
	})
	wg.Wait()
	door := map[string]any{
		"version": s.opt.Version, "uptime_s": int(s.now().Sub(s.started).Seconds()),
		"agent_linked": s.hub.Connected(), "notes": s.lossNotes(c.lang),
	}
	c.reply(map[string]any{"door": door, "supervisor": super, "agent": agent})
}

// controlProblem turns an error of Control into words.
func (s *server) controlProblem(c *call, err error) *problem.Problem {
	var f *Fault
	if errors.As(err, &f) && f.Status >= 400 && f.Status <= 599 {
		code := f.Code
		if code == "" {
			code = kControl.code
		}
		return problem.New(f.Status, code, f.Words, c.lang)
	}
	s.log.Error("the supervisor did not do what was asked", "path", c.r.URL.Path, "err", err)
	if isTimeout(err) || errors.Is(err, context.DeadlineExceeded) {
		return c.problem(kNoControl, "")
	}
	return c.problem(kControl, "")
}

// control runs f against the supervisor; it has answered when it returns false.
func (s *server) control(c *call, f func(ctx context.Context, ctl Control) error) bool {
	if s.opt.Control == nil {
		c.fail(kNoControl)
		return false
	}
	ctx, cancel := context.WithTimeout(c.r.Context(), controlTime)
	defer cancel()
	if err := f(ctx, s.opt.Control); err != nil {
		s.controlProblem(c, err).Write(c.w)
		return false
	}
	return true
}

func (s *server) getConfig(c *call) {
	var j json.RawMessage
	if s.control(c, func(ctx context.Context, ctl Control) (err error) {
		j, err = ctl.Config(ctx, c.lang)
		return err
	}) {
		c.reply(j)
	}
}

// putConfig hands a JSON object on and answers with the configuration as it is
// then. What stands in the object is between page and supervisor.
func (s *server) putConfig(c *call) {
	data, ok := s.readJSON(c)
	if !ok {
		return
	}
	if data = bytes.TrimSpace(data); !json.Valid(data) || data[0] != '{' {
		c.fail(kBody)
		return
	}
	if !s.control(c, func(ctx context.Context, ctl Control) error { return ctl.SetConfig(ctx, c.lang, data) }) {
		return
	}
	s.store.audit("config", c.who.name, c.peer.addr, "")
	s.getConfig(c)
}

// putSecret stores a secret; nothing reads one back.
func (s *server) putSecret(c *call) {
	var in struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	}
	if !s.decode(c, &in) {
		return
	}
	if !tokenName.MatchString(in.Name) {
		c.fail(kName)
		return
	}
	if !s.control(c, func(ctx context.Context, ctl Control) error { return ctl.SetSecret(ctx, c.lang, in.Name, in.Value) }) {
		return
	}
	s.store.audit("secret", c.who.name, c.peer.addr, in.Name)
	c.w.WriteHeader(http.StatusNoContent)
}
