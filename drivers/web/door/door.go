package door

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"homeagent/drivers/web/link"
)

// Control is what the door may ask of the supervisor. lang is the language of
// the words in an answer or an error, "zh" or "en". An error that is *Fault
// reaches the person in its own words.
type Control interface {
	// Status is the supervisor's part of GET /status.
	Status(ctx context.Context, lang string) (json.RawMessage, error)
	// Config is the answer of GET /config: the configuration without any secret.
	Config(ctx context.Context, lang string) (json.RawMessage, error)
	// SetConfig takes the JSON object of PUT /config.
	SetConfig(ctx context.Context, lang string, change json.RawMessage) error
	// SetSecret stores a secret; an empty value removes it. There is no way to read one.
	SetSecret(ctx context.Context, lang, name, value string) error
}

// Limits bound what strangers can take. A zero field takes its default.
type Limits struct {
	Conns        int           // open TCP connections, 256
	ConnsPerPeer int           // of one address, 64
	HeaderTime   time.Duration // for a request's header, 10 s
	BodyPause    time.Duration // between two pieces of a body, 20 s
	WriteTime    time.Duration // for the peer to take a piece of an answer, 30 s
	IdleTime     time.Duration // between two requests of a connection, 60 s
	Body         int64         // bytes of a body, 1 MiB
	Upload       int64         // bytes of recordings sent to "hear" or "wake", 256 MiB
	Import       int64         // bytes of an export sent to "memory/import", 4 GiB
	Streams      int           // requests under way to the agent at once, 64
	// StreamsPerLogin bounds those of one login, 24.
	StreamsPerLogin int
}

func (l *Limits) defaults() {
	set := func(d *time.Duration, v time.Duration) {
		if *d <= 0 {
			*d = v
		}
	}
	num := func(n *int, v int) {
		if *n <= 0 {
			*n = v
		}
	}
	num(&l.Conns, 256)
	num(&l.ConnsPerPeer, 64)
	num(&l.Streams, 64)
	num(&l.StreamsPerLogin, 24)
	set(&l.HeaderTime, 10*time.Second)
	set(&l.BodyPause, 20*time.Second)
	set(&l.WriteTime, 30*time.Second)
	set(&l.IdleTime, 60*time.Second)
	if l.Body <= 0 {
		l.Body = 1 << 20
	}
	if l.Upload <= 0 {
		l.Upload = 256 << 20
	}
	if l.Import <= 0 {
		l.Import = 4 << 30
	}
}

// Options are what the supervisor hands to the door at start.
type Options struct {
	// ListenAddr is the TCP address, ":8080" if empty.
	ListenAddr string
	// ListenKey is the configuration key of ListenAddr, named when the port is
	// in use; "daemon.listen_addr" if empty.
	ListenKey string
	// TLSAddr and TLS open a second TCP listener with https.
	TLSAddr string
	TLS     *tls.Config
	// DataDir holds door.db and setup-code.txt, RunDir the socket door.sock.
	DataDir, RunDir string
	// SocketMode is that of door.sock, 0600 if 0; SocketGroup its group, none if 0.
	SocketMode  os.FileMode
	SocketGroup int
	// AllowUIDs are users besides root and the door's own whose processes may
	// use the unix socket: the supervisor's where it is not root.
	AllowUIDs []int
	// Hosts are more names under which people reach this machine.
	Hosts []string
	// LinkSecret is what the agent must present; empty takes no agent.
	LinkSecret string
	// Version is shown in the status.
	Version string
	// Control reaches the supervisor; nil where there is none.
	Control Control
	// Used tells that the data folder held a house before this start: a door.db
	// that is missing then is a loss of the accounts, not a first start.
	Used bool
	// Lost, if set, is told once that the accounts are lost, so that the person
	// hears of it who does not look at the page: kept is the name of the damaged
	// file in DataDir, "" where there is none, memories that the rest is there.
	// It runs beside the door; an error has it told again at the next start.
	Lost func(ctx context.Context, kept string, memories bool) error
	// Announce is told where the page is, and the code while it is unclaimed ("" after).
	Announce func(code string, urls []string)
	// Ready, if set, is called once before the first request is served, with the
	// TCP addresses bound: that of ListenAddr, then that of TLSAddr.
	Ready func(addrs []net.Addr)
	Log   *slog.Logger
	// Now is the clock; time.Now if nil.
	Now    func() time.Time
	Limits Limits

	// cheapHash makes passwords cost next to nothing, for tests of what stands around them.
	cheapHash bool
}

// SocketName is the name of the door's unix socket in the run folder.
const SocketName = "door.sock"

// shutdownTime is what requests under way get when the door is told to leave.
const shutdownTime = 2 * time.Second

