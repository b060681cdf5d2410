package engine

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"homeagent/drivers/voice/engine/wire"
)

// leaveTime is how long a process may take to end by itself.
const leaveTime = 3 * time.Second

// child is a running engines process.
type child interface {
	// Input and Output are the process's.
	Input() io.WriteCloser
	Output() io.Reader
	PID() int
	// Kill ends it by force.
	Kill()
	// Wait returns once it has ended and its pipes are closed; nil is exit code 0.
	Wait() error
}

// process is one life of the engines process and the requests it was given.
type process struct {
	child    child
	deadline time.Duration
	frames   chan []byte // to the writer
	quit     chan struct{}
	leaveOne sync.Once
	down     chan struct{} // closed when no reply will come any more
	gone     chan struct{} // closed when the process has ended and nothing runs for it

	mu      sync.Mutex
	next    uint64
	pending map[uint64]*pending
	err     error // why it is down
}

// pending is a request that was not answered yet.
type pending struct {
	reply chan wire.Reply // holds one
	hung  *time.Timer
}

// newProcess takes a child that was just started and begins to talk to it.
func newProcess(ch child, deadline time.Duration) *process {
	p := &process{
		child: ch, deadline: deadline, frames: make(chan []byte, maxPending), quit: make(chan struct{}),
		down: make(chan struct{}), gone: make(chan struct{}), pending: map[uint64]*pending{},
	}
	var talk sync.WaitGroup
	talk.Go(p.write)
	talk.Go(p.read)
	go func() {
		err := ch.Wait()
		if err == nil {
			err = errors.New("it ended")
		}
		p.fail(err)
		talk.Wait()
		close(p.gone)
	}()
	return p
}

// write sends frames until there is a reason to stop, then closes the
// process's input, which tells it to end.
func (p *process) write() {
	defer p.child.Input().Close()
	for {
		select {
		case f := <-p.frames:
			if _, err := p.child.Input().Write(f); err != nil {
				p.fail(fmt.Errorf("write: %w", err))
				return
			}
		case <-p.quit:
			return
		case <-p.down:
			return
		}
	}
}

// read hands replies to their requests.
func (p *process) read() {
	r := bufio.NewReader(p.child.Output())
	for {
		var rep wire.Reply
		if _, err := wire.Read(r, &rep); err != nil {
			if err == io.EOF {
				// Why it ended is for Wait to say; it must not linger.
				time.AfterFunc(leaveTime, p.killIfThere)
				return
			}
			p.fail(fmt.Errorf("read: %w", err))
			return
		}
		p.mu.Lock()
		q := p.pending[rep.ID]
		delete(p.pending, rep.ID)
		p.mu.Unlock()
		if q != nil { // an unknown id: it was given up
			q.hung.Stop()
			q.reply <- rep
		}
	}
}

// fail ends the process and every request that it has; the first reason counts.
func (p *process) fail(err error) {
	p.mu.Lock()
	if p.err != nil {
		p.mu.Unlock()
		return
	}
	p.err = err
	for _, q := range p.pending {
		q.hung.Stop()
	}
	p.pending = nil
	p.mu.Unlock()
	close(p.down)
	p.child.Kill()
}

// leave asks the process to end, and makes it if it does not.
func (p *process) leave() {
	p.leaveOne.Do(func() {
		close(p.quit)
		time.AfterFunc(leaveTime, p.killIfThere)
	})
}

func (p *process) killIfThere() {
	if !p.isGone() {
		p.fail(errors.New("it did not end when it was told to"))
	}
}

func (p *process) dead() bool   { return closed(p.down) }
func (p *process) isGone() bool { return closed(p.gone) }

func closed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// cause is why it is down.
func (p *process) cause() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

// crashed is the error of a request that the process took along.
func (p *process) crashed() error { return fmt.Errorf("%w: %w", ErrCrashed, p.cause()) }

// call sends a request and waits for its reply. When ctx ends first the
// process is told to give the request up; should it not answer even then, the
// deadline finds it hung.
func (p *process) call(ctx context.Context, req wire.Request, sound []int16) (wire.Reply, error) {
	q, err := p.enter(&req)
	if err != nil {
		return wire.Reply{}, err
	}
	frame, err := wire.Append(nil, req, sound)
	if err != nil {
		p.forget(req.ID)
		return wire.Reply{}, err
	}
	select {
	case p.frames <- frame:
	case <-p.down:
		return wire.Reply{}, p.crashed()
	case <-ctx.Done():
		p.forget(req.ID)
		return wire.Reply{}, ctx.Err()
	}
	select {
	case rep := <-q.reply:
		return rep, nil
	case <-p.down:
		return wire.Reply{}, p.crashed()
	case <-ctx.Done():
		p.giveUp(req)
		return wire.Reply{}, ctx.Err()
	}
}

// enter gives a request its id and its deadline.
func (p *process) enter(req *wire.Request) (*pending, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCrashed, p.err)
	}
	p.next++
	req.ID = p.next
	q := &pending{reply: make(chan wire.Reply, 1)}
	op := req.Op
	q.hung = time.AfterFunc(p.deadline, func() {
		p.fail(fmt.Errorf("it hung: no answer to %q in %v", op, p.deadline))
	})
	p.pending[req.ID] = q
	return q, nil
}

// forget drops a request that was never sent.
func (p *process) forget(id uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if q := p.pending[id]; q != nil {
		q.hung.Stop()
		delete(p.pending, id)
	}
}

// giveUp tells the process that nobody waits for a reply any more, and closes
// the stream that it may have opened. If there is no room to say so the reply
// just comes later.
func (p *process) giveUp(req wire.Request) {
	p.tell(wire.Request{Op: wire.Cancel, Target: req.ID})
	if req.Op == wire.Open {
		p.tell(wire.Request{Op: wire.Close, Stream: req.ID})
	}
}

// tell sends a request whose reply, if there is one, is not waited for.
func (p *process) tell(req wire.Request) {
	p.mu.Lock()
	p.next++
	req.ID = p.next
	p.mu.Unlock()
	frame, err := wire.Append(nil, req, nil)
	if err != nil {
		return
	}
	select {
	case p.frames <- frame:
	default:
	}
}
