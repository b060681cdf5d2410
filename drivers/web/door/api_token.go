package door

import (
	"errors"
	"net/http"
	"strings"
)

// getTokens lists the tokens without what they are.
func (s *server) getTokens(c *call) {
	ts, err := s.store.tokens()
	if err != nil {
		s.internal(c, err)
		return
	}
	c.reply(map[string]any{"tokens": ts})
}

// postToken makes a token; the answer is the only time it is shown.
func (s *server) postToken(c *call) {
	var in struct {
		Name  string `json:"name"`
		Scope scope  `json:"scope"`
	}
	if !s.decode(c, &in) {
		return
	}
	if in.Scope == "" {
		in.Scope = scopeAll
	}
	if !tokenName.MatchString(in.Name) {
		c.fail(kName)
		return
	}
	if in.Scope != scopeAll && in.Scope != scopeChat && in.Scope != scopeRead {
		c.fail(kScopeBad)
		return
	}
	secret, err := s.store.newToken(in.Name, in.Scope)
	switch {
	case errors.Is(err, errTaken):
		c.fail(kTaken)
		return
	case errors.Is(err, errFull):
		c.fail(kFull)
		return
	case err != nil:
		s.internal(c, err)
		return
	}
	s.store.audit("token_new", c.who.name, c.peer.addr, in.Name)
	c.w.Header().Set("Content-Type", "application/json")
	c.w.WriteHeader(http.StatusCreated)
	c.reply(map[string]any{"name": in.Name, "scope": in.Scope, "token": secret})
}

// deleteToken ends a token and the streams it has open.
func (s *server) deleteToken(c *call) {
	name := strings.TrimPrefix(c.r.URL.Path, apiPrefix+"tokens/")
	err := s.store.deleteToken(name)
	switch {
	case errors.Is(err, errNotFound):
		c.fail(kNoToken)
		return
	case err != nil:
		s.internal(c, err)
		return
	}
	s.live.end("token:" + name)
	s.store.audit("token_gone", c.who.name, c.peer.addr, name)
	c.done()
}

// getAudit is the newest part of the audit trail.
func (s *server) getAudit(c *call) {
	es, err := s.store.trail(200)
	if err != nil {
		s.internal(c, err)
		return
	}
	c.reply(map[string]any{"entries": es})
}
