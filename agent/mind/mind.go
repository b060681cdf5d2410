package mind

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"homeagent/agent/bus"
	"homeagent/agent/control"
	"homeagent/agent/event"
	"homeagent/agent/host"
	"homeagent/agent/plugin"
	"homeagent/agent/provider"
	"homeagent/agent/queue"
	"homeagent/agent/tool"
)

// Options are what a mind is made of. Log, Bus, Host, Queue, Memory and
// Provider are needed.
type Options struct {
	Log      *slog.Logger
	Bus      *bus.Bus
	Host     *host.Host
	Queue    *queue.Queue
	Memory   Memory
	Provider provider.Provider
	// Tracker stands around each call; nil records nothing and says so.
	Tracker tool.Tracker
	// Persona returns the text of personal.md, "" for the built-in one. It is
	// called once a turn and must be quick.
	Persona func() string
	// Names may stand before a control intent ("jarvis, stop").
	Names []string
	// Pending tells whether a question waits for yes or no; nil is never.
	Pending func() bool
	// MaxToolRounds bounds the rounds of a turn; 0 is 10.
	MaxToolRounds int
	// LLMTimeout bounds one answer of the provider, which has shorter waits of
	// its own; 0 is 15 minutes. MemoryTimeout bounds one call of Memory; 0 is 10 s.
	LLMTimeout, MemoryTimeout time.Duration
	// Steps is for tests.
	Steps Steps
	// Now is the clock; nil is time.Now.
	Now func() time.Time
}

// Mind is the event loop.
type Mind struct {
	o Options

	mu      sync.Mutex
	running *turn

	controls chan controlled // answers that control intents wait for
	active   atomic.Bool
}

// errShutdown is the cause that ends a turn when the process stops.
var errShutdown = errors.New("the agent is stopping")

// errYield is the cause that ends a turn of the agent's own for a user's input.
var errYield = errors.New("a user's input goes first")

// stopped is the cause that ends a turn by a control intent.
type stopped struct{ intent control.Intent }

func (s *stopped) Error() string { return "stopped by the user (" + string(s.intent) + ")" }

// New makes a mind, offers output_send and output_list, and binds the host to
// it: inputs are taken from now on and dealt with once Run is called.
func New(o Options) (*Mind, error) {
	if o.MaxToolRounds == 0 {
		o.MaxToolRounds = 10
	}
	if o.LLMTimeout == 0 {
		o.LLMTimeout = 15 * time.Minute
	}
	if o.MemoryTimeout == 0 {
		o.MemoryTimeout = 10 * time.Second
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Tracker == nil {
		o.Tracker = noTracker{}
	}
	if o.Persona == nil {
		o.Persona = func() string { return "" }
	}
	if o.Pending == nil {
		o.Pending = func() bool { return false }
	}
	m := &Mind{o: o, controls: make(chan controlled, 64)}
	if err := m.registerOutput(); err != nil {
		return nil, fmt.Errorf("mind: %w", err)
	}
	o.Host.Bind(m)
	return m, nil
}

// Run takes inputs from the queue until ctx ends; then the running turn is put
// back and Run returns. It may be called once at a time. The error is nil
// after an orderly end.
func (m *Mind) Run(ctx context.Context) error {
	if !m.active.CompareAndSwap(false, true) {
		return errors.New("mind: Run is called twice")
	}
	defer m.active.Store(false)
	var wg sync.WaitGroup
	defer wg.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	wg.Add(1)
	go func() {
		defer wg.Done()
		m.answerControls(ctx)
	}()
	// A button or another plugin may say stop too.
	undo := m.o.Bus.Subscribe("mind", event.Control, func(e event.Event) {
		if i := control.Intent(e.State); e.Plugin != "" && i.EndsTurn() {
			m.stop(i)
		}
	})
	defer undo()
	for {
		e, err := m.o.Queue.Next(ctx)
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return fmt.Errorf("mind: %w", err)
		}
		m.deal(ctx, e)
	}
}

// stop ends the running turn.
func (m *Mind) stop(i control.Intent) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.running != nil {
		m.running.cancel(&stopped{i})
	}
}

func (m *Mind) setRunning(t *turn) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.running = t
}

// report tells of a fault that belongs to a turn.
func (m *Mind) report(in plugin.Input, state, text string) {
	m.o.Log.Warn(text, "state", state, "input", in.ID)
	m.o.Bus.Publish(event.Event{Type: event.System, State: state, Input: in.ID, Source: in.Source, Text: text})
}

// Status is what the agent tells about itself.
type Status struct {
	Queue    queue.Stats   `json:"queue"`
	Turn     *TurnStatus   `json:"turn,omitempty"`
	Provider string        `json:"provider"`
	Tracker  string        `json:"tracker"`
	Channels []string      `json:"channels"`
	Plugins  []host.Status `json:"plugins"`
	// Hung counts calls into plugins that were given up and have not returned.
	Hung map[string]int `json:"hung,omitempty"`
}

// TurnStatus is the running turn.
type TurnStatus struct {
	Input   string    `json:"input"`
	Source  string    `json:"source"`
	Step    Step      `json:"step"`
	Round   int       `json:"round"`
	Started time.Time `json:"started"`
}

// Status tells how the agent does at this moment.
func (m *Mind) Status() Status {
	s := Status{Queue: m.o.Queue.Stats(), Provider: m.o.Provider.Name(), Tracker: m.o.Tracker.Describe(),
		Channels: m.o.Host.Channels(), Plugins: m.o.Host.Plugins(), Hung: m.o.Host.Guard().Hung()}
	// The contents of messages are nobody's business here.
	for i := range s.Queue.Aside {
		s.Queue.Aside[i].Payload, s.Queue.Aside[i].Media = "", nil
	}
	m.mu.Lock()
	t := m.running
	m.mu.Unlock()
	if t != nil {
		step, _ := t.at.Load().(Step)
		s.Turn = &TurnStatus{Input: t.in.ID, Source: t.in.Source, Step: step, Round: int(t.round.Load()), Started: t.started}
	}
	return s
}

// noTracker records nothing.
type noTracker struct{}

func (noTracker) Pre(context.Context, tool.Call, tool.Def) (string, error) { return "", nil }
func (noTracker) Post(context.Context, string, tool.Result) error          { return nil }
func (noTracker) Describe() string                                         { return "none: changes are not recorded and cannot be undone" }
