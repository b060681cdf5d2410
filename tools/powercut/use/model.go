package use

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"

	"homeagent/tools/fakellm"
)

// What a text begins with, and what Model does then.
const (
	wishFact  = "Powercut job: keep fact"
	wishTimer = "Powercut job: start countdown"
	wishDrop  = "Powercut job: drop countdown"
	wishList  = "Powercut job: tell countdowns"
	wishKnow  = "Powercut job: tell fact"
)

// timerSeconds is how long every timer runs: longer than any test.
const timerSeconds = 5 * 24 * 3600

// Model is a language model that does as it is told.
type Model struct {
	srv  *http.Server
	ln   net.Listener
	fake *fakellm.Server

	mu  sync.Mutex
	key string
	n   int
}

// NewModel serves on a free port of the loopback, which the guest of an emulator
// reaches as 10.0.2.2.
func NewModel() (*Model, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	m := &Model{ln: ln}
	m.fake = fakellm.New(m.answer)
	m.srv = &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m.mu.Lock()
		m.key = strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		m.mu.Unlock()
		m.fake.ServeHTTP(w, r)
	})}
	go m.srv.Serve(ln)
	return m, nil
}

// GuestURL is the address of the model as the guest knows it.
func (m *Model) GuestURL() string {
	return fmt.Sprintf("http://10.0.2.2:%d/v1", m.ln.Addr().(*net.TCPAddr).Port)
}

// URL is the address of the model on this computer.
func (m *Model) URL() string { return fmt.Sprintf("http://%s/v1", m.ln.Addr()) }

// Key is the key that came with the newest request.
func (m *Model) Key() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.key
}

// Close ends the server.
func (m *Model) Close() error { return m.srv.Close() }

// answer does what the newest text says and then tells what came of it.
func (m *Model) answer(r fakellm.Request) fakellm.Reply {
	text, at := newest(r)
	for _, m := range slices.Backward(r.Messages[at:]) {
		if m.Role == "tool" {
			return fakellm.Reply{Text: "Result: " + m.Text()}
		}
	}
	call := func(name string, args any) fakellm.Reply {
		b, err := json.Marshal(args)
		if err != nil {
			return fakellm.Reply{Text: "Result: " + err.Error()}
		}
		m.mu.Lock()
		m.n++
		id := fmt.Sprintf("call-%d-%d", r.Received.UnixNano(), m.n)
		m.mu.Unlock()
		return fakellm.Reply{Calls: []fakellm.Call{{ID: id, Name: name, Args: string(b)}}}
	}
	rest := func(wish string) []string { return strings.Fields(strings.TrimPrefix(text, wish)) }
	switch {
	case strings.HasPrefix(text, wishFact) && len(rest(wishFact)) == 3:
		f := rest(wishFact)
		return call("memory_commit", map[string]any{"triples": []map[string]string{{"subject": f[0], "relation": f[1], "object": f[2]}}})
	case strings.HasPrefix(text, wishTimer) && len(rest(wishTimer)) == 1:
		return call("timer_set", map[string]any{"seconds": timerSeconds, "label": rest(wishTimer)[0]})
	case strings.HasPrefix(text, wishDrop) && len(rest(wishDrop)) == 1:
		return call("timer_cancel", map[string]string{"label": rest(wishDrop)[0]})
	case strings.HasPrefix(text, wishList):
		return call("timer_list", struct{}{})
	case strings.HasPrefix(text, wishKnow) && len(rest(wishKnow)) == 1:
		return call("memory_recall", map[string]string{"query": rest(wishKnow)[0]})
	}
	return fakellm.Reply{Text: "Heard: " + text}
}

// newest is the line of the newest text of the person that is one of this
// package's, and where it stands; the house may add lines and messages of its own.
func newest(r fakellm.Request) (text string, at int) {
	for i, m := range slices.Backward(r.Messages) {
		if m.Role != "user" {
			continue
		}
		if begin := strings.Index(m.Text(), "Powercut "); begin >= 0 {
			line, _, _ := strings.Cut(m.Text()[begin:], "\n")
			return strings.TrimSpace(line), i
		}
	}
	return "", 0
}
