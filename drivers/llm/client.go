package llm

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"homeagent/agent/provider"
)

// Client is one model behind one server.
type Client struct {
	cfg  Config
	http *http.Client
	now  func() time.Time
}

var _ provider.Provider = (*Client)(nil)

// New checks the configuration; it opens no connection.
func New(cfg Config) (*Client, error) {
	cfg, err := cfg.fill()
	if err != nil {
		return nil, err
	}
	dialer := &net.Dialer{Timeout: 10 * time.Second}
	c := &Client{cfg: cfg, now: time.Now}
	c.http = &http.Client{
		// A redirect would carry the key to another host.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, DialContext: dialer.DialContext, TLSHandshakeTimeout: 10 * time.Second,
			MaxIdleConnsPerHost: 2, IdleConnTimeout: 90 * time.Second, ForceAttemptHTTP2: true,
			// The clock that judges certificates is the one that the words about them name.
			TLSClientConfig: &tls.Config{Time: func() time.Time { return c.now() }},
		},
	}
	return c, nil
}

// Name is the kind and the model, "deepseek/deepseek-flash".
func (c *Client) Name() string { return c.cfg.Kind + "/" + c.cfg.Model }

// Close drops idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Chat is ChatStream without the pieces.
func (c *Client) Chat(ctx context.Context, req provider.Request) (provider.Response, error) {
	return c.ChatStream(ctx, req, func(provider.Chunk) error { return nil })
}

// ChatStream sends the request and reads the answer as it comes.
func (c *Client) ChatStream(ctx context.Context, req provider.Request, emit func(provider.Chunk) error) (provider.Response, error) {
	body, err := json.Marshal(c.build(req))
	if err != nil {
		return provider.Response{}, &provider.Error{Provider: c.Name(), Kind: provider.Invalid, Err: err}
	}
	hreq, err := http.NewRequestWithContext(ctx, http.MethodPost, c.cfg.BaseURL+"/chat/completions", bytes.NewReader(body))
	if err != nil {
		return provider.Response{}, &provider.Error{Provider: c.Name(), Kind: provider.Invalid, Err: err}
	}
	hreq.Header.Set("Content-Type", "application/json")
	hreq.Header.Set("Accept", "text/event-stream")
	if c.cfg.Key != "" {
		hreq.Header.Set("Authorization", "Bearer "+c.cfg.Key)
	}
	hres, err := c.http.Do(hreq)
	if err != nil {
		return provider.Response{}, c.fail(ctx, err)
	}
	defer hres.Body.Close()
	if hres.StatusCode != http.StatusOK {
		return provider.Response{}, c.status(hres)
	}
	if err := emit(provider.Chunk{}); err != nil { // the headers are a sign of life
		return provider.Response{}, c.fail(ctx, &stopped{err})
	}
	guard := func(ch provider.Chunk) error {
		if err := emit(ch); err != nil {
			return &stopped{err}
		}
		return nil
	}
	res, err := read(&alive{r: hres.Body, left: maxAnswer, beat: func() error { return guard(provider.Chunk{}) }}, guard)
	res.Provider = c.Name()
	if err != nil {
		return provider.Response{}, c.fail(ctx, err)
	}
	return res, nil
}

// stopped is an error of the caller's emit.
type stopped struct{ err error }

func (e *stopped) Error() string { return e.err.Error() }
func (e *stopped) Unwrap() error { return e.err }

// fail turns what ended a request into a provider.Error.
func (c *Client) fail(ctx context.Context, err error) error {
	e := &provider.Error{Provider: c.Name(), Kind: provider.Network, Err: errors.New(c.redact(err.Error()))}
	var bad *malformed
	var ref *refused
	var stop *stopped
	switch {
	case ctx.Err() != nil:
		e.Kind, e.Err = provider.Canceled, context.Cause(ctx)
	case errors.As(err, &stop):
		e.Kind, e.Err = provider.Canceled, stop.err
	case errors.As(err, &ref):
		e.Kind, e.Message, e.Err = provider.Server, c.redact(ref.Message), nil
	case errors.As(err, &bad), errors.Is(err, errTooLong):
		e.Kind = provider.Malformed
	case errors.Is(err, io.ErrUnexpectedEOF):
		e.Message = "the connection ended in the middle of the answer"
	default:
		if f := c.unreachable(err); f != nil {
			e.Err = f
		}
	}
	return e
}

// status turns an HTTP error into a provider.Error with the server's own words.
func (c *Client) status(res *http.Response) error {
	e := &provider.Error{Provider: c.Name(), Status: res.StatusCode, Kind: provider.Invalid}
	switch {
	case res.StatusCode == 401 || res.StatusCode == 403:
		e.Kind = provider.Auth
	case res.StatusCode == 402:
		e.Kind = provider.Balance
	case res.StatusCode == 408 || res.StatusCode == 425 || res.StatusCode >= 500:
		e.Kind = provider.Server
	case res.StatusCode == 429:
		e.Kind = provider.RateLimit
	}
	e.RetryAfter = retryAfter(res.Header.Get("Retry-After"), c.now())
	text, _ := io.ReadAll(io.LimitReader(res.Body, 64<<10)) // half an error text is better than none
	var w struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
	}
	msg := strings.TrimSpace(string(text))
	if json.Unmarshal(text, &w) == nil {
		var obj wireError
		var plain string
		switch {
		case json.Unmarshal(w.Error, &obj) == nil && obj.Message != "":
			msg = obj.Message
		case json.Unmarshal(w.Error, &plain) == nil && plain != "":
			msg = plain
		case w.Message != "":
			msg = w.Message
		}
	}
	e.Message = c.redact(cut(msg, 500))
	return e
}

// cut shortens a text to at most n bytes at a character's border.
func cut(s string, n int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

// redact removes the key, whole or as the tail that servers like to echo.
func (c *Client) redact(s string) string {
	if c.cfg.Key == "" {
		return s
	}
	s = strings.ReplaceAll(s, c.cfg.Key, "[key]")
	if n := len(c.cfg.Key); n >= 12 {
		s = strings.ReplaceAll(s, c.cfg.Key[n-4:], "[key]")
	}
	return s
}

// retryAfter reads the header as seconds or as a date (RFC 9110, 10.2.3).
func retryAfter(v string, now time.Time) time.Duration {
	if v == "" {
		return 0
	}
	if n, err := strconv.Atoi(strings.TrimSpace(v)); err == nil {
		return time.Duration(min(max(n, 0), 86400)) * time.Second
	}
	if t, err := http.ParseTime(v); err == nil {
		return min(max(t.Sub(now), 0), 24*time.Hour)
	}
	return 0
}

// String keeps the key out of a log that prints a client.
func (c *Client) String() string { return fmt.Sprintf("llm client %s at %s", c.Name(), c.cfg.BaseURL) }
