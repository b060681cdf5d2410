package door

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"homeagent/drivers/web/problem"
)

// getSession tells the page what to show: claim, login or talk. While the page
// is unclaimed because the accounts were lost, it tells that too.
func (s *server) getSession(c *call) {
	claimed, err := s.store.claimed()
	if err != nil {
		s.internal(c, err)
		return
	}
	out := map[string]any{"claimed": claimed, "logged_in": c.who.name != "", "lang": c.lang}
	if notes := s.lossNotes(c.lang); !claimed && len(notes) > 0 {
		for _, n := range notes {
			delete(n, "detail") // where the data folder lies is no stranger's business
		}
		out["notes"] = notes
	}
	if c.who.name != "" {
		out["session"], out["scope"] = c.who.name, c.who.scope
		out["agent"] = s.hub.Connected()
	}
	c.reply(out)
}

// slow answers 429 when the address must wait.
func (c *call) slow(wait time.Duration) {
	c.w.Header().Set("Retry-After", strconv.Itoa(int((wait+time.Second-1)/time.Second)))
	c.fail(kSlow)
}

// postClaim makes the first account from the setup code and logs it in.
func (s *server) postClaim(c *call) {
	var in struct{ Code, Password, Lang string }
	if !s.decode(c, &in) {
		return
	}
	if claimed, err := s.store.claimed(); err != nil {
		s.internal(c, err)
		return
	} else if claimed {
		c.fail(kClaimed)
		return
	}
	if !c.who.local {
		if wait := s.claims.take(c.peer.addr); wait > 0 {
			c.slow(wait)
			return
		}
		if !s.setup.matches(in.Code) {
			c.fail(kWrongCode)
			return
		}
		s.claims.success(c.peer.addr)
	}
	if !passwordOK(in.Password) {
		c.fail(kPassword)
		return
	}
	if in.Lang != "" && problem.Lang(in.Lang) == "" {
		c.fail(kLang)
		return
	}
	hash, err := s.hash(c.r.Context(), in.Password)
	if err != nil {
		s.internal(c, err)
		return
	}
	err = s.store.claim(account{Name: ownerName, Hash: hash, Lang: problem.Lang(in.Lang), Created: s.now().UTC()})
	switch {
	case errors.Is(err, errClaimed):
		c.fail(kClaimed)
		return
	case err != nil:
		s.internal(c, err)
		return
	}
	s.setup.remove()
	s.lost.Store(nil)
	s.store.audit("claim", c.who.name, c.peer.addr, "")
	s.log.Info("claimed", "from", c.peer.addr)
	s.logIn(c, ownerName)
}

// postLogin checks the password and sets the cookie.
func (s *server) postLogin(c *call) {
	var in struct{ Name, Password string }
	if !s.decode(c, &in) {
		return
	}
	if in.Name == "" {
		in.Name = ownerName
	}
	if len(in.Password) > maxPassword || len(in.Name) > maxPassword {
		c.fail(kWrong)
		return
	}
	if claimed, err := s.store.claimed(); err != nil {
		s.internal(c, err)
		return
	} else if !claimed {
		c.fail(kNotClaimed)
		return
	}
	if wait := s.logins.take(c.peer.addr); wait > 0 {
		c.slow(wait)
		return
	}
	a, ok, err := s.store.account(in.Name)
	if err != nil {
		s.internal(c, err)
		return
	}
	if !ok {
		// The same work as for an account that exists, so that time tells no names.
		a, _, err = s.store.account(ownerName)
		if err != nil || a.Hash == "" {
			c.fail(kWrong)
			return
		}
	}
	match, err := s.verify(c.r.Context(), a.Hash, in.Password)
	if err != nil {
		s.internal(c, err)
		return
	}
	if !match || !ok {
		s.store.audit("login_failed", "", c.peer.addr, "")
		c.fail(kWrong)
		return
	}
	s.logins.success(c.peer.addr)
	s.logIn(c, a.Name)
}

// logIn makes a session and answers with its cookie.
func (s *server) logIn(c *call, account string) {
	cookie, v, err := s.store.newSession(account, c.peer.addr)
	if err != nil {
		s.internal(c, err)
		return
	}
	s.store.audit("login", v.Name, c.peer.addr, "")
	s.setCookie(c, cookie, int(sessionTime/time.Second))
	c.reply(map[string]any{"session": v.Name, "expires": v.Expires})
}

func (s *server) setCookie(c *call, value string, maxAge int) {
	http.SetCookie(c.w, &http.Cookie{
		Name: cookieName, Value: value, Path: "/", MaxAge: maxAge,
		HttpOnly: true, Secure: c.r.TLS != nil, SameSite: http.SameSiteStrictMode,
	})
}

// postLogout ends the session, its streams and the cookie.
func (s *server) postLogout(c *call) {
	if c.who.cookie != "" {
		if err := s.store.endSession(c.who.cookie); err != nil {
			s.internal(c, err)
			return
		}
		s.store.audit("logout", c.who.name, c.peer.addr, "")
		s.live.end(c.who.name)
	}
	s.setCookie(c, "", -1)
	c.done()
}

// getAccount is the account behind a cookie; the owner's for token and socket.
func (s *server) getAccount(c *call) {
	a, ok, err := s.store.account(c.accountName())
	if err != nil {
		s.internal(c, err)
		return
	}
	if !ok {
		c.fail(kNotClaimed)
		return
	}
	c.reply(map[string]any{"name": a.Name, "lang": a.Lang, "created": a.Created})
}

func (c *call) accountName() string {
	if c.who.account != "" {
		return c.who.account
	}
	return ownerName
}

// putAccount changes language or password. By the unix socket the old password
// is not asked for: whoever is there owns the data folder anyway, and it is the
// way back in for an owner who forgot it.
func (s *server) putAccount(c *call) {
	var in struct {
		Lang     *string `json:"lang"`
		Password *string `json:"password"`
		Old      string  `json:"old"`
	}
	if !s.decode(c, &in) {
		return
	}
	if in.Lang != nil && *in.Lang != "" && problem.Lang(*in.Lang) == "" {
		c.fail(kLang)
		return
	}
	hash := ""
	if in.Password != nil {
		if !passwordOK(*in.Password) {
			c.fail(kPassword)
			return
		}
		if !c.who.local && !s.oldPassword(c, in.Old) {
			return
		}
		var err error
		if hash, err = s.hash(c.r.Context(), *in.Password); err != nil {
			s.internal(c, err)
			return
		}
	}
	ended, err := s.store.changeAccount(c.accountName(), c.who.name, func(a *account) {
		if in.Lang != nil {
			a.Lang = problem.Lang(*in.Lang)
		}
		if hash != "" {
			a.Hash = hash
		}
	})
	switch {
	case errors.Is(err, errNotFound):
		c.fail(kNotClaimed)
		return
	case err != nil:
		s.internal(c, err)
		return
	}
	if hash != "" {
		s.live.end(ended...)
		s.store.audit("password", c.who.name, c.peer.addr, "")
	}
	c.done()
}

// oldPassword checks the password of a change under the limits of a login.
func (s *server) oldPassword(c *call, old string) bool {
	if wait := s.logins.take(c.peer.addr); wait > 0 {
		c.slow(wait)
		return false
	}
	a, _, err := s.store.account(c.accountName())
	if err == nil {
		var match bool
		if match, err = s.verify(c.r.Context(), a.Hash, old); err == nil && match {
			s.logins.success(c.peer.addr)
			return true
		}
	}
	if err != nil {
		s.internal(c, err)
		return false
	}
	c.fail(kWrong)
	return false
}
