package engine

import (
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"homeagent/drivers/voice/speech"
)

// memoryChild runs a fake mode in a goroutine instead of a process.
type memoryChild struct {
	in   *io.PipeWriter
	out  *io.PipeReader
	done chan struct{}
	once sync.Once
	stop func()
}

func (m *memoryChild) Input() io.WriteCloser { return m.in }
func (m *memoryChild) Output() io.Reader     { return m.out }
func (m *memoryChild) PID() int              { return 1 }
func (m *memoryChild) Kill()                 { m.once.Do(m.stop) }
func (m *memoryChild) Wait() error {
	<-m.done
	return nil
}

// memoryClient makes a client of such children and counts them.
func memoryClient(opt Options, mode string) (*Client, *int) {
	c, started := newClient(opt), new(int)
	c.start = func() (child, error) {
		*started++
		inR, inW := io.Pipe()
		outR, outW := io.Pipe()
		m := &memoryChild{in: inW, out: outR, done: make(chan struct{})}
		m.stop = func() {
			inR.CloseWithError(io.EOF)
			outW.CloseWithError(io.EOF)
		}
		go func() {
			defer close(m.done)
			fake(mode, inR, outW)
			outW.Close()
		}()
		return m, nil
	}
	return c, started
}

func TestIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, started := memoryClient(Options{}, "answers")
		defer c.Close()
		check := func(what string, running bool, n int) {
			t.Helper()
			synctest.Wait()
			if c.Running() != running || *started != n {
				t.Errorf("%s: running %v after %d starts, want %v after %d", what, c.Running(), *started, running, n)
			}
		}
		check("at first", false, 0)
		if err := c.Warm(t.Context()); err != nil {
			t.Fatal(err)
		}
		<-time.After(119 * time.Second)
		check("after 119 s", true, 1)
		if _, err := c.Free().Recognize(t.Context(), nil, speech.Hint{}); err != nil {
			t.Fatal(err)
		}
		<-time.After(119 * time.Second)
		check("119 s after the next request", true, 1)
		<-time.After(2 * time.Second)
		check("121 s after it", false, 1)
		e, err := c.OpenEndpointer(t.Context(), speech.EndpointConfig{})
		if err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Hour)
		check("with an endpointer open", true, 2)
		if err := e.Close(); err != nil {
			t.Error(err)
		}
		<-time.After(121 * time.Second)
		check("after it was closed", false, 2)
	})
}

func TestStubbornIsKilled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, started := memoryClient(Options{Idle: time.Second}, "answers")
		defer c.Close()
		inner := c.start
		var killed atomic.Bool
		c.start = func() (child, error) {
			ch, err := inner()
			m := ch.(*memoryChild)
			stop := m.stop
			m.stop = func() {
				killed.Store(true)
				stop()
			}
			return deafToEnd{m}, err
		}
		if err := c.Warm(t.Context()); err != nil {
			t.Fatal(err)
		}
		<-time.After(2 * time.Second)
		synctest.Wait()
		if killed.Load() {
			t.Error("it was killed without time to leave")
		}
		// A new request waits for it to be gone.
		if err := c.Warm(t.Context()); err != nil || !killed.Load() || *started != 2 {
			t.Errorf("%v, killed %v, %d starts", err, killed.Load(), *started)
		}
	})
}

// deafToEnd does not see that its input is closed.
type deafToEnd struct{ *memoryChild }

func (d deafToEnd) Input() io.WriteCloser { return keepOpen{d.in} }

type keepOpen struct{ io.Writer }

func (keepOpen) Close() error { return nil }

func TestCrashingIsNotTriedForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, started := memoryClient(Options{}, "crashes")
		defer c.Close()
		for range 5 {
			if err := c.Warm(t.Context()); !errors.Is(err, ErrCrashed) {
				t.Fatal(err)
			}
		}
		if *started != crashLimit {
			t.Errorf("%d starts, want %d", *started, crashLimit)
		}
		<-time.After(cooldown)
		if err := c.Warm(t.Context()); !errors.Is(err, ErrCrashed) || *started != crashLimit+1 {
			t.Errorf("after the wait: %v, %d starts", err, *started)
		}
	})
}
