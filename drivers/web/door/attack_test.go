package door

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"
)

// Each row is one way in that must stay shut.
func TestAttacks(t *testing.T) {
	h := open(t, func(o *Options) { o.Control = &fakeControl{} })
	ck := h.claim()
	body := `{"daemon":{"log_level":"debug"}}`
	for _, row := range []struct {
		name, method, path, body string
		ws                       []with
		status                   int
		code                     string
	}{
		{"no login", "GET", "/api/v1/config", "", nil, 401, "not_logged_in"},
		{"no login, status", "GET", "/api/v1/status", "", nil, 401, "not_logged_in"},
		{"no login, agent", "GET", "/api/v1/events", "", nil, 401, "not_logged_in"},
		{"no login, change", "PUT", "/api/v1/config", body, nil, 401, "not_logged_in"},
		{"forged cookie", "GET", "/api/v1/config", "", []with{cookie(newSecret())}, 401, "not_logged_in"},
		{"empty cookie", "GET", "/api/v1/config", "", []with{cookie("")}, 401, "not_logged_in"},
		{"cookie of the public session name", "GET", "/api/v1/config", "", []with{cookie("4f2a9c01")}, 401, "not_logged_in"},
		{"wrong token", "GET", "/api/v1/config", "", []with{bearer(tokenPrefix + newSecret())}, 401, "bad_token"},
		{"wrong token beside a good cookie", "GET", "/api/v1/config", "", []with{bearer("x"), cookie(ck)}, 401, "bad_token"},
		{"basic login", "GET", "/api/v1/config", "", []with{header("Authorization", "Basic b3duZXI6cA==")}, 401, "bad_token"},
		{"session cookie as token", "GET", "/api/v1/config", "", []with{bearer(ck)}, 401, "bad_token"},
		{"foreign host", "GET", "/api/v1/status", "", []with{header("Host", "evil.example"), cookie(ck)}, 421, "foreign_host"},
		{"foreign host, page", "GET", "/", "", []with{header("Host", "evil.example")}, 421, "foreign_host"},
		{"rebound name with our port", "GET", "/", "", []with{header("Host", "evil.example:8080")}, 421, "foreign_host"},
		{"foreign address", "GET", "/", "", []with{header("Host", "203.0.113.9")}, 421, "foreign_host"},
		{"name that begins like ours", "GET", "/", "", []with{header("Host", "localhost.evil.example")}, 421, "foreign_host"},
		{"foreign origin", "PUT", "/api/v1/config", body, []with{header("Origin", "http://evil.example"), cookie(ck), csrf}, 403, "foreign_origin"},
		{"foreign origin without login", "PUT", "/api/v1/config", body, []with{header("Origin", "http://evil.example")}, 403, "foreign_origin"},
		{"foreign origin at login", "POST", "/api/v1/login", `{"password":"` + password + `"}`, []with{header("Origin", "http://evil.example"), csrf}, 403, "foreign_origin"},
		{"origin null", "PUT", "/api/v1/config", body, []with{header("Origin", "null"), cookie(ck), csrf}, 403, "foreign_origin"},
		{"another port of ours", "PUT", "/api/v1/config", body, []with{header("Origin", "http://127.0.0.1:1"), cookie(ck), csrf}, 403, "foreign_origin"},
		{"cross-site fetch", "PUT", "/api/v1/config", body, []with{header("Sec-Fetch-Site", "cross-site"), cookie(ck), csrf}, 403, "foreign_origin"},
		{"same-site fetch", "PUT", "/api/v1/config", body, []with{header("Sec-Fetch-Site", "same-site"), cookie(ck), csrf}, 403, "foreign_origin"},
		{"cross-site reading", "GET", "/api/v1/config", "", []with{header("Sec-Fetch-Site", "cross-site"), cookie(ck)}, 403, "foreign_origin"},
		{"foreign origin with a token", "PUT", "/api/v1/config", body, []with{header("Origin", "http://evil.example"), cookie(ck), csrf}, 403, "foreign_origin"},
		{"no CSRF header", "PUT", "/api/v1/config", body, []with{cookie(ck)}, 403, "no_csrf_header"},
		{"no CSRF header, logout", "POST", "/api/v1/logout", `{}`, []with{cookie(ck)}, 403, "no_csrf_header"},
		{"no CSRF header, login", "POST", "/api/v1/login", `{}`, nil, 403, "no_csrf_header"},
		{"form", "PUT", "/api/v1/config", "a=b", []with{cookie(ck), csrf, header("Content-Type", "text/plain")}, 415, "not_json"},
		{"path that climbs", "GET", "/api/v1/chat/..%2f..%2fconfig", "", []with{cookie(ck)}, 404, "not_found"},
		{"path that climbs, plain", "GET", "/api/v1/memory/../config", "", []with{cookie(ck)}, 404, "not_found"},
		{"backslash", "GET", "/api/v1/memory/..%5c..%5cx", "", []with{cookie(ck)}, 404, "not_found"},
		{"NUL", "GET", "/api/v1/memory/%00", "", []with{cookie(ck)}, 404, "not_found"},
		{"upper case name", "GET", "/api/v1/Config", "", []with{cookie(ck)}, 404, "not_found"},
		{"file outside the page", "GET", "/../../etc/passwd", "", nil, 404, "no_page"},
		{"file outside the page, encoded", "GET", "/..%2f..%2fetc%2fpasswd", "", nil, 404, "no_page"},
		{"source of the page", "GET", "/page/index.html", "", nil, 404, "no_page"},
		{"the link by TCP", "GET", "/link", "", []with{header("Upgrade", "homeagent-link/1"), header("X-Homeagent-Link-Secret", testSecret)}, 404, "no_page"},
		{"post to the page", "POST", "/", `{}`, nil, 405, "method"},
		{"method", "DELETE", "/api/v1/config", "", []with{cookie(ck), csrf}, 405, "method"},
		{"big body", "PUT", "/api/v1/config", `{"a":"` + strings.Repeat("a", 2<<20) + `"}`, []with{cookie(ck), csrf}, 413, "too_big"},
		{"big body to the agent", "POST", "/api/v1/chat", `{"a":"` + strings.Repeat("a", 2<<20) + `"}`, []with{cookie(ck), csrf}, 413, "too_big"},
		{"not an object", "PUT", "/api/v1/config", `[1]`, []with{cookie(ck), csrf}, 400, "bad_body"},
		{"broken object", "PUT", "/api/v1/config", `{"a":`, []with{cookie(ck), csrf}, 400, "bad_body"},
		{"empty body", "PUT", "/api/v1/config", ` `, []with{cookie(ck), csrf}, 400, "bad_body"},
		{"unknown field", "POST", "/api/v1/tokens", `{"name":"a","admin":true}`, []with{cookie(ck), csrf}, 400, "bad_body"},
		{"two objects", "POST", "/api/v1/tokens", `{"name":"a"}{"name":"b"}`, []with{cookie(ck), csrf}, 400, "bad_body"},
		{"token name that is a path", "POST", "/api/v1/tokens", `{"name":"../a"}`, []with{cookie(ck), csrf}, 422, "bad_name"},
		{"secret name that is a path", "PUT", "/api/v1/secrets", `{"name":"../a","value":"x"}`, []with{cookie(ck), csrf}, 422, "bad_name"},
	} {
		t.Run(row.name, func(t *testing.T) {
			a := h.call(row.method, row.path, row.body, row.ws...)
			if a.status != row.status || a.code() != row.code {
				t.Errorf("got %d %q, want %d %q: %.200s", a.status, a.code(), row.status, row.code, a.body)
			}
			if a.cookie() != "" {
				t.Error("a refusal sets a session")
			}
			if a.header.Get("Access-Control-Allow-Origin") != "" {
				t.Error("another origin may read this")
			}
		})
	}
	// And the ways that must stay open.
	for _, row := range []struct {
		name string
		ws   []with
	}{
		{"program without Origin", []with{cookie(ck), csrf}},
		{"the page itself", []with{cookie(ck), csrf, header("Origin", "http://"+h.addr), header("Sec-Fetch-Site", "same-origin")}},
		{"our name", []with{cookie(ck), csrf, header("Host", "homeagent.local"), header("Origin", "http://homeagent.local")}},
	} {
		t.Run(row.name, func(t *testing.T) {
			if a := h.call("PUT", "/api/v1/config", body, row.ws...); a.status != 200 {
				t.Errorf("got %d: %s", a.status, a.body)
			}
		})
	}
}

