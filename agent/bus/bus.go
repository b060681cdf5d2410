package bus

import (
	"context"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"homeagent/agent/event"
)

// queueLen bounds the waiting events of a subscription.
const queueLen = 256

// Bus is an event bus. It is safe for concurrent use.
type Bus struct {
	log *slog.Logger
	now func() time.Time

	mu     sync.Mutex
	subs   []*subscription
	closed bool
	done   sync.WaitGroup
}

// New makes a bus. now gives events their time where the publisher set none;
// nil is time.Now.
func New(log *slog.Logger, now func() time.Time) *Bus {
	if now == nil {
		now = time.Now
	}
	return &Bus{log: log, now: now}
}

// Subscribe calls h for each event of the type t, event.All for every type,
// from one goroutine and in order of publication, control events first. name
// is for the log. undo ends it: no call of h begins afterwards, though one may
// still be running; it may be called twice and from h itself. On a closed bus
// nothing is subscribed.
func (b *Bus) Subscribe(name string, t event.Type, h func(event.Event)) (undo func()) {
	s := &subscription{bus: b, name: name, typ: t, handle: h, wake: make(chan struct{}, 1), end: make(chan struct{})}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return func() {}
	}
	b.subs = append(b.subs, s)
	b.done.Add(1)
	go s.run()
	return s.stop
}

// Publish hands e to every subscription of its type and returns at once.
func (b *Bus) Publish(e event.Event) {
	if e.Time.IsZero() {
		e.Time = b.now()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range b.subs {
		if s.typ == e.Type || s.typ == event.All {
			s.put(e)
		}
	}
}

// Close ends every subscription and waits for their goroutines until ctx ends;
// what waits in their queues is dropped. Events published later reach nobody.
func (b *Bus) Close(ctx context.Context) error {
	b.mu.Lock()
	b.closed = true
	subs := b.subs
	b.subs = nil
	b.mu.Unlock()
	for _, s := range subs {
		s.stop()
	}
	all := make(chan struct{})
	go func() { // ends with the last handler; a handler that hangs keeps it
		b.done.Wait()
		close(all)
	}()
	select {
	case <-all:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// remove takes s off the list of the bus.
func (b *Bus) remove(s *subscription) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, x := range b.subs {
		if x == s {
			// A new slice: Close may be walking the old one.
			b.subs = append(append([]*subscription(nil), b.subs[:i]...), b.subs[i+1:]...)
			return
		}
	}
}

// subscription is one handler with its queue.
type subscription struct {
	bus    *Bus
	name   string
	typ    event.Type
	handle func(event.Event)

	wake chan struct{} // one token: there is something in the queues
	end  chan struct{} // closed by stop
	once sync.Once

	mu      sync.Mutex
	control []event.Event
	queue   []event.Event
	lost    int
}

// put adds e, dropping the oldest of a full queue.
func (s *subscription) put(e event.Event) {
	s.mu.Lock()
	if e.Type == event.Control {
		s.control = append(s.control, e)
		if len(s.control) > queueLen {
			s.control = coalesce(s.control)
		}
	} else {
		if len(s.queue) >= queueLen {
			s.queue = append(s.queue[:0], s.queue[1:]...)
			s.lost++
		}
		s.queue = append(s.queue, e)
	}
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// coalesce bounds the control events of a handler that does not return: the
// oldest one whose intent comes again later goes, so that no intent is lost.
func coalesce(list []event.Event) []event.Event {
	later := map[string]int{}
	for _, e := range list {
		later[e.State]++
	}
	for i, e := range list {
		if later[e.State] > 1 {
			return append(list[:i], list[i+1:]...)
		}
	}
	return list
}

// take removes the next event.
func (s *subscription) take() (e event.Event, lost int, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case len(s.control) > 0:
		e, s.control = s.control[0], s.control[1:]
	case len(s.queue) > 0:
		e, s.queue = s.queue[0], s.queue[1:]
		lost, s.lost = s.lost, 0
	default:
		return e, 0, false
	}
	return e, lost, true
}

func (s *subscription) run() {
	defer s.bus.done.Done()
	for {
		select {
		case <-s.end:
			return
		case <-s.wake:
		}
		for {
			e, lost, ok := s.take()
			if !ok {
				break
			}
			if lost > 0 {
				s.bus.log.Warn("a subscriber fell behind and lost events", "subscriber", s.name, "lost", lost)
			}
			select {
			case <-s.end:
				return
			default:
			}
			s.call(e)
		}
	}
}

func (s *subscription) call(e event.Event) {
	defer func() {
		if p := recover(); p != nil {
			s.bus.log.Error("a subscriber panicked", "subscriber", s.name, "event", e.Type,
				"panic", p, "stack", string(debug.Stack()))
		}
	}()
	s.handle(e)
}

func (s *subscription) stop() {
	s.once.Do(func() {
		close(s.end)
		s.bus.remove(s)
	})
}
