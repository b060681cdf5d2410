package door

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"homeagent/drivers/web/problem"
)

// fakeControl is a supervisor in a test.
type fakeControl struct {
	mu      sync.Mutex
	changes []string
	secrets map[string]string
	err     error
}

func (f *fakeControl) Status(context.Context, string) (json.RawMessage, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return json.RawMessage(`{"version":"s"}`), f.err
}

func (f *fakeControl) Config(context.Context, string) (json.RawMessage, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return json.RawMessage(`{"daemon":{}}`), f.err
}

func (f *fakeControl) SetConfig(_ context.Context, _ string, c json.RawMessage) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.changes = append(f.changes, string(c))
	return f.err
}

func (f *fakeControl) SetSecret(_ context.Context, _, name, value string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.secrets = map[string]string{name: value}
	return f.err
}

func TestTokens(t *testing.T) {
	h := open(t, nil)
	ck := h.claim()
	make := func(body string) (int, string) {
		a := h.call("POST", "/api/v1/tokens", body, cookie(ck), csrf)
		var out struct{ Token string }
		_ = json.Unmarshal(a.body, &out)
		return a.status, out.Token
	}
	tokens := map[scope]string{}
	for _, sc := range []scope{scopeAll, scopeChat, scopeRead} {
		st, tok := make(`{"name":"t-` + string(sc) + `","scope":"` + string(sc) + `"}`)
		if st != 201 || !strings.HasPrefix(tok, tokenPrefix) {
			t.Fatalf("%s: %d", sc, st)
		}
		tokens[sc] = tok
	}
	if st, _ := make(`{"name":"t-all"}`); st != 409 {
		t.Errorf("taken name: %d", st)
	}
	if st, _ := make(`{"name":"x","scope":"root"}`); st != 422 {
		t.Errorf("unknown scope: %d", st)
	}
	if db, _ := os.ReadFile(filepath.Join(h.dir, "door.db")); strings.Contains(string(db), tokens[scopeAll]) {
		t.Error("door.db holds a token")
	}
	h.agent(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, `{}`) })
	for _, row := range []struct {
		method, path      string
		all, chat, reader int
	}{
		{"GET", "/api/v1/tokens", 200, 403, 403},
		{"GET", "/api/v1/audit", 200, 403, 403},
		{"POST", "/api/v1/tokens", 409, 403, 403}, // 409: the name is taken
		{"GET", "/api/v1/status", 200, 200, 200},
		{"GET", "/api/v1/events", 200, 200, 200},
		{"POST", "/api/v1/chat", 200, 200, 403},
		{"POST", "/api/v1/hear", 200, 200, 403},
		{"GET", "/api/v1/memory", 200, 403, 200},
		{"POST", "/api/v1/memory", 200, 403, 403},
	} {
		for sc, want := range map[scope]int{scopeAll: row.all, scopeChat: row.chat, scopeRead: row.reader} {
			body := ""
			if row.method == "POST" {
				body = `{"name":"t-all"}`
			}
			if a := h.call(row.method, row.path, body, bearer(tokens[sc])); a.status != want {
				t.Errorf("%s %s with %s: %d, want %d", row.method, row.path, sc, a.status, want)
			}
		}
	}
	if a := h.call("GET", "/api/v1/tokens", "", bearer(tokens[scopeAll])); strings.Contains(string(a.body), tokenPrefix) || !strings.Contains(string(a.body), "t-chat") {
		t.Errorf("list: %s", a.body)
	}
	if a := h.call("DELETE", "/api/v1/tokens/t-chat", "", cookie(ck), csrf); a.status != 204 {
		t.Errorf("delete: %d", a.status)
	}
	if a := h.call("DELETE", "/api/v1/tokens/t-chat", "", cookie(ck), csrf); a.status != 404 {
		t.Errorf("delete again: %d", a.status)
	}
	if a := h.call("GET", "/api/v1/status", "", bearer(tokens[scopeChat])); a.status != 401 {
		t.Errorf("deleted token: %d", a.status)
	}
	if a := h.call("GET", "/api/v1/audit", "", cookie(ck)); !strings.Contains(string(a.body), `"what":"token_gone"`) || !strings.Contains(string(a.body), `"what":"claim"`) {
		t.Errorf("audit: %s", a.body)
	}
}