func TestHeaders(t *testing.T) {
	h := open(t, nil)
	page, api := h.call("GET", "/", ""), h.call("GET", "/api/v1/session", "")
	for name, a := range map[string]answer{"page": page, "api": api} {
		csp := a.header.Get("Content-Security-Policy")
		for _, want := range []string{"default-src 'none'", "frame-ancestors 'none'"} {
			if !strings.Contains(csp, want) {
				t.Errorf("%s: policy %q lacks %s", name, csp, want)
			}
		}
		if strings.Contains(csp, "unsafe") || strings.Contains(csp, "http") || strings.Contains(csp, "*") {
			t.Errorf("%s: policy %q is wide", name, csp)
		}
		if a.header.Get("X-Content-Type-Options") != "nosniff" || a.header.Get("X-Frame-Options") != "DENY" {
			t.Errorf("%s: %v", name, a.header)
		}
	}
	if api.header.Get("Cache-Control") != "no-store" {
		t.Error("the API may be cached")
	}
	etag := page.header.Get("ETag")
	if a := h.call("GET", "/", "", header("If-None-Match", etag)); a.status != 304 || len(a.body) != 0 {
		t.Errorf("unchanged: %d", a.status)
	}
	if a := h.call("HEAD", "/app.css", ""); a.status != 200 || len(a.body) != 0 || a.header.Get("Content-Type") != "text/css; charset=utf-8" {
		t.Errorf("HEAD: %d %v", a.status, a.header)
	}
}

