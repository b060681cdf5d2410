package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"mime/multipart"
	"strings"
	"time"
	"unicode/utf8"

	"homeagent/agent/pcm"
	"homeagent/agent/pcm/wav"
	"homeagent/drivers/voice/speech"
)

const (
	// promptRunes bounds the prompt; services read about its last 224 tokens.
	promptRunes = 400
	// longestAudio is what one request may hold; the voice path cuts at a minute.
	longestAudio = 5 * time.Minute
)

// Transcriber understands speech over the network.
type Transcriber struct{ s *service }

var _ speech.Recognizer = (*Transcriber)(nil)

// NewTranscriber checks the configuration; it connects to nothing yet.
func NewTranscriber(cfg Config) (*Transcriber, error) {
	s, err := newService(cfg)
	if err != nil {
		return nil, err
	}
	return &Transcriber{s}, nil
}

// Name implements speech.Recognizer: the service's host.
func (t *Transcriber) Name() string { return t.s.name() }

// Langs implements speech.Recognizer.
func (t *Transcriber) Langs() []string { return t.s.langs() }

// Recognize implements speech.Recognizer. Audio that is empty is understood as
// nothing without asking. The hint's grammar is not used.
func (t *Transcriber) Recognize(ctx context.Context, audio []int16, hint speech.Hint) (speech.Transcript, error) {
	const op = "transcribe"
	if err := ctx.Err(); err != nil {
		return speech.Transcript{}, t.s.failed(ctx, op, err)
	}
	if len(audio) == 0 {
		return speech.Transcript{Engine: t.Name()}, nil
	}
	if most := pcm.Voice.Samples(longestAudio); len(audio) > most {
		audio = audio[:most]
	}
	body, kind, err := t.form(audio, hint)
	if err != nil {
		return speech.Transcript{}, &Error{Op: op, Code: Refused, Err: err, Detail: err.Error()}
	}
	ctx, cancel := context.WithTimeout(ctx, t.s.cfg.Wait)
	defer cancel()
	resp, err := t.s.post(ctx, op, "audio/transcriptions", kind, body)
	if err != nil {
		return speech.Transcript{}, err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, answerBytes+1))
	switch {
	case err != nil:
		return speech.Transcript{}, t.s.failed(ctx, op, err)
	case len(raw) > answerBytes:
		return speech.Transcript{}, t.s.nonsense(op, "more than %d bytes", answerBytes)
	}
	var v struct {
		Text     *string `json:"text"`
		Language string  `json:"language"`
	}
	if err := json.Unmarshal(raw, &v); err != nil || v.Text == nil {
		return speech.Transcript{}, t.s.nonsense(op, "no text in %q", head(raw))
	}
	lang := language(v.Language)
	if lang == "" {
		lang = hint.Lang
	}
	return speech.Transcript{Text: strings.TrimSpace(*v.Text), Lang: lang, Engine: t.Name()}, nil
}

// form builds the multipart body.
func (t *Transcriber) form(audio []int16, hint speech.Hint) (body []byte, kind string, err error) {
	file, err := wav.Encode(pcm.Voice, audio)
	if err != nil {
		return nil, "", err
	}
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	fields := [][2]string{{"model", t.s.cfg.Model}, {"response_format", "json"}}
	if hint.Lang != "" {
		fields = append(fields, [2]string{"language", hint.Lang})
	}
	if p := prompt(hint.Words); p != "" {
		fields = append(fields, [2]string{"prompt", p})
	}
	for _, f := range fields {
		if err := w.WriteField(f[0], f[1]); err != nil {
			return nil, "", err
		}
	}
	part, err := w.CreateFormFile("file", "speech.wav")
	if err != nil {
		return nil, "", err
	}
	if _, err := part.Write(file); err != nil {
		return nil, "", err
	}
	if err := w.Close(); err != nil {
		return nil, "", err
	}
	return b.Bytes(), w.FormDataContentType(), nil
}

// prompt lists the names that are likely to be heard, as many as fit whole.
func prompt(words []string) string {
	var b strings.Builder
	left := promptRunes
	for _, w := range words {
		w = strings.Join(strings.Fields(strings.ToValidUTF8(w, "")), " ")
		c := utf8.RuneCountInString(w)
		if w == "" || c+2 > left {
			continue
		}
		if b.Len() > 0 {
			b.WriteString(", ")
		}
		b.WriteString(w)
		left -= c + 2
	}
	return b.String()
}

// language maps what services call languages to ours, "" for unknown.
func language(s string) string {
	switch s = strings.ToLower(s); {
	case strings.HasPrefix(s, "zh"), s == "chinese", s == "mandarin", s == "cmn":
		return "zh"
	case strings.HasPrefix(s, "en"):
		return "en"
	}
	return ""
}

// head is the beginning of an answer, for an error.
func head(b []byte) []byte { return b[:min(len(b), 80)] }
