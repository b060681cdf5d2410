package fakespeech

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"
)

// Fault is a way to fail.
type Fault string

const (
	// Hang answers nothing until the client leaves.
	Hang Fault = "hang"
	// Cut breaks the connection off inside the answer's body.
	Cut Fault = "cut"
	// Stall sends the beginning of the body and then nothing.
	Stall Fault = "stall"
	// Garbage answers with bytes that are neither JSON nor sound.
	Garbage Fault = "garbage"
	// HTML answers with a web page, as a wrong address does.
	HTML Fault = "html"
	// Huge answers with a body that does not end.
	Huge Fault = "huge"
	// Redirect points elsewhere.
	Redirect Fault = "redirect"
	// Busy is status 429, Down 503, Leak a 400 that repeats the key.
	Busy Fault = "busy"
	Down Fault = "down"
	Leak Fault = "leak"
	// MP3 speaks MP3 though WAV was asked for.
	MP3 Fault = "mp3"
	// Empty speaks zero bytes.
	Empty Fault = "empty"
	// OtherFormat speaks WAV at 16 kHz in stereo instead of 24 kHz mono.
	OtherFormat Fault = "other_format"
)

// Config describes what the fake expects.
type Config struct {
	// Key must come as a bearer token; "" expects no Authorization at all.
	Key string
	// Model and Voice must be named exactly, "whisper-1", "tts-1" and "alloy" if empty.
	Model, SpeechModel, Voice string
	// Streamed writes WAV as a stream does, with lengths that are not true.
	Streamed bool
}

// Heard is a transcription request that passed every check.
type Heard struct {
	Model, Language, Prompt string
	// Samples are at 16 kHz, mono.
	Samples  []int16
	Duration time.Duration
	// RMS is the loudness in steps of 16 bits.
	RMS float64
}

// Said is a speech request that passed every check.
type Said struct {
	Model, Voice, Input string
}

// Server is the fake. It is safe for concurrent use.
type Server struct {
	cfg Config
	mux *http.ServeMux

	mu          sync.Mutex
	transcripts []string
	faults      []Fault
	heard       []Heard
	said        []Said
	complaints  []string
}

// New makes a fake that understands nothing yet.
func New(cfg Config) *Server {
	def := func(s *string, v string) {
		if *s == "" {
			*s = v
		}
	}
	def(&cfg.Model, "whisper-1")
	def(&cfg.SpeechModel, "tts-1")
	def(&cfg.Voice, "alloy")
	s := &Server{cfg: cfg, mux: http.NewServeMux()}
	s.mux.HandleFunc("POST /v1/audio/transcriptions", s.serve(s.transcribe))
	s.mux.HandleFunc("POST /v1/audio/speech", s.serve(s.speak))
	s.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		s.refuse(w, http.StatusNotFound, "no such address: %s %s", r.Method, r.URL.Path)
	})
	return s
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// Understand appends texts that the next transcription requests will get. A
// request that finds none gets an empty text.
func (s *Server) Understand(texts ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.transcripts = append(s.transcripts, texts...)
}

// Fail makes the next requests fail, one each; "" lets one pass.
func (s *Server) Fail(faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, faults...)
}

// Heard lists what was transcribed so far.
func (s *Server) Heard() []Heard {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.heard)
}

// Said lists what was spoken so far.
func (s *Server) Said() []Said {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.said)
}

// Complaints lists what was wrong with requests so far.
func (s *Server) Complaints() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.complaints)
}

// serve checks what both addresses share and plays the next fault.
func (s *Server) serve(h func(w http.ResponseWriter, r *http.Request, f Fault)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, 26<<20) // as the real service
		want := ""
		if s.cfg.Key != "" {
			want = "Bearer " + s.cfg.Key
		}
		if got := r.Header.Get("Authorization"); got != want {
			s.refuse(w, http.StatusUnauthorized, "wrong Authorization")
			return
		}
		h(w, r, s.fault())
	}
}

// fault takes the next one.
func (s *Server) fault() Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.faults) == 0 {
		return ""
	}
	f := s.faults[0]
	s.faults = s.faults[1:]
	return f
}

// early plays the faults that come instead of an answer. It reports whether it did.
func (s *Server) early(w http.ResponseWriter, r *http.Request, f Fault) bool {
	switch f {
	case Hang:
		io.Copy(io.Discard, r.Body) // a server notices that its client left only behind the body
		<-r.Context().Done()
	case Garbage:
		w.Write([]byte{0x00, 0x13, 0x37, 0xfe, 0x42})
	case HTML:
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<!doctype html><title>Hello</title>")
	case Huge:
		for r.Context().Err() == nil {
			if _, err := w.Write(make([]byte, 64<<10)); err != nil {
				break
			}
		}
	case Redirect:
		http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
	case Busy:
		w.Header().Set("Retry-After", "1")
		answer(w, http.StatusTooManyRequests, "rate limit reached")
	case Down:
		answer(w, http.StatusServiceUnavailable, "overloaded")
	case Leak:
		answer(w, http.StatusBadRequest, "your key "+s.cfg.Key+" is fine but I do not like you")
	default:
		return false
	}
	return true
}

// refuse answers with an error and remembers it.
func (s *Server) refuse(w http.ResponseWriter, status int, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	s.mu.Lock()
	s.complaints = append(s.complaints, text)
	s.mu.Unlock()
	answer(w, status, text)
}

// answer writes an error as the real service does.
func answer(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"message": text, "type": "invalid_request_error"}})
}