func TestLanguages(t *testing.T) {
	h := open(t, nil)
	ck := h.claim()
	title := func(path string, ws ...with) string { return string(h.call("GET", path, "", ws...).body) }
	if got := title("/api/v1/nothing", header("Accept-Language", "en-GB,en;q=0.9")); !strings.Contains(got, "Please log in") {
		t.Errorf("by header: %s", got)
	}
	if got := title("/api/v1/nothing"); !strings.Contains(got, "请先登录") {
		t.Errorf("by default: %s", got)
	}
	if got := title("/api/v1/nothing?lang=zh", header("Accept-Language", "en")); !strings.Contains(got, "请先登录") {
		t.Errorf("by query: %s", got)
	}
	if a := h.call("PUT", "/api/v1/account", `{"lang":"en"}`, cookie(ck), csrf); a.status != 204 {
		t.Fatalf("set: %d %s", a.status, a.body)
	}
	if got := title("/api/v1/tokens/x/y", header("Accept-Language", "zh"), cookie(ck)); !strings.Contains(got, "no such interface") {
		t.Errorf("by account: %s", got)
	}
	if a := h.call("PUT", "/api/v1/account", `{"lang":"xx"}`, cookie(ck), csrf); a.status != 422 {
		t.Errorf("unknown language: %d", a.status)
	}
}

// dial opens a bare connection to the door.
func (h *house) dial() net.Conn {
	h.t.Helper()
	c, err := net.Dial("tcp", h.addr)
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { c.Close() })
	_ = c.SetDeadline(time.Now().Add(patience))
	return c
}

