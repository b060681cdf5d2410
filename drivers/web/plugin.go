package web

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"homeagent/agent/event"
	"homeagent/agent/plugin"
	"homeagent/drivers/web/link"
)

// Registry is what the host lends beyond the plugin API: what the other
// plugins have registered for the outside.
type Registry interface {
	// Endpoint finds the handler of /api/v1/<name>.
	Endpoint(name string) (plugin.EndpointHandler, bool)
	// Stream finds the handler of a protocol whose connections the door accepts.
	Stream(name string) (plugin.StreamHandler, bool)
	// Status is the agent's part of GET /status; it must marshal to JSON. Lang
	// tells the language that its words should be in.
	Status(ctx context.Context) any
}

// Historian is an optional power of a Registry: the conversation as memory
// keeps it, which outlives this plugin's own short list.
type Historian interface {
	// History returns at most limit items that came before the one with the
	// id, the newest if before is "", oldest first. Items are made by ItemOf,
	// so that one that this plugin has as well is known again. What stands before
	// the "/" of an id is enough to find the place: no item of the same input is
	// returned. An id that memory does not know has none before it.
	History(ctx context.Context, limit int, before string) ([]Item, error)
}

// Options are what the agent's main program gives.
type Options struct {
	Registry Registry
	// Socket is the path of the door's unix socket.
	Socket string
	// Dial reaches the door in place of Socket, for tests.
	Dial func(ctx context.Context) (net.Conn, error)
	// LinkSecret proves this agent to the door.
	LinkSecret string
	// Version is the agent's.
	Version string
}

// aliveEvery is how often a silent event stream says that it lives; answerTime
// how long a chat is held open for its answer.
const (
	aliveEvery = 15 * time.Second
	answerTime = 30 * time.Minute
	injectTime = 30 * time.Second
	saveEvery  = 5 * time.Minute
)

// Plugin is the web plugin.
type Plugin struct {
	opt Options

	mu    sync.Mutex
	stop  func(context.Context) // nil while it does not run
	agent *agent                // the last one started, nil before
}

var _ plugin.Plugin = (*Plugin)(nil)

// New makes the plugin; it has no effect before Start.
func New(o Options) *Plugin { return &Plugin{opt: o} }

// Name is "web".
func (p *Plugin) Name() string { return "web" }

// Version is that of the agent.
func (p *Plugin) Version() string {
	if p.opt.Version == "" {
		return "dev"
	}
	return p.opt.Version
}

// Start registers the channels, listens to events and begins to dial the door.
// A door that is away is no error: it is dialled until it comes.
func (p *Plugin) Start(_ context.Context, api plugin.API) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.stop != nil:
		return errors.New("web: started already")
	case p.opt.Registry == nil:
		return errors.New("web: no registry")
	case p.opt.LinkSecret == "":
		return errors.New("web: no link secret; the agent is started by homed, which gives it one")
	case p.opt.Socket == "" && p.opt.Dial == nil:
		return errors.New("web: no address of the door")
	}
	ctx, cancel := context.WithCancel(context.Background())
	a := &agent{
		api: api, reg: p.opt.Registry, log: api.Log(), ctx: ctx,
		turns: newTurns(), feed: newFeed(), history: newHistory(),
	}
	a.history.load(api.Store(), a.log)
	for _, name := range []string{"web", "console"} {
		if err := api.Channel(name, channel{a}); err != nil {
			cancel()
			return err
		}
	}
	undo := api.Subscribe(event.All, a.event)

	conns := newConnListener()
	srv := &http.Server{
		Handler:           a,
		ReadHeaderTimeout: 10 * time.Second,
		MaxHeaderBytes:    32 << 10,
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ErrorLog:          slog.NewLogLogger(a.log.Handler(), slog.LevelDebug),
	}
	dial := p.opt.Dial
	if dial == nil {
		dial = func(ctx context.Context) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", p.opt.Socket)
		}
	}
	var wg sync.WaitGroup
	wg.Go(func() { _ = srv.Serve(conns) }) // ends when conns is closed
	wg.Go(func() {
		err := link.Run(ctx, link.Options{Dial: dial, Secret: p.opt.LinkSecret, Log: a.log, Handle: func(ctx context.Context, h link.Header, c net.Conn) {
			a.stream(ctx, h, c, conns)
		}})
		if err != nil {
			a.log.Error("no link to the door", "err", err)
		}
	})
	wg.Go(func() {
		t := time.NewTicker(saveEvery)
		defer t.Stop()
		for {
			select {
			case <-t.C:
				a.history.save(api.Store(), a.log)
			case <-ctx.Done():
				return
			}
		}
	})
	p.agent = a
	p.stop = func(ctx context.Context) {
		undo()
		cancel()
		// Every request's context has ended; this waits for the handlers to notice.
		if srv.Shutdown(ctx) != nil {
			srv.Close()
		}
		wg.Wait()
		a.history.save(api.Store(), a.log)
	}
	return nil
}

// Forget takes what holds some words out of the page's history, which is saved
// at once. holds tells whether a text does. A page that is open shows it until
// it is loaded again. Before Start it does nothing.
func (p *Plugin) Forget(holds func(text string) bool) error {
	p.mu.Lock()
	a := p.agent
	p.mu.Unlock()
	if a == nil {
		return nil
	}
	a.history.forget(func(it Item) bool {
		return !holds(it.Text) && (it.Call == nil || !holds(string(it.Call.Args)))
	})
	return a.history.save(a.api.Store(), a.log)
}

// Stop ends the link and every stream, and keeps the history. Calling it twice
// is harmless.
func (p *Plugin) Stop(ctx context.Context) error {
	p.mu.Lock()
	stop := p.stop
	p.stop = nil
	p.mu.Unlock()
	if stop == nil {
		return nil
	}
	done := make(chan struct{})
	go func() { // ends with the last handler; one that hangs keeps it
		stop(ctx)
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// agent is the running plugin.
type agent struct {
	api     plugin.API
	reg     Registry
	log     *slog.Logger
	ctx     context.Context // ends with Stop
	turns   *turns
	feed    *feed
	history *history
}

// event takes what the bus brings. A repetition is shown to nobody again.
func (a *agent) event(e event.Event) {
	if a.history.event(e) {
		a.feed.publish("", string(e.Type), e)
	}
}