func TestTokensAreBounded(t *testing.T) {
	h := open(t, nil)
	for i := range maxTokens {
		if a := h.local("POST", "/api/v1/tokens", `{"name":"t`+itoa(i)+`"}`); a.status != 201 {
			t.Fatalf("token %d: %d", i, a.status)
		}
	}
	if a := h.local("POST", "/api/v1/tokens", `{"name":"more"}`); a.status != 409 || a.code() != "no_room" {
		t.Errorf("one more: %d %s", a.status, a.code())
	}
}

func TestControl(t *testing.T) {
	ctl := &fakeControl{}
	h := open(t, func(o *Options) { o.Control = ctl })
	if a := h.local("GET", "/api/v1/config", ""); a.status != 200 || strings.TrimSpace(string(a.body)) != `{"daemon":{}}` {
		t.Errorf("get: %d %s", a.status, a.body)
	}
	if a := h.local("PUT", "/api/v1/config", `{"agent":{"max_tool_rounds":5}}`); a.status != 200 || len(ctl.changes) != 1 {
		t.Errorf("put: %d %v", a.status, ctl.changes)
	}
	if a := h.local("PUT", "/api/v1/secrets", `{"name":"deepseek","value":"sk-1"}`); a.status != 204 || ctl.secrets["deepseek"] != "sk-1" {
		t.Errorf("secret: %d %v", a.status, ctl.secrets)
	}
	for _, row := range []struct {
		name   string
		err    error
		status int
		code   string
	}{
		{"in its own words", &Fault{Status: 422, Code: "bad_key", Words: problem.Words{ZH: "不认识", EN: "unknown key"}}, 422, "bad_key"},
		{"any error", errors.New("at /data/config.yaml"), 502, "supervisor_failed"},
		{"no answer", context.DeadlineExceeded, 503, "supervisor_down"},
	} {
		t.Run(row.name, func(t *testing.T) {
			ctl.mu.Lock()
			ctl.err = row.err
			ctl.mu.Unlock()
			a := h.local("PUT", "/api/v1/config", `{}`)
			if a.status != row.status || a.code() != row.code || strings.Contains(string(a.body), "config.yaml") {
				t.Errorf("got %d %s", a.status, a.body)
			}
			if s := h.local("GET", "/api/v1/status", ""); s.status != 200 || !strings.Contains(string(s.body), row.code) {
				t.Errorf("status: %d %s", s.status, s.body)
			}
		})
	}
	none := open(t, nil)
	if a := none.local("GET", "/api/v1/config", ""); a.status != 503 || a.code() != "supervisor_down" {
		t.Errorf("no supervisor: %d", a.status)
	}
}

func TestProxyCarriesWhoAndNothingElse(t *testing.T) {
	h := open(t, nil)
	ck := h.claim()
	got := make(chan http.Header, 1)
	h.agent(func(w http.ResponseWriter, r *http.Request) {
		got <- r.Header
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Set-Cookie", "homeagent_session=stolen")
		w.Header().Set("Access-Control-Allow-Origin", "*")
		w.Header().Set("Content-Security-Policy", "default-src *")
		io.WriteString(w, "<script>")
	})
	a := h.call("GET", "/api/v1/memory/x?lang=en", "", cookie(ck),
		header("X-Homeagent-Session", "local:0"), header("X-Homeagent-Peer", "forged"), header("X-Homeagent-Lang", "zh"), header("X-Forwarded-For", "forged"))
	r := <-got
	if s := r.Get("X-Homeagent-Session"); len(s) != 8 {
		t.Errorf("session %q", s)
	}
	if r.Get("X-Homeagent-Peer") != "127.0.0.1" || r.Get("X-Homeagent-Lang") != "en" {
		t.Errorf("headers %v", r)
	}
	for _, k := range []string{"Cookie", "Authorization", "X-Forwarded-For", "X-Homeagent"} {
		if r.Get(k) != "" {
			t.Errorf("%s reached the agent: %q", k, r.Get(k))
		}
	}
	if a.cookie() != "" || a.header.Get("Access-Control-Allow-Origin") != "" || strings.Contains(a.header.Get("Content-Security-Policy"), "*") {
		t.Errorf("the agent set %v", a.header)
	}
	if ct := a.header.Get("Content-Type"); ct != "application/octet-stream" {
		t.Errorf("HTML came as %q", ct)
	}
}

