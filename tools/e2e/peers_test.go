//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"homeagent/tools/fakellm"
	"homeagent/tools/fakespeech"
	"homeagent/tools/spoken"
)

// fromGuest is a server of this computer as the guest sees it.
func fromGuest(t testing.TB, srv *httptest.Server) string {
	t.Helper()
	u, err := url.Parse(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	return "http://10.0.2.2:" + u.Port()
}

// model is a language model on this computer.
type model struct {
	*fakellm.Server
	url string // as the guest sees it
}

func newModel(t testing.TB, script fakellm.Script) *model {
	t.Helper()
	m := &model{Server: fakellm.New(script)}
	srv := httptest.NewServer(m)
	t.Cleanup(func() { srv.CloseClientConnections(); srv.Close() })
	m.url = fromGuest(t, srv)
	return m
}

// asked are the texts that the model was given by the household, in order.
func (m *model) asked() (texts []string) {
	for _, r := range m.Requests() {
		if s := r.Last("user"); len(texts) == 0 || texts[len(texts)-1] != s {
			texts = append(texts, s)
		}
	}
	return texts
}

// speechService understands with the engines of the house, running on this
// computer, and speaks with flite.
type speechService struct {
	url string
	mu  sync.Mutex
	// heard are the transcripts, said the texts.
	heard, said []string
}

func newSpeechService(t testing.TB, judge *spoken.Judge) *speechService {
	t.Helper()
	spoken.Need(t, "flite")
	s := &speechService{}
	dir := t.TempDir()
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/audio/transcriptions", func(w http.ResponseWriter, r *http.Request) {
		text, err := s.transcribe(r, judge)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(map[string]string{"text": text})
	})
	mux.HandleFunc("POST /v1/audio/speech", func(w http.ResponseWriter, r *http.Request) {
		sound, err := s.speak(r, dir)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "audio/wav")
		io.Copy(w, bytes.NewReader(sound))
	})
	srv := httptest.NewServer(mux)
	t.Cleanup(func() { srv.CloseClientConnections(); srv.Close() })
	s.url = fromGuest(t, srv) + "/v1"
	return s
}

func (s *speechService) transcribe(r *http.Request, judge *spoken.Judge) (string, error) {
	f, _, err := r.FormFile("file")
	if err != nil {
		return "", err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, 16<<20))
	if err != nil {
		return "", err
	}
	samples, err := fakespeech.CheckWAV(b)
	if err != nil {
		return "", err
	}
	text, err := judge.Listen(r.Context(), samples)
	if err != nil {
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heard = append(s.heard, text)
	return text, nil
}

func (s *speechService) speak(r *http.Request, dir string) ([]byte, error) {
	var q struct{ Input, Voice string }
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(dir, "answer-*.wav")
	if err != nil {
		return nil, err
	}
	f.Close()
	if out, err := exec.CommandContext(r.Context(), "flite", "-voice", q.Voice, "-t", q.Input, "-o", f.Name()).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("flite: %w: %s", err, out)
	}
	s.mu.Lock()
	s.said = append(s.said, q.Input)
	s.mu.Unlock()
	return os.ReadFile(f.Name())
}

// all are the transcripts and the spoken texts so far.
func (s *speechService) all() (heard, said []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.heard), slices.Clone(s.said)
}

// newJudge runs the engines of the house on this computer, or skips.
func newJudge(t testing.TB) *spoken.Judge {
	t.Helper()
	spoken.NeedEngines(t)
	models := spoken.Models(t)
	program := filepath.Join(t.TempDir(), "homed-agent")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-tags", "sqlite_fts5", "-o", program, "./cmd/homed-agent")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, out)
	}
	j := spoken.NewJudge(program, models)
	t.Cleanup(func() { j.Close() })
	return j
}
