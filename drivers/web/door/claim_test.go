package door

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestUnclaimedServesTheClaimOnly(t *testing.T) {
	h := open(t, nil)
	for _, row := range []struct {
		name, method, path, body string
		ws                       []with
		status                   int
		code                     string
	}{
		{"page", "GET", "/", "", nil, 200, ""},
		{"style sheet", "GET", "/app.css", "", nil, 200, ""},
		{"session", "GET", "/api/v1/session", "", nil, 200, ""},
		{"config", "GET", "/api/v1/config", "", nil, 403, "not_claimed"},
		{"status", "GET", "/api/v1/status", "", nil, 403, "not_claimed"},
		{"tokens", "POST", "/api/v1/tokens", `{"name":"a"}`, []with{csrf}, 403, "not_claimed"},
		{"chat", "POST", "/api/v1/chat", `{"text":"hi"}`, []with{csrf}, 403, "not_claimed"},
		{"login", "POST", "/api/v1/login", `{"password":"longenough"}`, []with{csrf}, 403, "not_claimed"},
		{"claim without header", "POST", "/api/v1/claim", `{}`, nil, 403, "no_csrf_header"},
		{"claim from elsewhere", "POST", "/api/v1/claim", `{}`, []with{csrf, header("Origin", "http://evil.example")}, 403, "foreign_origin"},
		{"claim with wrong code", "POST", "/api/v1/claim", `{"code":"AAAA-AAAA","password":"longenough"}`, []with{csrf}, 403, "wrong_code"},
		{"claim without code", "POST", "/api/v1/claim", `{"password":"longenough"}`, []with{csrf}, 403, "wrong_code"},
		{"claim as form", "POST", "/api/v1/claim", `code=x`, []with{csrf, header("Content-Type", "application/x-www-form-urlencoded")}, 415, "not_json"},
		{"claim with short password", "POST", "/api/v1/claim", `{"code":"` + h.code + `","password":"short"}`, []with{csrf}, 422, "weak_password"},
	} {
		t.Run(row.name, func(t *testing.T) {
			a := h.call(row.method, row.path, row.body, row.ws...)
			if a.status != row.status || a.code() != row.code {
				t.Errorf("got %d %q, want %d %q: %s", a.status, a.code(), row.status, row.code, a.body)
			}
		})
	}
	if len(h.urls) == 0 || !strings.HasPrefix(h.urls[0], "http://localhost:") {
		t.Errorf("announced %q", h.urls)
	}
}

func TestSetupCode(t *testing.T) {
	dir := tempDir(t)
	file := filepath.Join(dir, setupFile)
	h := openIn(t, dir, nil)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.TrimSpace(string(text)); got != h.code || len(normalCode(got)) != setupLen {
		t.Errorf("file holds %q, announced %q", got, h.code)
	}
	if fi, _ := os.Stat(file); fi.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", fi.Mode())
	}
	first := h.code
	h.stop()
	os.Remove(file)
	h = openIn(t, dir, nil)
	if h.code != first {
		t.Errorf("a restart made a new code %q of %q", h.code, first)
	}
	h.code = strings.ToLower(strings.ReplaceAll(h.code, "-", " "))
	h.claim()
	if _, err := os.Stat(file); !os.IsNotExist(err) {
		t.Errorf("the file is still there: %v", err)
	}
	if a := h.call("POST", "/api/v1/claim", `{"code":"`+first+`","password":"another one"}`, csrf); a.status != 409 {
		t.Errorf("second claim: %d", a.status)
	}
	h.stop()
	if h = openIn(t, dir, nil); h.code != "" {
		t.Errorf("code %q after the claim", h.code)
	}
}

func TestClaimRace(t *testing.T) {
	h := open(t, nil)
	const visitors = 8
	codes := make(chan int, visitors)
	var wg sync.WaitGroup
	for i := range visitors {
		wg.Go(func() {
			a := h.call("POST", "/api/v1/claim", fmt.Sprintf(`{"code":%q,"password":"visitor %d pass"}`, h.code, i), csrf)
			codes <- a.status
		})
	}
	wg.Wait()
	close(codes)
	won := 0
	for c := range codes {
		switch c {
		case 200:
			won++
		case 403, 409, 429: // the code is gone, the account is there, too many at once
		default:
			t.Errorf("status %d", c)
		}
	}
	if won != 1 {
		t.Errorf("%d visitors claimed the house", won)
	}
}

func TestClaimGuessingIsSlowedDown(t *testing.T) {
	h := open(t, nil)
	guess := func() answer {
		return h.call("POST", "/api/v1/claim", `{"code":"ZZZZ-ZZZZ","password":"longenough"}`, csrf)
	}
	for i := range loginPolicy.free {
		if a := guess(); a.status != 403 {
			t.Fatalf("guess %d: %d", i, a.status)
		}
	}
	a := guess()
	if a.status != 429 || a.header.Get("Retry-After") != "1" {
		t.Fatalf("got %d, Retry-After %q", a.status, a.header.Get("Retry-After"))
	}
	// The right code does not get through either before its time.
	if a := h.call("POST", "/api/v1/claim", `{"code":"`+h.code+`","password":"longenough"}`, csrf); a.status != 429 {
		t.Fatalf("right code: %d", a.status)
	}
	h.clock.add(2 * time.Second)
	h.claim()
}

