package audio

import (
	"context"
	"errors"
	"os"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"homeagent/agent/pcm"
)

// nothing stops a stream that has no device.
func nothing() error { return nil }

// ramp is n samples that count from v on.
func ramp(v, n int) []int16 {
	out := make([]int16, n)
	for i := range out {
		out[i] = int16(v + i)
	}
	return out
}

// every calls f each 10 ms until the test's bubble is told to end.
func every(f func()) (end func()) {
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		t := time.NewTicker(10 * time.Millisecond)
		defer t.Stop()
		for {
			select {
			case <-t.C:
				f()
			case <-stop:
				return
			}
		}
	}()
	return func() { close(stop); <-done }
}

func deviceError(t *testing.T, err error, op string, is error) {
	t.Helper()
	var d *pcm.DeviceError
	if !errors.As(err, &d) || d.Op != op || d.Device != "x" || !errors.Is(err, is) {
		t.Errorf("got %v, want a *pcm.DeviceError of %s with %v", err, op, is)
	}
}

// A late reader gets what fits into the ring in order; the rest is counted.
func TestCaptureOverrun(t *testing.T) {
	c := newCapture("x", pcm.Voice, nothing)
	size := len(c.q.buf)
	for i := 0; i < size+1600; i += 160 {
		c.deliver(ramp(i%30000, 160))
	}
	buf := make([]int16, size)
	n, err := c.Read(t.Context(), buf)
	if n != size || err != nil || buf[0] != 0 || int(buf[size-1]) != (size-1)%160+(size-1)/160*160%30000 {
		t.Errorf("read %d, %v, last %d", n, err, buf[size-1])
	}
	if lost := int(c.overruns.Load()); lost != (size+1600+159)/160*160-size {
		t.Errorf("%d samples counted as lost", lost)
	}
}

// Read waits for the device, and ends with the context, with Close, with a loss
// and with a device that has fallen silent, giving what there was.
func TestCaptureRead(t *testing.T) {
	for _, tc := range []struct {
		name  string
		after func(c *capture, cancel func())
		wait  time.Duration
		check func(t *testing.T, err error)
	}{
		{"context", func(_ *capture, cancel func()) { cancel() }, 0, func(t *testing.T, err error) {
			if !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
		}},
		{"close", func(c *capture, _ func()) { c.Close(); c.Close() }, 0, func(t *testing.T, err error) { deviceError(t, err, "read", os.ErrClosed) }},
		{"loss", func(c *capture, _ func()) { c.gone.lose(errReplugged) }, 0, func(t *testing.T, err error) { deviceError(t, err, "read", errReplugged) }},
		{"stall", func(*capture, func()) {}, 2 * stallLimit, func(t *testing.T, err error) { deviceError(t, err, "read", errStalled) }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				stops := 0
				c := newCapture("x", pcm.Voice, func() error { stops++; return nil })
				next := 0
				end := every(func() { c.deliver(ramp(next, 160)); next += 160 })
				buf := make([]int16, 2400)
				for i := range 10 {
					if n, err := c.Read(t.Context(), buf); n != 2400 || err != nil || buf[0] != int16(i*2400) || buf[2399] != int16(i*2400+2399) {
						t.Fatalf("read %d: %d, %v", i, n, err)
					}
				}
				<-time.After(25 * time.Millisecond)
				end()
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				done := make(chan error)
				begin := time.Now()
				go func() {
					n, err := c.Read(ctx, buf)
					if n != 320 {
						t.Errorf("%d samples beside the error, want 320", n)
					}
					done <- err
				}()
				synctest.Wait()
				tc.after(c, cancel)
				tc.check(t, <-done)
				if d := time.Since(begin); d > tc.wait {
					t.Errorf("ended after %v", d)
				}
				if c.Close(); stops != 1 {
					t.Errorf("stopped %d times", stops)
				}
			})
		})
	}
}

