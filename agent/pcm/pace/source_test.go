package pace_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"homeagent/agent/pcm"
	"homeagent/agent/pcm/pace"
	"homeagent/agent/pcm/wav"
)

// recording is a WAV source of the length, every sample 1000.
func recording(t *testing.T, f pcm.Format, d time.Duration) pcm.Source {
	t.Helper()
	samples := make([]int16, f.Samples(d))
	for i := range samples {
		samples[i] = 1000
	}
	b, err := wav.Encode(f, samples)
	if err != nil {
		t.Fatal(err)
	}
	src, err := wav.NewSource(io.NopCloser(bytes.NewReader(b)))
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// A second of sound and two of silence take three seconds, in order.
func TestRealTime(t *testing.T) {
	for _, f := range []pcm.Format{pcm.Voice, {Rate: 48000, Channels: 2}} {
		t.Run(f.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := pace.NewSource(recording(t, f, time.Second), 2*time.Second)
				begin := time.Now()
				buf := make([]int16, f.Samples(30*time.Millisecond))
				loud, quiet := 0, 0
				for {
					n, err := s.Read(t.Context(), buf)
					for _, v := range buf[:n] {
						if v == 1000 && quiet == 0 {
							loud++
						} else if v == 0 {
							quiet++
						} else {
							t.Fatalf("sample %d after %d loud and %d quiet ones", v, loud, quiet)
						}
					}
					if got, want := time.Since(begin), f.Duration(loud+quiet); got < want || got > want+time.Millisecond {
						t.Fatalf("%v of sound after %v", want, got)
					}
					if errors.Is(err, io.EOF) {
						break
					}
					if err != nil || n != len(buf) {
						t.Fatalf("read %d, %v", n, err)
					}
				}
				if loud != f.Samples(time.Second) || quiet != f.Samples(2*time.Second) {
					t.Errorf("%d loud and %d quiet samples", loud, quiet)
				}
				if n, err := s.Read(t.Context(), buf); n != 0 || err != io.EOF {
					t.Errorf("after the end: %d, %v", n, err)
				}
			})
		})
	}
}

// A reader that comes late loses nothing and catches up at once.
func TestLateReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := pace.NewSource(recording(t, pcm.Voice, time.Second), 0)
		buf := make([]int16, 1600)
		s.Read(t.Context(), buf)
		wait := time.NewTimer(500 * time.Millisecond)
		<-wait.C
		late := time.Now()
		for range 4 {
			if n, err := s.Read(t.Context(), buf); n != len(buf) || err != nil {
				t.Fatalf("read %d, %v", n, err)
			}
		}
		if !time.Now().Equal(late) {
			t.Errorf("catching up took %v", time.Since(late))
		}
	})
}

// Close and the context end a waiting Read.
func TestEndsWaiting(t *testing.T) {
	for _, tc := range []struct {
		name string
		end  func(s *pace.Source, cancel func())
		is   func(error) bool
	}{
		{"close", func(s *pace.Source, _ func()) { s.Close() }, func(err error) bool { var d *pcm.DeviceError; return errors.As(err, &d) }},
		{"context", func(_ *pace.Source, cancel func()) { cancel() }, func(err error) bool { return errors.Is(err, context.Canceled) }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := pace.NewSource(recording(t, pcm.Voice, time.Minute), 0)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				done := make(chan error)
				go func() {
					_, err := s.Read(ctx, make([]int16, 16000*30))
					done <- err
				}()
				synctest.Wait()
				tc.end(s, cancel)
				if err := <-done; !tc.is(err) {
					t.Errorf("ended with %v", err)
				}
			})
		})
	}
}
