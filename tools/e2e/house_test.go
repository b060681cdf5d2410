//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"homeagent/drivers/web"
	"homeagent/drivers/web/client"
	"homeagent/tools/emulator"
)

// root is the repository, seen from this folder.
const root = "../.."

// The waits are long because an emulated processor is slow and this computer may
// be busy; none is a measurement.
const (
	bootWait  = 4 * time.Minute
	learnWait = 10 * time.Minute // a wake word from three takes
	turnWait  = 2 * time.Minute
	// spokenWait is longer: the guest listens all the time, and on a busy computer
	// each of its seconds takes several.
	spokenWait = 4 * time.Minute
)

// password is what the tests claim a box with.
const password = "a password for the tests"

// card makes a card from the image, or skips where there is no emulator.
func card(t testing.TB, atLeast int64) *emulator.Disk {
	t.Helper()
	if err := emulator.Available(); err != nil {
		t.Skipf("skipped: %v", err)
	}
	image := os.Getenv("HOMEAGENT_IMAGE")
	if image == "" {
		var err error
		if image, err = emulator.FindImage(filepath.Join(root, "out", "rpi3-64"), "rpi3-64"); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(filepath.Join(root, "board", "common", "layout.env"))
	if err != nil {
		t.Fatal(err)
	}
	layout, err := emulator.ParseLayout(text)
	if err != nil {
		t.Fatal(err)
	}
	disk, err := emulator.NewDisk(image, filepath.Join(t.TempDir(), "card.img"), layout, atLeast)
	if err != nil {
		t.Fatal(err)
	}
	return disk
}

// box is an emulated HomeAgent.
type box struct {
	t    testing.TB
	disk *emulator.Disk
	m    *emulator.Machine
	conf emulator.Config
	key  ssh.Signer // what the settings file allowed in
	api  *client.Client
	http http.Client // without a login; a page's browser
	// token is kept over restarts.
	token string
	began time.Time
}

// newBox writes the settings file of a new card: SSH for a key of the test's own,
// English, and further lines.
func newBox(t testing.TB, conf emulator.Config, lines ...string) *box {
	t.Helper()
	b := &box{t: t, disk: conf.Disk, conf: conf, http: http.Client{Timeout: time.Minute}}
	_, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	if b.key, err = ssh.NewSignerFromKey(private); err != nil {
		t.Fatal(err)
	}
	b.settings(append([]string{"language=en", "ssh_key=" + strings.TrimSpace(string(ssh.MarshalAuthorizedKey(b.key.PublicKey())))}, lines...)...)
	return b
}

// settings fills in lines of the card's homeagent.txt, as a person does.
func (b *box) settings(lines ...string) {
	b.t.Helper()
	setup := b.disk.Layout.Setup
	text, err := b.disk.ReadFile(b.t.Context(), setup, "homeagent.txt")
	if err != nil {
		b.t.Fatal(err)
	}
	form := string(text)
	for _, line := range lines {
		key, _, _ := strings.Cut(line, "=")
		at := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(key) + `=.*$`)
		if !at.MatchString(form) {
			b.t.Fatalf("homeagent.txt has no line %s=", key)
		}
		form = at.ReplaceAllLiteralString(form, line)
	}
	if err := b.disk.WriteFile(b.t.Context(), setup, "homeagent.txt", []byte(form)); err != nil {
		b.t.Fatal(err)
	}
}

// start boots the box; it ends with the test.
func (b *box) start() {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), bootWait)
	defer cancel()
	m, err := emulator.Start(ctx, b.conf)
	if err != nil {
		b.t.Fatal(err)
	}
	b.m, b.began = m, time.Now()
	b.t.Cleanup(func() {
		m.Close()
		if b.t.Failed() {
			b.t.Logf("the serial log ended with:\n%s", m.Log().Tail(60))
		}
	})
	if b.token != "" {
		b.connect()
	}
}

// in is the same box for a subtest.
func (b *box) in(t testing.TB) *box {
	c := *b
	c.t = t
	return &c
}

