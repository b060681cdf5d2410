package web_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/cookiejar"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"homeagent/agent/event"
	"homeagent/agent/home"
	"homeagent/agent/plugin"
	"homeagent/drivers/web"
	"homeagent/drivers/web/client"
	"homeagent/drivers/web/door"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	patience = 20 * time.Second
	secret   = "link-secret"
	password = "correct horse"
)

// fakeAPI is the host as far as the web plugin uses it. Each injected input is
// given to turn, which plays the mind.
type fakeAPI struct {
	plugin.API // nil: anything else would be a surprise
	log        *slog.Logger

	mu       sync.Mutex
	channels map[string]plugin.Sender
	subs     map[int]func(event.Event)
	next     int
	inputs   int
	last     plugin.Input
	store    map[string][]byte
	turn     func(in plugin.Input)
	inject   func(in plugin.Input) // runs before InjectInput returns
	refuse   error
	wg       sync.WaitGroup
}

func newFakeAPI(t testing.TB) *fakeAPI {
	return &fakeAPI{log: slog.New(slog.NewTextHandler(t.Output(), nil)), channels: map[string]plugin.Sender{}, subs: map[int]func(event.Event){}, store: map[string][]byte{}}
}

func (a *fakeAPI) Log() *slog.Logger { return a.log }

func (a *fakeAPI) Channel(name string, s plugin.Sender) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.channels[name] = s
	return nil
}

func (a *fakeAPI) Subscribe(_ event.Type, h func(event.Event)) func() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.next++
	id := a.next
	a.subs[id] = h
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.subs, id)
	}
}

func (a *fakeAPI) Publish(e event.Event) {
	if e.Time.IsZero() {
		e.Time = time.Now()
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, h := range a.subs {
		h(e)
	}
}

func (a *fakeAPI) InjectInput(_ context.Context, in plugin.Input) (string, error) {
	a.mu.Lock()
	if a.refuse != nil {
		defer a.mu.Unlock()
		return "", a.refuse
	}
	a.inputs++
	in.ID = "in" + strconv.Itoa(a.inputs)
	a.last = in
	turn := a.turn
	a.mu.Unlock()
	a.Publish(event.Event{Type: event.RawInput, Input: in.ID, Source: in.Source, Channel: in.Channel, Text: in.Payload})
	if a.inject != nil {
		a.inject(in)
	}
	if turn != nil {
		a.wg.Go(func() { turn(in) })
	}
	return in.ID, nil
}

func (a *fakeAPI) lastInput() plugin.Input {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.last
}

func (a *fakeAPI) sender(channel string) plugin.Sender {
	kind, _, _ := strings.Cut(channel, ":")
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.channels[kind]
}

// send plays output_send.
func (a *fakeAPI) send(in plugin.Input, text string, final bool) {
	_ = a.sender(in.Channel).Send(context.Background(), plugin.Message{Channel: in.Channel, Text: text, ReplyTo: in.ID, Final: final})
	a.Publish(event.Event{Type: event.AgentOutput, Input: in.ID, Source: in.Source, Channel: in.Channel, Text: text})
}

func (a *fakeAPI) draft(in plugin.Input, d plugin.Draft) {
	d.Channel, d.ReplyTo = in.Channel, in.ID
	a.sender(in.Channel).(plugin.Drafter).Draft(context.Background(), d)
}

func (a *fakeAPI) Home() *home.Home {
	return &home.Home{Devices: []home.Device{{Name: "living_room_lamp", Kind: "lamp", Aliases: home.Names{"zh": {"客厅灯"}, "en": {"living room lamp"}}}}}
}

func (a *fakeAPI) Store() plugin.Store { return (*fakeStore)(a) }

type fakeStore fakeAPI

func (s *fakeStore) Get(k string) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.store[k], nil
}

func (s *fakeStore) Put(k string, v []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.store[k] = bytes.Clone(v)
	return nil
}
func (s *fakeStore) Delete(string) error                          { return nil }
func (s *fakeStore) List(string, func(string, []byte) bool) error { return nil }

// registry is a web.Registry on maps.
type registry struct {
	endpoints map[string]plugin.EndpointHandler
	streams   map[string]plugin.StreamHandler
	statusOf  func(context.Context) any
}

func (r *registry) Endpoint(n string) (plugin.EndpointHandler, bool) {
	h, ok := r.endpoints[n]
	return h, ok
}

func (r *registry) Stream(n string) (plugin.StreamHandler, bool) { h, ok := r.streams[n]; return h, ok }
func (r *registry) Status(ctx context.Context) any {
	if r.statusOf != nil {
		return r.statusOf(ctx)
	}
	return map[string]string{"model": "offline"}
}