func TestLogin(t *testing.T) {
	h := open(t, nil)
	h.claim()
	login := func(pw string) answer {
		j, _ := json.Marshal(map[string]string{"password": pw})
		return h.call("POST", "/api/v1/login", string(j), csrf)
	}
	a := login(password)
	if a.status != 200 || a.cookie() == "" {
		t.Fatalf("login: %d %s", a.status, a.body)
	}
	set := a.header.Get("Set-Cookie")
	for _, want := range []string{"HttpOnly", "SameSite=Strict", "Path=/"} {
		if !strings.Contains(set, want) {
			t.Errorf("cookie %q lacks %s", set, want)
		}
	}
	if strings.Contains(set, "Secure") {
		t.Error("Secure on http would lose the cookie")
	}
	ck := a.cookie()
	if a := h.call("GET", "/api/v1/tokens", "", cookie(ck)); a.status != 200 {
		t.Errorf("with cookie: %d", a.status)
	}
	if db, _ := os.ReadFile(filepath.Join(h.dir, "door.db")); strings.Contains(string(db), ck) || strings.Contains(string(db), password) {
		t.Error("door.db holds the cookie or the password")
	}
	if a := h.call("POST", "/api/v1/logout", `{}`, cookie(ck), csrf); a.status != 204 || !strings.Contains(a.header.Get("Set-Cookie"), "Max-Age=0") {
		t.Errorf("logout: %d %q", a.status, a.header.Get("Set-Cookie"))
	}
	if a := h.call("GET", "/api/v1/tokens", "", cookie(ck)); a.status != 401 {
		t.Errorf("after logout: %d", a.status)
	}
	if a := login("wrong password"); a.status != 401 || a.code() != "wrong_password" {
		t.Errorf("wrong password: %d %s", a.status, a.code())
	}
	if a := h.call("POST", "/api/v1/login", `{"name":"nobody","password":"`+password+`"}`, csrf); a.status != 401 || a.code() != "wrong_password" {
		t.Errorf("unknown name: %d %s", a.status, a.code())
	}
}

func TestSessionExpires(t *testing.T) {
	h := open(t, nil)
	ck := h.claim()
	h.clock.add(sessionTime - time.Minute)
	if a := h.call("GET", "/api/v1/tokens", "", cookie(ck)); a.status != 200 {
		t.Fatalf("just before: %d", a.status)
	}
	h.clock.add(2 * time.Minute)
	if a := h.call("GET", "/api/v1/tokens", "", cookie(ck)); a.status != 401 {
		t.Fatalf("after: %d", a.status)
	}
}

func TestLoginGuessingIsSlowedDown(t *testing.T) {
	h := open(t, nil)
	h.claim()
	for i := range loginPolicy.free {
		if a := h.call("POST", "/api/v1/login", `{"password":"guess one"}`, csrf); a.status != 401 {
			t.Fatalf("guess %d: %d", i, a.status)
		}
	}
	if a := h.call("POST", "/api/v1/login", `{"password":"`+password+`"}`, csrf); a.status != 429 || a.code() != "too_many_attempts" {
		t.Fatalf("got %d %s", a.status, a.code())
	}
	h.clock.add(time.Second)
	if a := h.call("POST", "/api/v1/login", `{"password":"`+password+`"}`, csrf); a.status != 200 {
		t.Fatalf("after the wait: %d", a.status)
	}
}

func TestPasswordChange(t *testing.T) {
	h := open(t, nil)
	one := h.claim()
	two := h.call("POST", "/api/v1/login", `{"password":"`+password+`"}`, csrf).cookie()
	if a := h.call("PUT", "/api/v1/account", `{"password":"a new one","old":"not it"}`, cookie(one), csrf); a.status != 401 {
		t.Errorf("wrong old password: %d", a.status)
	}
	if a := h.call("PUT", "/api/v1/account", `{"password":"a new one","old":"`+password+`"}`, cookie(one), csrf); a.status != 204 {
		t.Fatalf("change: %d %s", a.status, a.body)
	}
	if a := h.call("GET", "/api/v1/tokens", "", cookie(one)); a.status != 200 {
		t.Errorf("own session: %d", a.status)
	}
	if a := h.call("GET", "/api/v1/tokens", "", cookie(two)); a.status != 401 {
		t.Errorf("other session: %d", a.status)
	}
	if a := h.local("PUT", "/api/v1/account", `{"password":"from the box"}`); a.status != 204 {
		t.Errorf("by the socket: %d %s", a.status, a.body)
	}
	if a := h.call("POST", "/api/v1/login", `{"password":"from the box"}`, csrf); a.status != 200 {
		t.Errorf("login: %d", a.status)
	}
}
