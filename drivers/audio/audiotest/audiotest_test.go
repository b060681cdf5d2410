package audiotest_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"homeagent/agent/pcm"
	"homeagent/drivers/audio/audiotest"
)

func loud(n int, v int16) []int16 { return slices.Repeat([]int16{v}, n) }

// A script is heard in order and in real time, over two opens, then silence.
func TestScript(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("broken")
		o := audiotest.New(t, "fake")
		o.Microphone("mic", pcm.Voice, audiotest.Step{Sound: loud(1600, 7)}, audiotest.Step{Silence: 100 * time.Millisecond},
			audiotest.Step{Sound: loud(800, 9)}, audiotest.Step{Fail: broken}, audiotest.Step{Fail: io.EOF})
		begin := time.Now()
		src, err := o.OpenSource(t.Context(), "mic", pcm.Voice)
		if err != nil {
			t.Fatal(err)
		}
		buf := make([]int16, 2400)
		if n, err := src.Read(t.Context(), buf); n != 2400 || err != nil || buf[0] != 7 || buf[1599] != 7 || buf[1600] != 0 {
			t.Fatalf("first read %d, %v", n, err)
		}
		if d := time.Since(begin); d != 150*time.Millisecond {
			t.Errorf("150 ms took %v", d)
		}
		if err := src.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := src.Read(t.Context(), buf); !errors.Is(err, audiotest.ErrClosed) {
			t.Errorf("read after close: %v", err)
		}
		src, err = o.OpenSource(t.Context(), "mic", pcm.Voice)
		if err != nil {
			t.Fatal(err)
		}
		defer src.Close()
		if n, err := src.Read(t.Context(), buf); n != 1600 || err != broken || buf[799] != 0 || buf[800] != 9 {
			t.Errorf("second read %d, %v", n, err)
		}
		if n, err := src.Read(t.Context(), buf); n != 0 || err != io.EOF {
			t.Errorf("third read %d, %v", n, err)
		}
		if n, err := src.Read(t.Context(), buf); n != 2400 || err != nil || slices.Max(buf) != 0 {
			t.Errorf("after the script: %d, %v", n, err)
		}
	})
}

// A speaker keeps what was heard, and not what was flushed or still queued.
func TestSpeaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := audiotest.New(t, "fake")
		o.Speaker("spk", pcm.Voice)
		s, err := o.OpenSink(t.Context(), "spk", pcm.Voice)
		if err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		if n, err := s.Write(t.Context(), loud(16000, 5)); n != 16000 || err != nil {
			t.Fatalf("wrote %d, %v", n, err)
		}
		if d := time.Since(begin); d < 790*time.Millisecond || d > 820*time.Millisecond {
			t.Errorf("writing a second took %v, want all but what is queued", d)
		}
		if err := s.Drain(t.Context()); err != nil || len(o.Heard("spk")) != 16000 {
			t.Errorf("heard %d after drain, %v", len(o.Heard("spk")), err)
		}
		s.Write(t.Context(), loud(1600, 6))
		<-time.After(50 * time.Millisecond)
		s.Flush()
		if err := s.Drain(t.Context()); err != nil || len(o.Heard("spk")) != 16800 {
			t.Errorf("heard %d after flush, %v", len(o.Heard("spk")), err)
		}
		// A Flush frees a Write that waits.
		done := make(chan int)
		go func() { n, _ := s.Write(context.Background(), loud(160000, 6)); done <- n }()
		<-time.After(95 * time.Millisecond)
		s.Flush()
		if n := <-done; n != 160000 || len(o.Heard("spk")) > 16800+1600+160 {
			t.Errorf("flushed write gave %d, heard %d", n, len(o.Heard("spk")))
		}
		s.Close()
	})
}

func TestFaults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := audiotest.New(t, "fake")
		o.Microphone("mic", pcm.Format{Rate: 48000, Channels: 2})
		o.Speaker("spk", pcm.Voice)
		o.Busy("mic", 1)
		open := func(want error) pcm.Source {
			t.Helper()
			s, err := o.OpenSource(t.Context(), "mic", pcm.Voice)
			var d *pcm.DeviceError
			if !errors.Is(err, want) || want != nil && !errors.As(err, &d) {
				t.Fatalf("open gave %v, want %v", err, want)
			}
			return s
		}
		open(audiotest.ErrBusy)
		s := open(nil)
		done := make(chan error)
		go func() { _, err := s.Read(context.Background(), make([]int16, 160000)); done <- err }()
		<-time.After(time.Second)
		o.Unplug("mic")
		if err := <-done; !errors.Is(err, audiotest.ErrUnplugged) {
			t.Errorf("a waiting read ended with %v", err)
		}
		s.Close()
		open(audiotest.ErrAbsent)
		if list, _ := o.Devices(t.Context()); len(list) != 1 || list[0].Name != "fake:spk" {
			t.Errorf("devices %v", list)
		}
		o.Plug("mic")
		open(nil).Close()
		if _, err := o.OpenSink(t.Context(), "mic", pcm.Voice); !errors.Is(err, audiotest.ErrAbsent) {
			t.Errorf("a microphone played: %v", err)
		}
	})
}

func TestLeftovers(t *testing.T) {
	o := audiotest.New(&testing.T{}, "fake")
	o.Microphone("mic", pcm.Voice, audiotest.Step{Silence: time.Second})
	o.Microphone("other", pcm.Voice, audiotest.Step{Silence: time.Second})
	o.Rest("other")
	o.Speaker("spk", pcm.Voice)
	o.Busy("spk", 2)
	if _, err := o.OpenSource(t.Context(), "mic", pcm.Voice); err != nil {
		t.Fatal(err)
	}
	got := strings.Join(o.Leftovers(), "; ")
	want := "a stream of mic was not closed; 1 steps of the script of mic were not read; spk would be busy 2 times more"
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
