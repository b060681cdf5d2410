package door

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"path"
	"regexp"
	"strconv"
	"strings"
	"syscall"
)

func itoa(n int) string { return strconv.Itoa(n) }

// handler answers one call of the door's own part of the API.
type handler func(s *server, c *call)

// routes are the door's own paths; everything else below /api/v1 is the agent's.
// A path that ends in "/" takes one more element.
var routes = map[string]map[string]handler{
	"session": {"GET": (*server).getSession},
	"claim":   {"POST": (*server).postClaim},
	"login":   {"POST": (*server).postLogin},
	"logout":  {"POST": (*server).postLogout},
	"account": {"GET": (*server).getAccount, "PUT": (*server).putAccount},
	"tokens":  {"GET": (*server).getTokens, "POST": (*server).postToken},
	"tokens/": {"DELETE": (*server).deleteToken},
	"audit":   {"GET": (*server).getAudit},
	"status":  {"GET": (*server).getStatus},
	"config":  {"GET": (*server).getConfig, "PUT": (*server).putConfig},
	"secrets": {"PUT": (*server).putSecret},
}

// isOpen tells the paths that nobody needs a login for.
func isOpen(p string) bool {
	switch strings.TrimPrefix(p, apiPrefix) {
	case "session", "claim", "login", "logout":
		return true
	}
	return false
}

var endpointName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,31}$`)

// serveAPI sends a call to the door's own handler or to the agent.
func (s *server) serveAPI(c *call) {
	rest := strings.TrimPrefix(c.r.URL.Path, apiPrefix)
	name, sub, more := strings.Cut(rest, "/")
	if !isOpen(c.r.URL.Path) && c.who.name == "" {
		claimed, err := s.store.claimed()
		switch {
		case err != nil:
			s.internal(c, err)
		case !claimed:
			c.fail(kNotClaimed)
		default:
			c.fail(kNotLoggedIn)
		}
		return
	}
	if c.who.name != "" && !c.who.scope.allowed(c.r.Method, name) {
		c.fail(kScope)
		return
	}
	if !endpointName.MatchString(name) || !cleanPath(rest) {
		c.fail(kNotFound)
		return
	}
	key := rest
	if _, own := routes[name]; own && more && sub != "" && !strings.Contains(sub, "/") {
		if _, ok := routes[name+"/"]; ok {
			key = name + "/"
		}
	}
	if methods, ok := routes[key]; ok {
		method := c.r.Method
		if method == http.MethodHead {
			method = http.MethodGet
		}
		h, ok := methods[method]
		if !ok {
			var names []string
			for m := range methods {
				names = append(names, m)
			}
			c.w.Header().Set("Allow", strings.Join(names, ", "))
			c.fail(kMethod)
			return
		}
		h(s, c)
		return
	}
	if _, own := routes[name]; own {
		c.fail(kNotFound)
		return
	}
	s.toAgent(c, name)
}

// cleanPath refuses what only an attack writes: dots that climb, backslashes,
// control characters, double slashes.
func cleanPath(p string) bool {
	if strings.ContainsFunc(p, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\\' || r == 0xfffd }) {
		return false
	}
	return path.Clean("/"+p) == "/"+strings.TrimSuffix(p, "/")
}

// decode reads a JSON object into v; it has answered when it returns false.
func (s *server) decode(c *call, v any) bool {
	data, ok := s.readJSON(c)
	if !ok {
		return false
	}
	d := json.NewDecoder(strings.NewReader(string(data)))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		c.failDetail(kBody, err.Error())
		return false
	}
	if _, err := d.Token(); err != io.EOF {
		c.fail(kBody)
		return false
	}
	return true
}

// readJSON reads a bounded body of type application/json.
func (s *server) readJSON(c *call) ([]byte, bool) {
	if mt, _, err := mime.ParseMediaType(c.r.Header.Get("Content-Type")); err != nil || mt != "application/json" {
		c.fail(kType)
		return nil, false
	}
	data, err := io.ReadAll(http.MaxBytesReader(c.w, c.r.Body, s.opt.Limits.Body))
	var big *http.MaxBytesError
	switch {
	case errors.As(err, &big):
		c.fail(kTooBig)
	case isTimeout(err):
		c.w.Header().Set("Connection", "close")
		c.fail(kSlowBody)
	case err != nil:
		c.fail(kBody)
	default:
		return data, true
	}
	return nil, false
}

// reply answers with JSON.
func (c *call) reply(v any) {
	c.w.Header().Set("Content-Type", "application/json")
	enc := json.NewEncoder(c.w)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // the peer may be gone
}

// done answers without content.
func (c *call) done() { c.w.WriteHeader(http.StatusNoContent) }

func isDisk(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EROFS) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EIO)
}