func TestLogoutEndsStreams(t *testing.T) {
	h := open(t, nil)
	ck := h.claim()
	h.agent(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, "data: 1\n\n")
		http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	req, _ := http.NewRequest("GET", "http://"+h.addr+"/api/v1/events", nil)
	cookie(ck)(req)
	resp, err := h.hc.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := io.ReadFull(resp.Body, make([]byte, 9)); err != nil {
		t.Fatal(err)
	}
	if a := h.call("POST", "/api/v1/logout", `{}`, cookie(ck), csrf); a.status != 204 {
		t.Fatalf("logout: %d", a.status)
	}
	if _, err := io.ReadAll(resp.Body); errors.Is(err, context.DeadlineExceeded) || isTimeout(err) {
		t.Errorf("the stream outlives its login: %v", err)
	}
}

func TestOneLoginCannotTakeEveryStream(t *testing.T) {
	h := open(t, func(o *Options) { o.Limits.StreamsPerLogin = 2 })
	ck := h.claim()
	h.agent(func(w http.ResponseWriter, r *http.Request) {
		http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	var bodies []io.Closer
	for range 2 {
		req, _ := http.NewRequest("GET", "http://"+h.addr+"/api/v1/events", nil)
		cookie(ck)(req)
		resp, err := h.hc.Do(req)
		if err != nil || resp.StatusCode != 200 {
			t.Fatalf("%v %v", resp, err)
		}
		bodies = append(bodies, resp.Body)
	}
	if a := h.call("GET", "/api/v1/events", "", cookie(ck)); a.status != 503 || a.code() != "busy" {
		t.Errorf("a third: %d %s", a.status, a.code())
	}
	if a := h.call("GET", "/api/v1/tokens", "", cookie(ck)); a.status != 200 {
		t.Errorf("the door itself: %d", a.status)
	}
	for _, b := range bodies {
		b.Close()
	}
}

func TestAgentAway(t *testing.T) {
	h := open(t, nil)
	ck := h.claim()
	a := h.call("POST", "/api/v1/chat", `{"text":"hi"}`, cookie(ck), csrf)
	if a.status != 503 || a.code() != "agent_down" || a.header.Get("Retry-After") == "" {
		t.Errorf("got %d %s", a.status, a.body)
	}
	stop := h.agent(func(w http.ResponseWriter, r *http.Request) { panic(http.ErrAbortHandler) })
	if a := h.call("POST", "/api/v1/chat", `{"text":"hi"}`, cookie(ck), csrf); a.status != 502 || a.code() != "agent_lost" {
		t.Errorf("lost in the middle: %d %s", a.status, a.body)
	}
	stop()
	if a := h.call("GET", "/", ""); a.status != 200 {
		t.Errorf("page: %d", a.status)
	}
}

func TestListenErrors(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	dir := tempDir(t)
	err = Run(context.Background(), Options{ListenAddr: taken.Addr().String(), DataDir: dir, RunDir: dir})
	var le *ListenError
	if !errors.As(err, &le) || ExitCode(err) != ExitAddress {
		t.Fatalf("got %v", err)
	}
	for _, want := range []string{taken.Addr().String(), "daemon.listen_addr", "in use"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q lacks %q", err, want)
		}
	}
	if !strings.Contains(le.Words("zh"), "占用") || !strings.Contains(le.Words("zh"), "daemon.listen_addr") {
		t.Errorf("in Chinese: %s", le.Words("zh"))
	}
	h := openIn(t, dir, nil)
	err = Run(context.Background(), Options{ListenAddr: "127.0.0.1:0", DataDir: h.dir, RunDir: h.dir})
	if !errors.Is(err, ErrBusy) || ExitCode(err) != ExitBusy {
		t.Errorf("a second door: %v", err)
	}
	h.stop()
	os.WriteFile(filepath.Join(dir, SocketName), []byte("not a socket"), 0o600)
	if err := Run(context.Background(), Options{ListenAddr: "127.0.0.1:0", DataDir: dir, RunDir: dir}); err == nil || ExitCode(err) != 1 {
		t.Errorf("a file in place of the socket: %v", err)
	}
	if ExitCode(nil) != 0 {
		t.Error("no error is an error")
	}
}

func TestDamagedDatabase(t *testing.T) {
	whole := tempDir(t)
	h := openIn(t, whole, nil)
	h.claim()
	for i := range 20 { // enough for several pages
		h.local("POST", "/api/v1/tokens", `{"name":"t`+itoa(i)+`"}`)
	}
	h.stop()
	good, err := os.ReadFile(filepath.Join(whole, "door.db"))
	if err != nil {
		t.Fatal(err)
	}
	flip := func(from, to int) []byte {
		b := append([]byte{}, good...)
		for i := from; i < to && i < len(b); i++ {
			b[i] ^= 0xa5
		}
		return b
	}
	page := os.Getpagesize()
	for _, row := range []struct {
		name    string
		content []byte
		aside   bool
	}{
		{"whole", good, false},
		{"empty", nil, true}, // nothing to keep, but that the house is unclaimed must be said
		{"garbage", []byte(strings.Repeat("garbage ", 4000)), true},
		{"one byte", []byte("x"), true},
		{"both headers broken", flip(0, 2*page), true},
		{"pages broken", flip(2*page, len(good)), true},
		{"cut to the headers", good[:2*page], true},
		{"cut in the middle", good[:len(good)/2], true},
		{"zeroes", make([]byte, len(good)), true},
	} {
		t.Run(row.name, func(t *testing.T) {
			dir := tempDir(t)
			if err := os.WriteFile(filepath.Join(dir, "door.db"), row.content, 0o600); err != nil {
				t.Fatal(err)
			}
			h := openIn(t, dir, nil)
			kept, _ := filepath.Glob(filepath.Join(dir, "door.db.bad-*"))
			// A cut may leave every page that is still used.
			if row.name == "cut in the middle" && len(kept) == 0 && h.code == "" {
				return
			}
			if (len(kept) == 1) != row.aside {
				t.Fatalf("set aside: %v", kept)
			}
			if row.aside {
				if b, _ := os.ReadFile(kept[0]); string(b) != string(row.content) {
					t.Error("what was set aside has changed")
				}
				if h.code == "" {
					t.Error("no new setup code")
				}
				if a := h.local("GET", "/api/v1/status", ""); !strings.Contains(string(a.body), "door_db_damaged") {
					t.Errorf("not said: %s", a.body)
				}
			}
			if h.code != "" {
				h.claim()
			} else if a := h.call("POST", "/api/v1/login", `{"password":"`+password+`"}`, csrf); a.status != 200 {
				t.Errorf("login: %d", a.status)
			}
		})
	}
}

// TestOpenAfterACreationThatWasCut: what a power cut left of a first start is
// neither damage nor an accounts file.
func TestOpenAfterACreationThatWasCut(t *testing.T) {
	path := filepath.Join(tempDir(t), "door.db")
	for _, left := range []string{"", "half"} {
		if err := os.WriteFile(path+".new", []byte(left), 0o600); err != nil {
			t.Fatal(err)
		}
		s, found, err := openStore(path, false, time.Now)
		if err != nil || found != nil {
			t.Fatalf("left %q: lost %+v, %v", left, found, err)
		}
		if err := s.close(); err != nil {
			t.Error(err)
		}
		if _, err := os.Lstat(path + ".new"); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("left behind: %v", err)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}

// TestCreationThatFails: the name is not there before the file is.
func TestCreationThatFails(t *testing.T) {
	path := filepath.Join(tempDir(t), "door.db")
	// A folder that is not empty cannot make room for the new file.
	if err := os.MkdirAll(filepath.Join(path+".new", "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	if s, found, err := openStore(path, false, time.Now); err == nil || s != nil || found != nil {
		t.Fatalf("opened %v, lost %+v, %v", s, found, err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the name is there: %v", err)
	}
}

func TestAuditIsBounded(t *testing.T) {
	s, _, err := openStore(filepath.Join(tempDir(t), "door.db"), false, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	// Fill it in one transaction; the bound is held by each line after.
	if err := s.db.Update(func(tx *bolt.Tx) error {
		b := tx.Bucket(bucketAudit)
		for range maxAudit + 50 {
			seq, _ := b.NextSequence()
			if err := put(b, seqKey(seq), entry{What: "old"}); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	s.audit("login", "a", "b", "")
	if es, err := s.trail(1); err != nil || len(es) != 1 || es[0].What != "login" {
		t.Errorf("newest: %+v %v", es, err)
	}
	n := 0
	_ = s.db.View(func(tx *bolt.Tx) error {
		return tx.Bucket(bucketAudit).ForEach(func(_, _ []byte) error { n++; return nil })
	})
	if n != maxAudit {
		t.Errorf("%d lines are kept", n)
	}
}

func TestSessionsAreBounded(t *testing.T) {
	c := newClock()
	s, _, err := openStore(filepath.Join(tempDir(t), "door.db"), false, c.now)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	s.db.NoSync = true
	first, _, _ := s.newSession("owner", "")
	for range maxSessions {
		c.add(time.Second)
		if _, _, err := s.newSession("owner", ""); err != nil {
			t.Fatal(err)
		}
	}
	if _, ok, _ := s.session(first); ok {
		t.Error("the oldest stays above the bound")
	}
	c.add(sessionTime)
	last, _, err := s.newSession("owner", "")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	_ = s.db.View(func(tx *bolt.Tx) error {
		return tx.Bucket(bucketSessions).ForEach(func(_, _ []byte) error { n++; return nil })
	})
	if _, ok, _ := s.session(last); !ok || n != 1 {
		t.Errorf("%d sessions after all others expired", n)
	}
}

func TestPasswords(t *testing.T) {
	s := &server{hashing: make(chan struct{}, 1)}
	ctx := context.Background()
	phc, err := s.hash(ctx, "correct horse") // at full cost
	if err != nil || !strings.HasPrefix(phc, "$argon2id$v=19$m=19456,t=2,p=1$") {
		t.Fatalf("%q %v", phc, err)
	}
	if again, _ := s.hash(ctx, "correct horse"); again == phc {
		t.Error("no salt")
	}
	for _, row := range []struct {
		name, phc, password string
		match, bad          bool
	}{
		{"right", phc, "correct horse", true, false},
		{"wrong", phc, "correct hors", false, false},
		{"empty", phc, "", false, false},
		{"no hash", "", "x", false, true},
		{"another scheme", "$2a$10$abc", "x", false, true},
		{"cost out of all bounds", "$argon2id$v=19$m=99999999,t=2,p=1$AAAA$AAAAAAAAAAAAAAAAAAAAAAAA", "x", false, true},
		{"key cut off", phc[:len(phc)-30], "correct horse", false, true},
	} {
		match, err := s.verify(ctx, row.phc, row.password)
		if match != row.match || (err != nil) != row.bad {
			t.Errorf("%s: %v %v", row.name, match, err)
		}
	}
	for p, want := range map[string]bool{"": false, "1234567": false, "12345678": true, "八个汉字的密码啊": true, strings.Repeat("a", maxPassword+1): false, "\xff2345678": false} {
		if passwordOK(p) != want {
			t.Errorf("%q: %v", p, !want)
		}
	}
}

func TestHTTPSMakesSecureCookies(t *testing.T) {
	h := open(t, func(o *Options) { o.TLS, o.TLSAddr = selfSigned(t), "127.0.0.1:0" })
	hc := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}, Timeout: patience}
	defer hc.CloseIdleConnections()
	a := h.do(hc, "https://"+h.addrs[1].String(), "POST", "/api/v1/claim", `{"code":"`+h.code+`","password":"`+password+`"}`, csrf)
	if a.status != 200 || !strings.Contains(a.header.Get("Set-Cookie"), "Secure") {
		t.Errorf("got %d, cookie %q", a.status, a.header.Get("Set-Cookie"))
	}
}

// selfSigned is a certificate for one test.
func selfSigned(t *testing.T) *tls.Config {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tmpl := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"localhost"}}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
}
