package client

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
	"strings"
	"time"

	"homeagent/drivers/web/problem"
	"homeagent/drivers/web/sse"
)

// maxAnswer bounds an answer that Do decodes, in bytes.
const maxAnswer = 64 << 20

// ErrUnreachable is wrapped when no door answers at the address.
var ErrUnreachable = errors.New("the door does not answer")

// Client calls the API of one door.
type Client struct {
	base  string
	token string
	lang  string
	http  *http.Client
}

// Unix makes a client for the door's unix socket. lang is "zh" or "en", the
// language of the words in answers; "" leaves it to the door.
func Unix(socket, lang string) *Client {
	d := net.Dialer{Timeout: 5 * time.Second}
	return newClient("http://localhost", "", lang, func(ctx context.Context, _, _ string) (net.Conn, error) {
		return d.DialContext(ctx, "unix", socket)
	})
}

// TCP makes a client for a base address such as "http://homeagent.local:8080"
// with a token of `homectl token new`.
func TCP(base, token, lang string) (*Client, error) {
	u, err := url.Parse(base)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return nil, fmt.Errorf("address %q: want http://HOST[:PORT]", base)
	}
	d := net.Dialer{Timeout: 5 * time.Second}
	return newClient(u.Scheme+"://"+u.Host, token, lang, d.DialContext), nil
}

func newClient(base, token, lang string, dial func(context.Context, string, string) (net.Conn, error)) *Client {
	return &Client{base: base, token: token, lang: lang, http: &http.Client{
		Transport: &http.Transport{DialContext: dial, IdleConnTimeout: 30 * time.Second},
		// A redirect would carry the token elsewhere; the API has none.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Close ends idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Do calls path below /api/v1 ("status", "chat/history?limit=20"). body is
// sent as JSON unless it is nil or an io.Reader, which goes out as it is with
// the type "application/octet-stream". out, if not nil, receives the JSON
// answer; a *bytes.Buffer receives its bytes whatever they are.
func (c *Client) Do(ctx context.Context, method, path string, body, out any) error {
	resp, err := c.send(ctx, method, path, "application/json", body)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	switch o := out.(type) {
	case nil:
		return nil
	case *bytes.Buffer:
		_, err = o.ReadFrom(io.LimitReader(resp.Body, maxAnswer))
		return err
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxAnswer)).Decode(out); err != nil {
		return fmt.Errorf("%s %s: answer is not what was expected: %w", method, path, err)
	}
	return nil
}

// Upload is a body with a type of its own.
type Upload struct {
	ContentType string
	Body        io.Reader
}

// Open calls path as Do does and returns the answer's body as it comes, for
// answers that are lines or files. The caller closes it.
func (c *Client) Open(ctx context.Context, method, path string, body any) (io.ReadCloser, error) {
	resp, err := c.send(ctx, method, path, "*/*", body)
	if err != nil {
		return nil, err
	}
	return resp.Body, nil
}

// Stream is an answer that comes as events. One goroutine reads it.
type Stream struct {
	body io.Closer
	*sse.Reader
}

// NewStream reads events from an answer's body that was fetched otherwise.
func NewStream(body io.ReadCloser) *Stream {
	return &Stream{body: body, Reader: sse.NewReader(body)}
}

// Close ends the stream.
func (s *Stream) Close() error { return s.body.Close() }

// Stream calls path as Do does and returns the events of the answer. The
// stream ends with the context.
func (c *Client) Stream(ctx context.Context, method, path string, body any) (*Stream, error) {
	resp, err := c.send(ctx, method, path, sse.ContentType, body)
	if err != nil {
		return nil, err
	}
	if ct := resp.Header.Get("Content-Type"); !strings.HasPrefix(ct, sse.ContentType) {
		resp.Body.Close()
		return nil, fmt.Errorf("%s %s: answer is %q, not a stream of events", method, path, ct)
	}
	return NewStream(resp.Body), nil
}

func (c *Client) send(ctx context.Context, method, path, accept string, body any) (*http.Response, error) {
	var r io.Reader
	ct := "application/json"
	switch b := body.(type) {
	case nil:
		ct = ""
	case Upload:
		r, ct = b.Body, b.ContentType
	case io.Reader:
		r, ct = b, "application/octet-stream"
	default:
		j, err := json.Marshal(b)
		if err != nil {
			return nil, err
		}
		r = bytes.NewReader(j)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.base+"/api/v1/"+strings.TrimPrefix(path, "/"), r)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", accept)
	if ct != "" {
		req.Header.Set("Content-Type", ct)
	}
	if c.lang != "" {
		req.Header.Set("Accept-Language", c.lang)
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		if ctx.Err() == nil && isDial(err) {
			return nil, fmt.Errorf("%w: %w", ErrUnreachable, err)
		}
		return nil, err
	}
	if resp.StatusCode >= 300 {
		defer resp.Body.Close()
		return nil, problem.Read(resp)
	}
	return resp, nil
}

func isDial(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}
