package voice

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"homeagent/agent/pcm"
)

// micFrame is how many samples are read at once, 32 ms: the step of common
// endpointers, and short against the trailing silence.
const micFrame = 512

const (
	// stallAfter is how long a microphone may give nothing before it counts as lost.
	stallAfter = 3 * time.Second
	openWait   = 10 * time.Second
	// backoffMin doubles up to backoffMax between tries to open a lost device.
	backoffMin = 500 * time.Millisecond
	backoffMax = 30 * time.Second
)

type micKind int

const (
	micSound micKind = iota
	micOpened
	micLost  // err says why; it will be opened again
	micEnded // a recording is over; silence follows
	micMuted
)

// micEvent is what a microphone reports, in order.
type micEvent struct {
	kind    micKind
	samples []int16
	at      time.Time // when the last of samples was captured
	err     error
}

// microphone keeps one capture device open and sends what it hears. Its run is
// the only goroutine that touches the device.
type microphone struct {
	open func(ctx context.Context) (pcm.Source, error)
	// recording ends with io.EOF and is followed by silence, as in a room where
	// the speaker has fallen silent. A live device is opened again.
	recording bool
	out       chan micEvent

	mu      sync.Mutex
	muted   bool
	changed chan struct{}      // closed when muted changes
	cut     context.CancelFunc // ends what is open now
}

func newMicrophone(open func(context.Context) (pcm.Source, error), recording bool) *microphone {
	return &microphone{open: open, recording: recording, out: make(chan micEvent, 256), changed: make(chan struct{})}
}

// setMuted closes the device, or opens it again.
func (m *microphone) setMuted(muted bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.muted == muted {
		return
	}
	m.muted = muted
	close(m.changed)
	m.changed = make(chan struct{})
	if m.cut != nil && muted {
		m.cut()
	}
}

func (m *microphone) state() (muted bool, changed chan struct{}) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.muted, m.changed
}

// send hands on an event; it waits while the loop is behind.
func (m *microphone) send(ctx context.Context, e micEvent) bool {
	select {
	case m.out <- e:
		return true
	case <-ctx.Done():
		return false
	}
}

// run captures until ctx ends.
func (m *microphone) run(ctx context.Context) {
	wait := backoffMin
	for ctx.Err() == nil {
		muted, changed := m.state()
		if muted {
			if !m.send(ctx, micEvent{kind: micMuted}) {
				return
			}
			select {
			case <-changed:
			case <-ctx.Done():
				return
			}
			continue
		}
		began := time.Now()
		err := m.capture(ctx)
		if ctx.Err() != nil {
			return
		}
		if muted, _ := m.state(); muted {
			continue
		}
		if m.recording {
			// A recording that breaks off has ended too; the loop is told why.
			if err == io.EOF {
				err = nil
			}
			if m.send(ctx, micEvent{kind: micEnded, err: err}) {
				m.silence(ctx)
			}
			return
		}
		if !m.send(ctx, micEvent{kind: micLost, err: err}) {
			return
		}
		if time.Since(began) > backoffMax {
			wait = backoffMin // it worked for a while
		}
		t := time.NewTimer(wait)
		select {
		case <-t.C:
		case <-changed:
			t.Stop()
		case <-ctx.Done():
			t.Stop()
			return
		}
		wait = min(2*wait, backoffMax)
	}
}

// capture opens the device and reads it until it fails.
func (m *microphone) capture(parent context.Context) error {
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	m.mu.Lock()
	m.cut = func() { cancel(errors.New("muted")) }
	muted := m.muted
	m.mu.Unlock()
	if muted {
		return errors.New("muted") // since run looked
	}
	src, err := bounded(ctx, openWait, m.open)
	if err != nil {
		return err
	}
	defer src.Close()
	defer context.AfterFunc(ctx, func() { src.Close() })() // ends a waiting Read
	if src.Format() != pcm.Voice {
		return fmt.Errorf("opened with %s instead of %s", src.Format(), pcm.Voice)
	}
	if !m.send(ctx, micEvent{kind: micOpened}) {
		return context.Cause(ctx)
	}
	stall := time.AfterFunc(stallAfter, func() {
		cancel(fmt.Errorf("no sound for %s", stallAfter))
		src.Close()
	})
	defer stall.Stop()
	for {
		buf := make([]int16, micFrame)
		stall.Reset(stallAfter)
		n, err := src.Read(ctx, buf)
		stall.Stop() // the loop may be behind; that is not the device's fault
		if n > 0 && !m.send(ctx, micEvent{kind: micSound, samples: buf[:n], at: time.Now()}) {
			return context.Cause(ctx)
		}
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			return err
		case n == 0:
			return errors.New("the device gave nothing")
		}
	}
}

// silence sends quiet frames in real time until ctx ends.
func (m *microphone) silence(ctx context.Context) {
	tick := time.NewTicker(pcm.Voice.Duration(micFrame))
	defer tick.Stop()
	for {
		select {
		case now := <-tick.C:
			if !m.send(ctx, micEvent{kind: micSound, samples: make([]int16, micFrame), at: now}) {
				return
			}
		case <-ctx.Done():
			return
		}
	}
}