// house is a door with an agent behind it.
type house struct {
	t         testing.TB
	dir       string
	api       *fakeAPI
	reg       *registry
	lent      web.Registry // reg, or what was put around it
	plug      *web.Plugin
	addr      string
	code      string
	stopDoor  func()
	socket    string
	listen    string
	doorReady chan net.Addr
}

func open(t testing.TB) *house {
	t.Helper()
	return openWith(t, func(r *registry) web.Registry { return r })
}

// openWith is open with another registry around the one on maps.
func openWith(t testing.TB, around func(*registry) web.Registry) *house {
	t.Helper()
	dir, err := os.MkdirTemp("", "web") // short enough for a socket's path
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	h := &house{t: t, dir: dir, api: newFakeAPI(t), socket: filepath.Join(dir, door.SocketName), listen: "127.0.0.1:0",
		reg: &registry{endpoints: map[string]plugin.EndpointHandler{}, streams: map[string]plugin.StreamHandler{}}}
	h.lent = around(h.reg)
	h.openDoor()
	h.openAgent()
	h.untilLinked()
	return h
}

func (h *house) openDoor() {
	h.t.Helper()
	ready := make(chan net.Addr, 1)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- door.Run(ctx, door.Options{
			ListenAddr: h.listen, DataDir: h.dir, RunDir: h.dir, LinkSecret: secret, Log: h.api.log,
			Announce: func(code string, _ []string) { h.code = code },
			Ready:    func(as []net.Addr) { ready <- as[0] },
		})
	}()
	select {
	case a := <-ready:
		h.addr = a.String()
	case err := <-ended:
		cancel()
		h.t.Fatalf("door: %v", err)
	}
	h.stopDoor = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			h.t.Errorf("door: %v", err)
		}
	})
	h.t.Cleanup(h.stopDoor)
}

func (h *house) openAgent() {
	h.t.Helper()
	h.plug = web.New(web.Options{Registry: h.lent, Socket: h.socket, LinkSecret: secret})
	if err := h.plug.Start(context.Background(), h.api); err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(h.stopAgent)
}

func (h *house) stopAgent() {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := h.plug.Stop(ctx); err != nil {
		h.t.Errorf("stop: %v", err)
	}
	h.api.wg.Wait()
}

// until asks again until ok, or fails.
func (h *house) until(what string, ok func() bool) {
	h.t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(patience); !ok(); <-tick.C {
		if time.Now().After(end) {
			h.t.Fatalf("waited in vain for %s", what)
		}
	}
}

func (h *house) linked() bool {
	c := client.Unix(h.socket, "en")
	defer c.Close()
	var s struct{ Agent bool }
	return c.Do(context.Background(), "GET", "session", nil, &s) == nil && s.Agent
}

func (h *house) untilLinked() {
	h.t.Helper()
	h.until("the link", h.linked)
}

// console is a client on the unix socket.
func (h *house) console(lang string) *client.Client {
	c := client.Unix(h.socket, lang)
	h.t.Cleanup(c.Close)
	return c
}

// page is a browser that has claimed or logged in.
func (h *house) page() *http.Client {
	h.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		h.t.Fatal(err)
	}
	hc := &http.Client{Jar: jar, Transport: &http.Transport{}, Timeout: patience}
	h.t.Cleanup(hc.CloseIdleConnections)
	for _, try := range []struct{ path, body string }{
		{"claim", `{"code":"` + h.code + `","password":"` + password + `"}`},
		{"login", `{"password":"` + password + `"}`},
	} {
		if st, _ := h.post(hc, try.path, try.body); st == http.StatusOK {
			return hc
		}
	}
	h.t.Fatal("cannot log in")
	return nil
}

func (h *house) post(hc *http.Client, path, body string) (int, []byte) {
	h.t.Helper()
	req, err := http.NewRequest("POST", "http://"+h.addr+"/api/v1/"+path, strings.NewReader(body))
	if err != nil {
		h.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Homeagent", "1")
	req.Header.Set("Accept", "application/json")
	resp, err := hc.Do(req)
	if err != nil {
		h.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, b
}

// sessionOf is the public name of a page's login.
func (h *house) sessionOf(hc *http.Client) string {
	h.t.Helper()
	resp, err := hc.Get("http://" + h.addr + "/api/v1/session")
	if err != nil {
		h.t.Fatal(err)
	}
	defer resp.Body.Close()
	var s struct{ Session string }
	if err := json.NewDecoder(resp.Body).Decode(&s); err != nil || s.Session == "" {
		h.t.Fatalf("session: %v %q", err, s.Session)
	}
	return s.Session
}