// page is the address of the box's page.
func (b *box) page() string { return "http://" + b.m.Address(80) }

// eventually waits for a condition, as long as the machine runs.
func (b *box) eventually(within time.Duration, what string, holds func() bool) {
	b.t.Helper()
	deadline := time.NewTimer(within)
	defer deadline.Stop()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-deadline.C:
			b.t.Fatalf("not within %v: %s", within, what)
		case <-b.m.Done():
			b.t.Fatalf("the machine ended before: %s", what)
		case <-tick.C:
		}
	}
}

// answers waits until the page answers and logs how long that took.
func (b *box) answers() {
	b.t.Helper()
	b.eventually(bootWait, "the page answers", func() bool {
		r, err := b.http.Get(b.page() + "/api/v1/session")
		if err != nil {
			return false
		}
		r.Body.Close()
		return r.StatusCode == http.StatusOK
	})
	b.t.Logf("the page answered %.1f s after QEMU's start", time.Since(b.began).Seconds())
}

// post sends JSON to the API as a page does, with the cookies so far.
func (b *box) post(path string, body any, cookies []*http.Cookie, out any) (status int, got []*http.Cookie) {
	b.t.Helper()
	j, err := json.Marshal(body)
	if err != nil {
		b.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(b.t.Context(), http.MethodPost, b.page()+"/api/v1/"+path, bytes.NewReader(j))
	if err != nil {
		b.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Homeagent", "1")
	for _, c := range cookies {
		req.AddCookie(c)
	}
	r, err := b.http.Do(req)
	if err != nil {
		b.t.Fatalf("POST %s: %v", path, err)
	}
	defer r.Body.Close()
	if out != nil {
		if err := json.NewDecoder(r.Body).Decode(out); err != nil {
			b.t.Fatalf("POST %s: status %d, %v", path, r.StatusCode, err)
		}
	}
	return r.StatusCode, r.Cookies()
}

// code is what the box prints on its serial console for the first visit.
func (b *box) code() string {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), turnWait)
	defer cancel()
	m, err := b.m.Log().Wait(ctx, emulator.VisitCode)
	if err != nil {
		b.t.Fatal(err)
	}
	return m[1]
}

// claim sets the password with the printed code, logs in with it and makes a token.
func (b *box) claim() {
	b.t.Helper()
	if status, _ := b.post("claim", map[string]string{"code": b.code(), "password": password, "lang": "en"}, nil, nil); status != http.StatusOK {
		b.t.Fatalf("the claim: status %d", status)
	}
	status, cookies := b.post("login", map[string]string{"password": password}, nil, nil)
	if status != http.StatusOK || len(cookies) == 0 {
		b.t.Fatalf("the login: status %d, %d cookies", status, len(cookies))
	}
	var made struct{ Token string }
	if status, _ := b.post("tokens", map[string]string{"name": "e2e"}, cookies, &made); status != http.StatusCreated || made.Token == "" {
		b.t.Fatalf("a token: status %d", status)
	}
	b.token = made.Token
	b.connect()
}

func (b *box) connect() {
	b.t.Helper()
	api, err := client.TCP(b.page(), b.token, "en")
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(api.Close)
	b.api = api
}

// get calls the API with the token.
func (b *box) get(path string, out any) {
	b.t.Helper()
	if err := b.tryGet(path, out); err != nil {
		b.t.Fatalf("GET %s: %v", path, err)
	}
}

func (b *box) tryGet(path string, out any) error {
	ctx, cancel := context.WithTimeout(b.t.Context(), turnWait)
	defer cancel()
	return b.api.Do(ctx, http.MethodGet, path, nil, out)
}

// configure changes config.yaml as the page does, and waits until the mind is back.
func (b *box) configure(patch any) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), turnWait)
	defer cancel()
	before := b.pid("agent")
	if err := b.api.Do(ctx, http.MethodPut, "config", patch, nil); err != nil {
		b.t.Fatalf("PUT config: %v", err)
	}
	b.eventually(bootWait, "the agent starts anew", func() bool { pid := b.pid("agent"); return pid != 0 && pid != before })
	b.ready()
}

