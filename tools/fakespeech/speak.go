package fakespeech

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"unicode/utf8"
)

// InputMost is the service's limit in characters.
const InputMost = 4096

func (s *Server) speak(w http.ResponseWriter, r *http.Request, f Fault) {
	if s.early(w, r, f) {
		return
	}
	if ct := r.Header.Get("Content-Type"); ct != "application/json" {
		s.refuse(w, http.StatusBadRequest, "content type %q", ct)
		return
	}
	var q struct {
		Model  string `json:"model"`
		Input  string `json:"input"`
		Voice  string `json:"voice"`
		Format string `json:"response_format"`
	}
	dec := json.NewDecoder(r.Body)
	dec.DisallowUnknownFields()
	if err := dec.Decode(&q); err != nil {
		s.refuse(w, http.StatusBadRequest, "body: %v", err)
		return
	}
	if _, err := dec.Token(); err != io.EOF {
		s.refuse(w, http.StatusBadRequest, "something follows the JSON object")
		return
	}
	switch n := utf8.RuneCountInString(q.Input); {
	case q.Model != s.cfg.SpeechModel:
		s.refuse(w, http.StatusNotFound, "model %q does not exist", q.Model)
		return
	case q.Voice != s.cfg.Voice:
		s.refuse(w, http.StatusBadRequest, "voice %q does not exist", q.Voice)
		return
	case q.Format != "wav":
		s.refuse(w, http.StatusBadRequest, "response_format %q", q.Format)
		return
	case n == 0 || n > InputMost:
		s.refuse(w, http.StatusBadRequest, "input has %d characters", n)
		return
	}
	s.mu.Lock()
	s.said = append(s.said, Said{q.Model, q.Voice, q.Input})
	s.mu.Unlock()
	switch f {
	case MP3:
		w.Header().Set("Content-Type", "audio/mpeg")
		w.Write(append([]byte("ID3\x04\x00\x00\x00\x00\x00\x00"), make([]byte, 1000)...))
		return
	case Empty:
		return
	}
	rate, channels := 24000, 1
	if f == OtherFormat {
		rate, channels = 16000, 2
	}
	// A voice reads about fifteen letters a second; Han characters four.
	seconds := 0.4
	for _, c := range q.Input {
		if c > 0x2E80 {
			seconds += 0.25
		} else {
			seconds += 0.065
		}
	}
	body := hum(rate, channels, seconds, s.cfg.Streamed)
	w.Header().Set("Content-Type", "audio/wav")
	switch f {
	case Cut:
		w.Header().Set("Content-Length", fmt.Sprint(len(body)))
		w.Write(body[:len(body)/2])
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	case Stall:
		w.Write(body[:len(body)/2])
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	default:
		w.Write(body)
	}
}

// hum is a WAV file with a tone of 220 Hz that swells like syllables.
func hum(rate, channels int, seconds float64, streamed bool) []byte {
	n := int(seconds * float64(rate))
	size := uint32(n * channels * 2)
	riff, data := size+36, size
	if streamed {
		riff, data = math.MaxUint32, math.MaxUint32
	}
	le := binary.LittleEndian
	b := append([]byte("RIFF"), le.AppendUint32(nil, riff)...)
	b = append(b, "WAVEfmt "...)
	b = le.AppendUint32(b, 16)
	b = le.AppendUint16(b, 1)
	b = le.AppendUint16(b, uint16(channels))
	b = le.AppendUint32(b, uint32(rate))
	b = le.AppendUint32(b, uint32(rate*channels*2))
	b = le.AppendUint16(b, uint16(channels*2))
	b = le.AppendUint16(b, 16)
	b = le.AppendUint32(append(b, "data"...), data)
	for i := range n {
		t := float64(i) / float64(rate)
		v := int16(6000 * math.Abs(math.Sin(math.Pi*4*t)) * math.Sin(2*math.Pi*220*t))
		for range channels {
			b = le.AppendUint16(b, uint16(v))
		}
	}
	return b
}
