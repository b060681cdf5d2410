package door

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net"
	"net/http"
	"net/http/httputil"
	"strings"

	"homeagent/drivers/web/link"
	"homeagent/drivers/web/problem"
	"homeagent/drivers/web/sse"
)

type callKey struct{}

// maxStatus bounds the agent's part of the status, in bytes.
const maxStatus = 1 << 20

func (s *server) transport() *http.Transport {
	return &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			peer := ""
			if c, ok := ctx.Value(callKey{}).(*call); ok {
				peer = c.peer.addr
			}
			return s.hub.Open(ctx, link.Header{Kind: link.API, Peer: peer})
		},
		// A stream costs nothing to open, and one kept open would not survive the
		// agent's next restart.
		DisableKeepAlives:  true,
		DisableCompression: true,
	}
}

// newProxy passes requests to the agent and its answers back, each piece at once.
func (s *server) newProxy() http.Handler {
	return &httputil.ReverseProxy{
		Transport:     s.transport(),
		FlushInterval: -1,
		ErrorLog:      slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
		Rewrite: func(pr *httputil.ProxyRequest) {
			c := pr.In.Context().Value(callKey{}).(*call)
			out := pr.Out
			out.URL.Scheme, out.URL.Host, out.Host = "http", "agent", "agent"
			// What the outside may not say, and what the agent has no need to hear.
			for name := range out.Header {
				if strings.HasPrefix(name, "X-Homeagent") || strings.HasPrefix(name, "X-Forwarded") {
					out.Header.Del(name)
				}
			}
			out.Header.Del("Cookie")
			out.Header.Del("Authorization")
			out.Header.Set(link.HeaderSession, c.who.name)
			out.Header.Set(link.HeaderLang, c.lang)
			out.Header.Set(link.HeaderPeer, c.peer.addr)
		},
		ModifyResponse: func(resp *http.Response) error {
			h := resp.Header
			for name := range h {
				switch name {
				case "Content-Type", "Content-Length", "Content-Disposition", "Retry-After", "X-Accel-Buffering", "Allow":
				default: // the door's own headers stand, and the agent sets no cookie
					h.Del(name)
				}
			}
			if !safeType(h.Get("Content-Type")) {
				h.Set("Content-Type", "application/octet-stream")
			}
			return nil
		},
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			c := r.Context().Value(callKey{}).(*call)
			var big *http.MaxBytesError
			switch {
			case errors.As(err, &big):
				c.fail(kTooBig)
			case errors.Is(err, link.ErrBusy):
				c.fail(kBusy)
			case errors.Is(err, link.ErrNoAgent):
				c.w.Header().Set("Retry-After", "2")
				c.fail(kNoAgent)
			case isTimeout(err) && r.Context().Err() == nil:
				c.w.Header().Set("Connection", "close")
				c.fail(kSlowBody)
			default:
				if r.Context().Err() == nil {
					s.log.Warn("the agent did not answer", "path", r.URL.Path, "err", err)
				}
				c.fail(kLost)
			}
		},
	}
}

// safeType keeps the agent from answering with what a browser would run.
func safeType(ct string) bool {
	mt, _, err := mime.ParseMediaType(ct)
	switch {
	case err != nil:
		return false
	case mt == "application/json", mt == problem.ContentType, mt == sse.ContentType, mt == "text/plain",
		mt == "application/octet-stream", mt == "application/x-ndjson":
		return true
	}
	return strings.HasPrefix(mt, "audio/") || (strings.HasPrefix(mt, "image/") && mt != "image/svg+xml")
}

// toAgent passes a call on.
func (s *server) toAgent(c *call, name string) {
	limit := s.opt.Limits.Body
	switch {
	case name == "hear", name == "wake": // recordings
		limit = s.opt.Limits.Upload
	case c.r.URL.Path == apiPrefix+"memory/import": // years of memory, which go to the disk as they come
		limit = s.opt.Limits.Import
	}
	if c.r.ContentLength > limit {
		c.fail(kTooBig)
		return
	}
	select {
	case s.streams <- struct{}{}:
		defer func() { <-s.streams }()
	default:
		c.fail(kBusy)
		return
	}
	done, ok := s.scoped(c)
	if !ok {
		c.fail(kBusy)
		return
	}
	defer done()
	c.r = c.r.WithContext(context.WithValue(c.r.Context(), callKey{}, c))
	c.r.Body = http.MaxBytesReader(c.w, c.r.Body, limit)
	s.proxy.ServeHTTP(c.w, c.r)
}

// agentStatus asks the agent for its part of the status.
func (s *server) agentStatus(ctx context.Context, c *call) (json.RawMessage, error) {
	ctx = context.WithValue(ctx, callKey{}, c)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://agent"+apiPrefix+"status", nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set(link.HeaderSession, c.who.name)
	req.Header.Set(link.HeaderLang, c.lang)
	resp, err := s.transport().RoundTrip(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	j, err := io.ReadAll(io.LimitReader(resp.Body, maxStatus))
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK || !json.Valid(j) {
		return nil, fmt.Errorf("status %d", resp.StatusCode)
	}
	return j, nil
}