func TestSlowPeersAreDropped(t *testing.T) {
	h := open(t, func(o *Options) {
		o.Limits.HeaderTime, o.Limits.BodyPause = 100*time.Millisecond, 100*time.Millisecond
	})
	ck := h.claim()
	for _, row := range []struct{ name, sent, want string }{
		{"header that never ends", "GET / HTTP/1.1\r\nHost: localhost\r\nX-A: ", ""},
		{"nothing at all", "", ""},
		{"body that never comes", "POST /api/v1/login HTTP/1.1\r\nHost: localhost\r\nX-Homeagent: 1\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{", "408"},
		{"body that nobody reads", "POST /api/v1/config HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{", "401"},
		{"body of the agent", "POST /api/v1/chat HTTP/1.1\r\nHost: localhost\r\nX-Homeagent: 1\r\nCookie: " + cookieName + "=" + ck + "\r\nContent-Length: 100\r\n\r\n{", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			if row.name == "body of the agent" {
				h.agent(func(w http.ResponseWriter, r *http.Request) { io.Copy(io.Discard, r.Body) })
			}
			c := h.dial()
			io.WriteString(c, row.sent)
			got, err := io.ReadAll(c) // the door must end the connection
			if err != nil && !strings.Contains(err.Error(), "reset") {
				t.Fatalf("the connection stays open: %v", err)
			}
			if row.want != "" && !strings.Contains(string(got), " "+row.want+" ") {
				t.Errorf("got %.80q", got)
			}
		})
	}
}

func TestHeaderIsBounded(t *testing.T) {
	h := open(t, nil)
	c := h.dial()
	go func() { // the door answers before all of it is sent
		fmt.Fprintf(c, "GET / HTTP/1.1\r\nHost: localhost\r\n")
		for range 10000 {
			if _, err := io.WriteString(c, "X-Filler: "+strings.Repeat("a", 100)+"\r\n"); err != nil {
				return
			}
		}
	}()
	line, _ := bufio.NewReader(c).ReadString('\n')
	if line != "" && !strings.Contains(line, "431") {
		t.Errorf("got %q", line)
	}
}

func TestConnectionsAreBounded(t *testing.T) {
	h := open(t, func(o *Options) { o.Limits.ConnsPerPeer = 4 })
	var held []net.Conn
	for range 4 {
		c := h.dial()
		fmt.Fprintf(c, "GET /api/v1/session HTTP/1.1\r\nHost: localhost\r\n\r\n")
		if line, err := bufio.NewReader(c).ReadString('\n'); err != nil || !strings.Contains(line, "200") {
			t.Fatalf("%q %v", line, err)
		}
		held = append(held, c)
	}
	if b, err := io.ReadAll(h.dial()); len(b) != 0 {
		t.Fatalf("one too many was served: %q %v", b, err)
	}
	held[0].Close()
	h.until("a place that has become free", func() bool {
		c := h.dial()
		defer c.Close()
		fmt.Fprintf(c, "GET /api/v1/session HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
		b, _ := io.ReadAll(c)
		return bytes.Contains(b, []byte("200 OK"))
	})
}

func TestSocket(t *testing.T) {
	h := open(t, nil)
	fi, err := os.Stat(h.dir + "/" + SocketName)
	if err != nil || fi.Mode().Perm() != 0o600 {
		t.Fatalf("socket %v %v", fi.Mode(), err)
	}
	// Before the claim the owner of the box is let in, and needs no header.
	if a := h.local("GET", "/api/v1/tokens", ""); a.status != 200 {
		t.Errorf("tokens: %d %s", a.status, a.body)
	}
	if a := h.local("GET", "/api/v1/session", ""); !bytes.Contains(a.body, []byte(fmt.Sprintf(`"session":"local:%d"`, os.Geteuid()))) {
		t.Errorf("session: %s", a.body)
	}
	if a := h.local("POST", "/api/v1/claim", `{"password":"by the owner"}`); a.status != 200 {
		t.Errorf("claim without code by the owner of the box: %d %s", a.status, a.body)
	}
}