// speaker is one that a test drives: it keeps what it played.
func speaker() (p *playback, heard func() []int16, end func()) {
	p = newPlayback("x", pcm.Voice, NewGain(100), nothing)
	p.latency = 30 * time.Millisecond
	var mu sync.Mutex
	var all []int16
	block := make([]int16, 160)
	end = every(func() {
		mu.Lock()
		defer mu.Unlock()
		all = append(all, block[:p.fill(block)]...)
	})
	return p, func() []int16 { mu.Lock(); defer mu.Unlock(); return slices.Clone(all) }, end
}

func TestPlayback(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, heard, end := speaker()
		begin := time.Now()
		want := ramp(0, 16000)
		if n, err := p.Write(t.Context(), want); n != 16000 || err != nil {
			t.Fatalf("wrote %d, %v", n, err)
		}
		if d := time.Since(begin); d < 700*time.Millisecond || d > time.Second {
			t.Errorf("a second was queued within %v", d)
		}
		if err := p.Drain(t.Context()); err != nil {
			t.Fatal(err)
		}
		if d := time.Since(begin); d < 1030*time.Millisecond || d > 1050*time.Millisecond {
			t.Errorf("a second was drained after %v", d)
		}
		end()
		if !slices.Equal(heard(), want) {
			t.Errorf("%d samples heard, want %d", len(heard()), len(want))
		}
	})
}

// Flush falls silent at the next callback and frees a Write that waits.
func TestPlaybackFlush(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, heard, end := speaker()
		defer end()
		done := make(chan int)
		go func() {
			n, err := p.Write(context.Background(), ramp(1, 32000))
			if err != nil {
				t.Errorf("write: %v", err)
			}
			done <- n
		}()
		<-time.After(505 * time.Millisecond)
		p.Flush()
		if n := <-done; n != 32000 {
			t.Errorf("a flushed write gave %d", n)
		}
		<-time.After(time.Second)
		synctest.Wait()
		if len(heard()) != 50*160 {
			t.Errorf("%d samples heard, want %d", len(heard()), 50*160)
		}
		if err := p.Drain(t.Context()); err != nil {
			t.Errorf("drain after flush: %v", err)
		}
		p.Write(t.Context(), ramp(5, 160))
		p.Drain(t.Context())
		synctest.Wait()
		if got := heard()[50*160:]; !slices.Equal(got, ramp(5, 160)) {
			t.Errorf("after a flush %d samples were heard", len(got))
		}
	})
}

// The gain changes within one callback, whatever is queued.
func TestPlaybackGain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, heard, end := speaker()
		p.Write(t.Context(), slices.Repeat([]int16{1000}, 1600))
		<-time.After(35 * time.Millisecond)
		p.gain.SetMuted(true)
		p.Drain(t.Context())
		end()
		h := heard()
		if len(h) != 1600 || h[479] != 1000 || h[640] != 0 || slices.Max(h[640:]) != 0 || h[560] > 600 || h[560] < 400 {
			t.Errorf("heard %d, %d, %d, %d", len(h), h[479], h[560], h[640])
		}
	})
}

func TestPlaybackEnds(t *testing.T) {
	for _, tc := range []struct {
		name  string
		after func(p *playback, cancel func())
		check func(t *testing.T, err error)
	}{
		{"context", func(_ *playback, cancel func()) { cancel() }, func(t *testing.T, err error) {
			if !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
		}},
		{"close", func(p *playback, _ func()) { p.Close() }, func(t *testing.T, err error) { deviceError(t, err, "write", os.ErrClosed) }},
		{"loss", func(p *playback, _ func()) { p.gone.lose(errReplugged) }, func(t *testing.T, err error) { deviceError(t, err, "write", errReplugged) }},
		{"stall", func(*playback, func()) {}, func(t *testing.T, err error) { deviceError(t, err, "write", errStalled) }},
	} {
		for _, op := range []string{"write", "drain"} {
			t.Run(tc.name+" "+op, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					p := newPlayback("x", pcm.Voice, NewGain(100), nothing)
					p.Write(t.Context(), ramp(0, 100))
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					done := make(chan error)
					go func() {
						if op == "drain" {
							done <- p.Drain(ctx)
							return
						}
						_, err := p.Write(ctx, make([]int16, 16000))
						done <- err
					}()
					synctest.Wait()
					tc.after(p, cancel)
					tc.check(t, <-done)
				})
			})
		}
	}
}