// status is what the page shows of the processes.
func (b *box) status() (s struct {
	Supervisor struct {
		Version   string
		Processes []struct {
			Name string
			PID  int
		}
		Notices []string
	}
}, err error) {
	err = b.tryGet("status", &s)
	return s, err
}

func (b *box) pid(name string) int {
	s, err := b.status()
	if err != nil {
		return 0
	}
	for _, p := range s.Supervisor.Processes {
		if p.Name == name {
			return p.PID
		}
	}
	return 0
}

// accept sends a text and returns as soon as it was acknowledged.
func (b *box) accept(text string) string {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), turnWait)
	defer cancel()
	s, err := b.api.Stream(ctx, http.MethodPost, "chat", map[string]string{"text": text})
	if err != nil {
		b.t.Fatalf("say %q: %v", text, err)
	}
	defer s.Close()
	var a client.Answer
	if ev, err := s.Next(); err != nil || ev.Name != "accepted" || json.Unmarshal(ev.Data, &a) != nil || a.ID == "" {
		b.t.Fatalf("%q is answered with %s %s, %v", text, ev.Name, ev.Data, err)
	}
	return a.ID
}

// trySay sends a text and waits for its answer.
func (b *box) trySay(text string) (client.Answer, error) {
	ctx, cancel := context.WithTimeout(b.t.Context(), turnWait)
	defer cancel()
	return b.api.Chat(ctx, map[string]string{"text": text})
}

func (b *box) say(text string) string {
	b.t.Helper()
	a, err := b.trySay(text)
	if err != nil {
		b.t.Fatalf("say %q: %v", text, err)
	}
	return a.Text
}

// ready waits until a text is answered.
func (b *box) ready() {
	b.t.Helper()
	b.eventually(bootWait, "the box answers", func() bool {
		_, err := b.trySay("what time is it")
		return err == nil
	})
}

// history is the page's history.
func (b *box) history() []web.Item {
	b.t.Helper()
	var got struct{ Items []web.Item }
	b.get("chat/history?limit=200", &got)
	return got.Items
}

// ssh runs a command on the box as root.
func (b *box) ssh(command string) (string, error) {
	c, err := b.m.SSH(b.t.Context(), b.key)
	if err != nil {
		return "", err
	}
	defer c.Close()
	s, err := c.NewSession()
	if err != nil {
		return "", err
	}
	defer s.Close()
	var bad bytes.Buffer
	s.Stderr = &bad
	out, err := s.Output(command)
	if err != nil {
		return string(out), fmt.Errorf("%s: %w: %s", command, err, strings.TrimSpace(bad.String()))
	}
	return string(out), nil
}

// run is ssh that must work.
func (b *box) run(command string) string {
	b.t.Helper()
	out, err := b.ssh(command)
	if err != nil {
		b.t.Fatalf("ssh: %v\n%s", err, out)
	}
	return strings.TrimSpace(out)
}

// sshIsUp waits for the SSH server, which starts beside the page.
func (b *box) sshIsUp() {
	b.t.Helper()
	var last error
	defer func() {
		if last != nil {
			b.t.Logf("SSH: %v", last)
		}
	}()
	b.eventually(bootWait, "SSH lets the key in", func() bool {
		_, last = b.ssh("true")
		return last == nil
	})
}

// powerOff shuts the box down properly and waits for its end.
func (b *box) powerOff() {
	b.t.Helper()
	// The connection ends before the command does.
	var gone *ssh.ExitMissingError
	if _, err := b.ssh("poweroff"); err != nil && !errors.As(err, &gone) && !strings.Contains(err.Error(), "closed") {
		b.t.Logf("poweroff: %v", err)
	}
	ctx, cancel := context.WithTimeout(b.t.Context(), turnWait)
	defer cancel()
	if err := b.m.Wait(ctx); err != nil {
		b.t.Fatal(err)
	}
}
