package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

const (
	// answerBytes bounds a JSON answer, errorBytes what is read of a refusal.
	answerBytes = 1 << 20
	errorBytes  = 8 << 10
)

// Config describes a service.
type Config struct {
	// BaseURL is what stands before /audio/..., "https://host/v1".
	BaseURL string
	Model   string
	// Voice is for speech, default "alloy".
	Voice string
	// Languages is what the service is used for; empty is any.
	Languages []string
	// Key returns the secret, "" for none. Nil is none.
	Key func() string
	// Wait bounds a transcription, or each wait for more speech; default 20 s.
	Wait time.Duration
	// Client is for tests; nil makes one of the package's own.
	Client *http.Client
}

// service is what both directions share.
type service struct {
	base   *url.URL
	cfg    Config
	client *http.Client
}

func newService(cfg Config) (*service, error) {
	u, err := url.Parse(cfg.BaseURL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("base_url: want an address such as https://host/v1")
	}
	if cfg.Model == "" {
		return nil, errors.New("model: name the model that the service offers")
	}
	if cfg.Wait <= 0 {
		cfg.Wait = 20 * time.Second
	}
	if cfg.Key == nil {
		cfg.Key = func() string { return "" }
	}
	if cfg.Voice == "" {
		cfg.Voice = "alloy"
	}
	cfg.Languages = slices.Clone(cfg.Languages)
	client := &http.Client{}
	if cfg.Client != nil {
		*client = *cfg.Client
	} else {
		client.Transport = &http.Transport{
			Proxy:                  http.ProxyFromEnvironment,
			DialContext:            (&net.Dialer{Timeout: 5 * time.Second}).DialContext,
			TLSHandshakeTimeout:    5 * time.Second,
			MaxIdleConnsPerHost:    2,
			IdleConnTimeout:        30 * time.Second,
			MaxResponseHeaderBytes: 64 << 10,
			ForceAttemptHTTP2:      true,
		}
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return errRedirect }
	return &service{base: u, cfg: cfg, client: client}, nil
}

// name is the service's host, which tells people who understood or spoke.
func (s *service) name() string { return s.base.Host }

// langs is the configured list, nil for any.
func (s *service) langs() []string { return slices.Clone(s.cfg.Languages) }

// post sends a request and returns a 200's body, which the caller closes.
func (s *service) post(ctx context.Context, op, path, kind string, body []byte) (*http.Response, error) {
	u := s.base.JoinPath(path)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), bytes.NewReader(body))
	if err != nil {
		return nil, &Error{Op: op, Code: Unreachable, Err: err, Detail: "malformed address"}
	}
	key := s.cfg.Key()
	req.Header.Set("Content-Type", kind)
	req.Header.Set("User-Agent", "homeagent")
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return nil, s.failed(ctx, op, err)
	}
	if resp.StatusCode == http.StatusOK {
		return resp, nil
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(resp.Body, errorBytes)) // what came is enough
	return nil, &Error{Op: op, Code: codeOf(resp.StatusCode), Status: resp.StatusCode, Detail: said(text, key)}
}

// failed turns an error of the network into an *Error.
func (s *service) failed(ctx context.Context, op string, err error) *Error {
	e := &Error{Op: op, Code: Unreachable, Err: err, Detail: clean(rootText(err), s.cfg.Key())}
	var wait net.Error
	switch {
	case errors.Is(err, errRedirect):
		e.Code, e.Detail = NotFound, errRedirect.Error()
	case errors.Is(err, context.Canceled):
		e.Err, e.Detail = context.Canceled, "cancelled"
	case errors.Is(err, context.DeadlineExceeded) || errors.As(err, &wait) && wait.Timeout() || ctx.Err() != nil:
		e.Code = Slow
	}
	return e
}

// rootText is the network's own error without the address, which may hold
// what nobody should log.
func rootText(err error) string {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	return err.Error()
}

// said takes the message out of a refusal.
func said(body []byte, key string) string {
	var v struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
		Detail  json.RawMessage `json:"detail"`
	}
	text := string(body)
	if json.Unmarshal(body, &v) == nil {
		for _, raw := range []json.RawMessage{v.Error, v.Detail} {
			var obj struct {
				Message string `json:"message"`
			}
			var str string
			switch {
			case json.Unmarshal(raw, &obj) == nil && obj.Message != "":
				return clean(obj.Message, key)
			case json.Unmarshal(raw, &str) == nil && str != "":
				return clean(str, key)
			}
		}
		if v.Message != "" {
			text = v.Message
		}
	}
	if strings.HasPrefix(strings.TrimSpace(text), "<") {
		return "a web page instead of an answer"
	}
	return clean(text, key)
}

// nonsense is an answer that cannot be understood.
func (s *service) nonsense(op, format string, args ...any) *Error {
	return &Error{Op: op, Code: Nonsense, Detail: clean(fmt.Sprintf(format, args...), s.cfg.Key())}
}