// server is the running door.
type server struct {
	opt     Options
	log     *slog.Logger
	now     func() time.Time
	store   *store
	hub     *link.Hub
	hosts   *hostList
	logins  *limiter
	claims  *limiter
	live    *liveSet
	hashing chan struct{} // argon2id takes 19 MiB a run: one at a time
	proxy   http.Handler
	streams chan struct{}
	setup   *setupCode
	started time.Time
	lost    atomic.Pointer[loss] // of the accounts, until the page is claimed again
	ctx     context.Context
}

// Run serves until the context ends and returns nil then. It fails at once
// when a listener or the database cannot be opened; ExitCode tells the
// supervisor which it was.
func Run(ctx context.Context, o Options) error {
	if o.ListenAddr == "" {
		o.ListenAddr = ":8080"
	}
	if o.ListenKey == "" {
		o.ListenKey = "daemon.listen_addr"
	}
	if o.SocketMode == 0 {
		o.SocketMode = 0o600
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	o.Limits.defaults()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()

	st, found, err := openStore(filepath.Join(o.DataDir, "door.db"), o.Used, o.Now)
	if err != nil {
		return err
	}
	defer st.close()
	s := &server{
		opt: o, log: o.Log, now: o.Now, store: st, ctx: ctx,
		hub:     link.NewHub(o.LinkSecret, o.Log),
		hosts:   newHostList(o.Hosts, o.Now),
		logins:  newLimiter(loginPolicy, o.Now),
		claims:  newLimiter(loginPolicy, o.Now),
		live:    newLiveSet(),
		hashing: make(chan struct{}, 1),
		streams: make(chan struct{}, o.Limits.Streams),
		started: o.Now(),
	}
	defer s.hub.Close()
	s.proxy = s.newProxy()
	if found != nil {
		what := "db_set_aside"
		if found.Missing {
			what = "db_missing"
		}
		s.log.Error("the accounts are lost; the page must be claimed again", "what", what, "kept", found.Aside)
		s.store.audit(what, "", "", found.Aside)
	}
	s.lost.Store(st.loss())
	if s.setup, err = openSetup(o.DataDir, st, o.Log); err != nil {
		return err
	}
	var wg sync.WaitGroup
	defer wg.Wait() // before the store is closed
	defer cancel()  // which ends what is waited for
	wg.Go(func() { s.passOn(ctx) })
	return s.listen(ctx)
}

// listen opens the listeners and serves until the context ends.
func (s *server) listen(ctx context.Context) error {
	var servers []*http.Server
	var listeners []net.Listener
	closeAll := func() {
		for _, l := range listeners {
			l.Close()
		}
	}
	add := func(l net.Listener, h http.Handler) {
		listeners = append(listeners, l)
		servers = append(servers, s.newServer(ctx, h))
	}
	outside, inside := s.outside(), s.inside()
	tcp, err := listenTCP(s.opt.ListenAddr, s.opt.ListenKey)
	if err != nil {
		return err
	}
	addrs := []net.Addr{tcp.Addr()}
	add(newBoundedListener(tcp, s.opt.Limits), outside)
	if s.opt.TLS != nil && s.opt.TLSAddr != "" {
		l, err := listenTCP(s.opt.TLSAddr, "daemon.tls_addr")
		if err != nil {
			closeAll()
			return err
		}
		addrs = append(addrs, l.Addr())
		add(tls.NewListener(newBoundedListener(l, s.opt.Limits), s.opt.TLS), outside)
	}
	sock, err := listenUnix(filepath.Join(s.opt.RunDir, SocketName), s.opt.SocketMode, s.opt.SocketGroup)
	if err != nil {
		closeAll()
		return err
	}
	add(sock, inside)

	if s.opt.Ready != nil {
		s.opt.Ready(addrs)
	}
	if s.opt.Announce != nil {
		s.opt.Announce(s.setup.code(), pageURLs(tcp.Addr()))
	}
	s.log.Info("door open", "addr", tcp.Addr().String(), "socket", sock.Addr().String())

	failed := make(chan error, len(servers))
	var wg sync.WaitGroup
	for i, srv := range servers {
		wg.Go(func() {
			if err := srv.Serve(listeners[i]); err != nil && !errors.Is(err, http.ErrServerClosed) {
				failed <- err
			}
		})
	}
	var result error
	select {
	case <-ctx.Done():
	case result = <-failed:
	}
	s.live.endAll() // streams that would otherwise stay open for ever
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTime)
	defer cancel()
	for _, srv := range servers {
		if srv.Shutdown(grace) != nil {
			srv.Close()
		}
	}
	wg.Wait()
	return result
}

func (s *server) newServer(ctx context.Context, h http.Handler) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: s.opt.Limits.HeaderTime,
		IdleTimeout:       s.opt.Limits.IdleTime,
		MaxHeaderBytes:    16 << 10,
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ConnContext:       withPeer,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
}
