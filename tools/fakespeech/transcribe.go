package fakespeech

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"mime"
	"mime/multipart"
	"net/http"
	"path/filepath"
	"time"
)

// fields are those the service knows; more than one of a kind is refused.
var fields = map[string]bool{"file": true, "model": true, "language": true, "prompt": true, "response_format": true, "temperature": true}

func (s *Server) transcribe(w http.ResponseWriter, r *http.Request, f Fault) {
	if s.early(w, r, f) {
		return
	}
	form, file, err := readForm(r)
	if err != nil {
		s.refuse(w, http.StatusBadRequest, "%v", err)
		return
	}
	h := Heard{Model: form["model"], Language: form["language"], Prompt: form["prompt"]}
	if h.Model != s.cfg.Model {
		s.refuse(w, http.StatusNotFound, "model %q does not exist", h.Model)
		return
	}
	if l := h.Language; l != "" && (len(l) != 2 || l[0] < 'a' || l[0] > 'z') {
		s.refuse(w, http.StatusBadRequest, "language %q is no ISO-639-1 code", l)
		return
	}
	if form["response_format"] != "json" {
		s.refuse(w, http.StatusBadRequest, "response_format %q", form["response_format"])
		return
	}
	if h.Samples, err = CheckWAV(file); err != nil {
		s.refuse(w, http.StatusBadRequest, "file: %v", err)
		return
	}
	h.Duration = time.Duration(len(h.Samples)) * time.Second / 16000
	h.RMS = rms(h.Samples)
	s.mu.Lock()
	s.heard = append(s.heard, h)
	text := ""
	if len(s.transcripts) > 0 {
		text, s.transcripts = s.transcripts[0], s.transcripts[1:]
	}
	s.mu.Unlock()
	body, _ := json.Marshal(map[string]string{"text": text}) // strings always marshal
	w.Header().Set("Content-Type", "application/json")
	switch f {
	case Cut:
		w.Header().Set("Content-Length", fmt.Sprint(len(body)+100))
		w.Write(body[:len(body)/2])
		panic(http.ErrAbortHandler)
	case Stall:
		w.Write(body[:len(body)/2])
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	default:
		w.Write(body)
	}
}

// readForm takes the multipart body apart.
func readForm(r *http.Request) (form map[string]string, file []byte, err error) {
	kind, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/form-data" {
		return nil, nil, fmt.Errorf("content type %q", r.Header.Get("Content-Type"))
	}
	mr := multipart.NewReader(r.Body, params["boundary"])
	form = map[string]string{}
	for {
		part, err := mr.NextPart()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, nil, err
		}
		name := part.FormName()
		if _, twice := form[name]; twice || !fields[name] {
			return nil, nil, fmt.Errorf("field %q is unknown or comes twice", name)
		}
		b, err := io.ReadAll(part)
		if err != nil {
			return nil, nil, err
		}
		if name != "file" {
			form[name] = string(b)
			continue
		}
		if ext := filepath.Ext(part.FileName()); ext != ".wav" {
			return nil, nil, fmt.Errorf("the file's name %q does not tell its format", part.FileName())
		}
		form[name], file = "", b
	}
	if file == nil {
		return nil, nil, fmt.Errorf("no file")
	}
	return form, file, nil
}

// CheckWAV reads a recording as strictly as nobody else does and returns its
// samples: canonical header with true lengths, 16 kHz, mono, 16 bit, between
// 0.1 and 60 seconds, neither silent nor clipped.
func CheckWAV(b []byte) ([]int16, error) {
	le := binary.LittleEndian
	if len(b) < 44 || string(b[:4]) != "RIFF" || string(b[8:16]) != "WAVEfmt " || string(b[36:40]) != "data" {
		return nil, fmt.Errorf("no canonical WAV header in %d bytes", len(b))
	}
	for _, c := range []struct {
		what      string
		got, want uint32
	}{
		{"RIFF length", le.Uint32(b[4:]), uint32(len(b) - 8)},
		{"format length", le.Uint32(b[16:]), 16},
		{"encoding", uint32(le.Uint16(b[20:])), 1},
		{"channels", uint32(le.Uint16(b[22:])), 1},
		{"rate", le.Uint32(b[24:]), 16000},
		{"bytes a second", le.Uint32(b[28:]), 32000},
		{"bytes a frame", uint32(le.Uint16(b[32:])), 2},
		{"bits", uint32(le.Uint16(b[34:])), 16},
		{"data length", le.Uint32(b[40:]), uint32(len(b) - 44)},
	} {
		if c.got != c.want {
			return nil, fmt.Errorf("%s is %d instead of %d", c.what, c.got, c.want)
		}
	}
	out := make([]int16, (len(b)-44)/2)
	clipped := 0
	for i := range out {
		out[i] = int16(le.Uint16(b[44+2*i:]))
		if out[i] == math.MaxInt16 || out[i] == math.MinInt16 {
			clipped++
		}
	}
	switch n, loud := len(out), rms(out); {
	case n < 1600 || n > 60*16000:
		return nil, fmt.Errorf("%.2f seconds", float64(n)/16000)
	case loud < 50:
		return nil, fmt.Errorf("silent: RMS %.1f", loud)
	case clipped > n/100:
		return nil, fmt.Errorf("%d of %d samples are clipped", clipped, n)
	}
	return out, nil
}

func rms(s []int16) float64 {
	var sum float64
	for _, v := range s {
		sum += float64(v) * float64(v)
	}
	return math.Sqrt(sum / float64(max(1, len(s))))
}
