package link

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/hashicorp/yamux"
)

// Options are what the agent's side needs.
type Options struct {
	// Dial reaches the door's unix socket.
	Dial func(ctx context.Context) (net.Conn, error)
	// Secret is what the supervisor gave to door and agent.
	Secret string
	// Handle owns the stream until it returns; it is closed then. The context
	// ends with the link.
	Handle func(ctx context.Context, h Header, conn net.Conn)
	// Changed, if set, is told when the link comes and goes.
	Changed func(up bool)
	Log     *slog.Logger
	// MinWait and MaxWait bound the pause between two dials; 0 means 50 ms and 5 s.
	MinWait, MaxWait time.Duration
}

// errRefused is a door that does not take this agent's secret.
var errRefused = errors.New("link: the door refused the link secret")

// Run keeps a link up until the context ends, and then returns nil after the
// handlers have returned. A door that is away is dialled again for ever: the
// supervisor brings it back.
func Run(ctx context.Context, o Options) error {
	if o.Dial == nil || o.Handle == nil || o.Secret == "" {
		return errors.New("link: Dial, Handle and Secret are needed")
	}
	if o.MinWait <= 0 {
		o.MinWait = 50 * time.Millisecond
	}
	if o.MaxWait <= 0 {
		o.MaxWait = 5 * time.Second
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	wait, told := o.MinWait, ""
	for ctx.Err() == nil {
		s, err := connect(ctx, o)
		if err != nil {
			// The same trouble is said once, not every five seconds for a night.
			if ctx.Err() == nil && err.Error() != told {
				told = err.Error()
				o.Log.Warn("no link to the door, trying on", "err", err)
			}
			// Full jitter on the upper half keeps several agents from knocking in step.
			pause(ctx, wait/2+rand.N(wait/2+1))
			wait = min(wait*2, o.MaxWait)
			continue
		}
		wait, told = o.MinWait, ""
		o.Log.Info("linked to the door")
		if o.Changed != nil {
			o.Changed(true)
		}
		serve(ctx, s, o)
		if o.Changed != nil {
			o.Changed(false)
		}
		if ctx.Err() == nil {
			o.Log.Warn("the link to the door ended")
			pause(ctx, rand.N(o.MinWait+1))
		}
	}
	return nil
}

func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// connect dials, upgrades and starts yamux.
func connect(ctx context.Context, o Options) (*yamux.Session, error) {
	ctx, cancel := context.WithTimeout(ctx, shakeTime)
	defer cancel()
	conn, err := o.Dial(ctx)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	_ = conn.SetDeadline(time.Now().Add(shakeTime))
	br := bufio.NewReader(conn)
	if err := upgrade(conn, br, o.Secret); err != nil {
		conn.Close()
		return nil, err
	}
	_ = conn.SetDeadline(time.Time{})
	s, err := yamux.Server(&bufferedConn{Conn: conn, r: br}, sessionConfig())
	if err != nil {
		conn.Close()
		return nil, err
	}
	return s, nil
}

func upgrade(conn net.Conn, br *bufio.Reader, secret string) error {
	req, err := http.NewRequest(http.MethodGet, "http://door"+Path, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Connection", "Upgrade")
	req.Header.Set("Upgrade", protocol)
	req.Header.Set(secretHeader, secret)
	if err := req.Write(conn); err != nil {
		return fmt.Errorf("link: %w", err)
	}
	resp, err := http.ReadResponse(br, req)
	if err != nil {
		return fmt.Errorf("link: %w", err)
	}
	resp.Body.Close()
	switch resp.StatusCode {
	case http.StatusSwitchingProtocols:
		return nil
	case http.StatusForbidden:
		return errRefused
	}
	return fmt.Errorf("link: the door answered %s", resp.Status)
}

// serve hands out the streams of one session until it or the context ends, and
// waits for their handlers.
func serve(ctx context.Context, s *yamux.Session, o Options) {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	stop := context.AfterFunc(ctx, func() { s.Close() })
	defer stop()
	defer s.Close()
	slots := make(chan struct{}, maxStreams)
	for {
		st, err := s.AcceptStream()
		if err != nil {
			return
		}
		select {
		case slots <- struct{}{}:
		default:
			o.Log.Warn("stream refused: too many are open")
			st.Close()
			continue
		}
		wg.Add(1)
		go func() {
			defer wg.Done()
			defer func() { <-slots }()
			defer st.Close()
			_ = st.SetReadDeadline(time.Now().Add(shakeTime))
			h, err := ReadHeader(st)
			if err != nil {
				o.Log.Warn("stream dropped", "err", err)
				return
			}
			_ = st.SetReadDeadline(time.Time{})
			o.Handle(ctx, h, st)
		}()
	}
}
