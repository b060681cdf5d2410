package rest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"homeagent/memory/embed"
)

// Bounds in bytes and numbers.
const (
	maxBatch  = 64        // texts of one request
	maxBytes  = 256 << 10 // of the texts of one request
	maxText   = 8 << 10   // of one text; the rest is cut
	maxAnswer = 32 << 20
	maxError  = 8 << 10
)

// The tries of one request and the pauses between them; a server may ask for a
// longer one, up to longestPause.
const (
	tries        = 3
	firstPause   = 500 * time.Millisecond
	longestPause = 20 * time.Second
)

// Config is one model on one server.
type Config struct {
	// BaseURL is what stands before the dialect's path.
	BaseURL string
	Model   string
	// Key is the secret itself, "" for servers that want none.
	Key string
	// Wait bounds one try, 30 s by default.
	Wait time.Duration
	// Dial connects; nil is the system's way.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
}

// Dialect is how one kind of server is spoken to.
type Dialect struct {
	// Kind is the first part of the embedder's name.
	Kind string
	// Path stands behind BaseURL.
	Path string
	// Request makes what is sent as JSON.
	Request func(model string, texts []string) any
	// Parse reads the vectors of n texts from an answer. It need not look at their
	// numbers.
	Parse func(body []byte, n int) ([][]float32, error)
}

// Client is an Embedder behind a network.
type Client struct {
	d    Dialect
	cfg  Config
	addr string
	http *http.Client

	mu  sync.Mutex
	dim int
}

var _ embed.Embedder = (*Client)(nil)

// New checks the configuration; it opens no connection.
func New(d Dialect, cfg Config) (*Client, error) {
	u, err := url.Parse(cfg.BaseURL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("embed: base_url %q is no web address; it looks like http://127.0.0.1:11434", cfg.BaseURL)
	}
	if cfg.Model == "" || len(cfg.Model) > 200 || strings.ContainsFunc(cfg.Model, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return nil, errors.New("embed: model must name the model that the server offers")
	}
	if strings.ContainsAny(cfg.Key, "\r\n") {
		return nil, errors.New("embed: the key holds a line break; set it again")
	}
	if cfg.Wait <= 0 {
		cfg.Wait = 30 * time.Second
	}
	if cfg.Dial == nil {
		cfg.Dial = (&net.Dialer{Timeout: 5 * time.Second}).DialContext
	}
	return &Client{d: d, cfg: cfg, addr: u.JoinPath(d.Path).String(), http: &http.Client{
		// A redirect would carry the key to another host.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, DialContext: cfg.Dial, TLSHandshakeTimeout: 5 * time.Second,
			MaxIdleConnsPerHost: 2, IdleConnTimeout: 30 * time.Second, MaxResponseHeaderBytes: 64 << 10, ForceAttemptHTTP2: true,
		},
	}}, nil
}

// Name is the kind and the model, "ollama/bge-m3".
func (c *Client) Name() string { return c.d.Kind + "/" + c.cfg.Model }

// Close drops idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Dim is the length of the first vector that came, 0 before.
func (c *Client) Dim() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.dim
}

// Embed asks for the vectors of texts, some at a time. A blank text is not sent
// and its vector is zero. Errors are *Error or the context's.
func (c *Client) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	out := make([][]float32, len(texts))
	var batch []string
	var places []int
	size := 0
	flush := func() error {
		if len(batch) == 0 {
			return nil
		}
		vectors, err := c.try(ctx, batch)
		for i, v := range vectors {
			out[places[i]] = v
		}
		batch, places, size = batch[:0], places[:0], 0
		return err
	}
	for i, text := range texts {
		if text = plain(text); text == "" {
			continue
		}
		if len(batch) == maxBatch || size+len(text) > maxBytes {
			if err := flush(); err != nil {
				return nil, err
			}
		}
		batch, places, size = append(batch, text), append(places, i), size+len(text)
	}
	if err := flush(); err != nil {
		return nil, err
	}
	for i, v := range out {
		if v == nil {
			out[i] = make([]float32, c.Dim())
		}
	}
	return out, nil
}

// plain is what is sent of a text: its beginning, whole signs, no zero bytes.
func plain(text string) string {
	text = strings.TrimSpace(strings.ReplaceAll(strings.ToValidUTF8(text[:min(len(text), maxText+utf8.UTFMax)], " "), "\x00", " "))
	for len(text) > maxText {
		_, n := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-n]
	}
	return text
}

// try asks until it is answered, at most tries times.
func (c *Client) try(ctx context.Context, texts []string) ([][]float32, error) {
	body, err := json.Marshal(c.d.Request(c.cfg.Model, texts))
	if err != nil {
		return nil, &Error{Code: Refused, Detail: "the request cannot be written", Err: err}
	}
	pause := firstPause
	for n := 1; ; n++ {
		out, asked, err := c.once(ctx, body, len(texts))
		var e *Error
		if err == nil || n == tries || !errors.As(err, &e) || !e.again() {
			return out, err
		}
		t := time.NewTimer(min(max(pause, asked), longestPause))
		select {
		case <-ctx.Done():
			t.Stop()
			return nil, ctx.Err()
		case <-t.C:
		}
		pause *= 2
	}
}

// once asks once. asked is the pause that the server wants.
func (c *Client) once(ctx context.Context, body []byte, n int) (out [][]float32, asked time.Duration, err error) {
	wait, cancel := context.WithTimeout(ctx, c.cfg.Wait)
	defer cancel()
	req, err := http.NewRequestWithContext(wait, http.MethodPost, c.addr, bytes.NewReader(body))
	if err != nil {
		return nil, 0, &Error{Code: Refused, Detail: "malformed address", Err: err}
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "homeagent")
	if c.cfg.Key != "" {
		req.Header.Set("Authorization", "Bearer "+c.cfg.Key)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, 0, c.failed(ctx, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, maxError)) // what came of it is enough
		if s, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && s > 0 {
			asked = time.Duration(min(s, int(longestPause/time.Second))) * time.Second
		}
		return nil, asked, &Error{Code: codeOf(resp.StatusCode), Status: resp.StatusCode, Detail: clean(string(text), c.cfg.Key)}
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil {
		return nil, 0, c.failed(ctx, err)
	}
	if len(text) > maxAnswer {
		return nil, 0, &Error{Code: Nonsense, Status: resp.StatusCode, Detail: "the answer has no end"}
	}
	out, err = c.d.Parse(text, n)
	if err == nil {
		err = c.sound(out, n)
	}
	if err != nil {
		return nil, 0, &Error{Code: Nonsense, Status: resp.StatusCode, Detail: clean(err.Error(), c.cfg.Key), Err: err}
	}
	return out, 0, nil
}

// sound checks vectors and gives them unit length.
func (c *Client) sound(vectors [][]float32, n int) error {
	if len(vectors) != n {
		return fmt.Errorf("%d vectors for %d texts", len(vectors), n)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	dim := c.dim
	for _, v := range vectors {
		if dim == 0 {
			dim = len(v)
		}
		if len(v) != dim || dim < 1 || dim > embed.MaxDim {
			return fmt.Errorf("a vector of %d dimensions where %d are expected: %w", len(v), dim, embed.ErrDim)
		}
		for _, x := range v {
			if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
				return errors.New("a vector holds what is no number")
			}
		}
		if !embed.Normalize(v) {
			return errors.New("a vector is zero")
		}
	}
	c.dim = dim
	return nil
}

// failed words an error of the network, without the address, which may hold a secret.
func (c *Client) failed(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var ue *url.Error
	if errors.As(err, &ue) {
		err = ue.Err
	}
	code := Unreachable
	var te interface{ Timeout() bool }
	if errors.As(err, &te) && te.Timeout() {
		code = Slow
	}
	return &Error{Code: code, Detail: clean(err.Error(), c.cfg.Key), Err: err}
}

// Strict reads one JSON value that is the whole of body.
func Strict(body []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(body))
	if err := d.Decode(to); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("something follows the answer")
	}
	return nil
}
