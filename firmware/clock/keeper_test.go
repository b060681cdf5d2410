package clock

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"log/slog"
	"net"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"homeagent/memory/disk"
)

// bubbleNet is a clock that runs with the bubble's and can be set, and the
// network that knows by how much it is wrong.
type bubbleNet struct {
	mu     sync.Mutex
	offset time.Duration
	right  time.Duration
	sets   int
	asked  int
	up     bool
}

func (c *bubbleNet) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.offset)
}

func (c *bubbleNet) Set(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.offset = time.Until(t)
	c.sets++
	return nil
}

func (c *bubbleNet) query(context.Context, string) (time.Duration, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked++
	if !c.up {
		return 0, errors.New("no network")
	}
	return c.right - c.offset, nil
}

// after lets the bubble's time pass and tells what happened meanwhile.
func (c *bubbleNet) after(d time.Duration, up bool) (sets, asked int, offset time.Duration) {
	c.mu.Lock()
	c.sets, c.asked, c.up = 0, 0, up
	c.mu.Unlock()
	<-time.After(d)
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sets, c.asked, c.offset
}

func quiet() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

func TestKeeper(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		epoch := time.Now() // 2000, so the build lies in 1999
		c := &bubbleNet{right: 3 * time.Hour}
		path := filepath.Join(t.TempDir(), "clock")
		k := &Keeper{Clock: c, Build: epoch.AddDate(-1, 0, 0), Saved: path, Servers: []string{"a", "b"}, Log: quiet(), Query: c.query}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			k.Run(ctx)
		}()
		sets, asked, _ := c.after(saveEvery+time.Second, false)
		if got, err := Load(path); err != nil || !got.Equal(epoch.Add(saveEvery)) {
			t.Errorf("saved %v, %v", got, err)
		}
		if sets != 0 || asked < 4 || asked > 20 {
			t.Errorf("without network: set %d times, asked %d times", sets, asked)
		}
		if sets, _, offset := c.after(lastRetry+time.Second, true); sets != 1 || offset.Round(time.Second) != c.right {
			t.Errorf("set %d times, to %v", sets, offset)
		}
		if sets, asked, _ := c.after(24*time.Hour, true); sets != 0 || asked != 8 { // four times two servers
			t.Errorf("a day later: set %d times, asked %d times", sets, asked)
		}
		<-time.After(time.Second)
		cancel()
		<-done
		if got, err := Load(path); err != nil || !got.Equal(c.Now().UTC().Truncate(time.Second)) {
			t.Errorf("at the end %v, %v, want %v", got, err, c.Now())
		}
	})
}

func TestAsk(t *testing.T) {
	year := 365 * 24 * time.Hour
	none := errors.New("no answer")
	type answer struct {
		offset time.Duration
		err    error
	}
	tests := []struct {
		name    string
		now     time.Time
		answers []answer
		want    time.Duration // how far the clock is moved
		fails   bool
	}{
		{"two agree", build, []answer{{time.Hour, nil}, {time.Hour + time.Second, nil}}, time.Hour + time.Second/2, false},
		{"one is dead", build, []answer{{0, none}, {time.Hour, nil}, {time.Hour, nil}}, time.Hour, false},
		{"one lies", build, []answer{{9 * year, nil}, {time.Hour, nil}, {time.Hour, nil}}, time.Hour, false},
		{"one alone", build, []answer{{time.Hour, nil}, {0, none}}, 0, true},
		{"two differ", build, []answer{{time.Hour, nil}, {2 * time.Hour, nil}}, 0, true},
		{"none", build, []answer{{0, none}, {0, none}}, 0, true},
		{"a small difference stays", build, []answer{{time.Millisecond, nil}, {time.Millisecond, nil}}, 0, false},
		{"before the build", build, []answer{{-year, nil}, {-year, nil}}, 0, true},
		{"absurdly far ahead", build, []answer{{40 * year, nil}, {40 * year, nil}}, 0, true},
		{"from 1970", time.Unix(0, 0), []answer{{build.Sub(time.Unix(0, 0)) + year, nil}, {build.Sub(time.Unix(0, 0)) + year, nil}}, build.Sub(time.Unix(0, 0)) + year, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := &fakeClock{now: tt.now}
			i := 0
			k := &Keeper{Clock: c, Build: build, Saved: filepath.Join(t.TempDir(), "clock"), Servers: make([]string, len(tt.answers)), Log: quiet(),
				Query: func(context.Context, string) (time.Duration, error) {
					i++
					return tt.answers[i-1].offset, tt.answers[i-1].err
				}}
			k.FS = disk.OS{}
			err := k.Ask(t.Context())
			if (err != nil) != tt.fails || c.now.Sub(tt.now) != tt.want {
				t.Errorf("moved %v, %v", c.now.Sub(tt.now), err)
			}
		})
	}
}

func TestKeeperSavesNoWrongTime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "clock")
	good := build.Add(time.Hour)
	if err := Save(path, good); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	(&Keeper{Clock: &fakeClock{now: time.Unix(0, 0)}, Build: build, Saved: path, Log: quiet()}).Run(ctx)
	if got, err := Load(path); err != nil || !got.Equal(good) {
		t.Errorf("%v, %v", got, err)
	}
}

// timeServer answers SNTP with a clock that is ahead; stratum 0 refuses.
func timeServer(t *testing.T, ahead time.Duration, stratum byte) string {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	t.Cleanup(func() { conn.Close(); <-done })
	stamp := func(t time.Time) uint64 {
		const era = 2208988800 // seconds from 1900 to 1970
		return uint64(t.Unix()+era)<<32 | uint64(t.Nanosecond())<<32/1e9
	}
	go func() {
		defer close(done)
		var b [512]byte
		for {
			n, from, err := conn.ReadFrom(b[:])
			if err != nil {
				return
			}
			if n < 48 {
				continue
			}
			var answer [48]byte
			answer[0], answer[1] = 4<<3|4, stratum // version 4, server
			now := time.Now().Add(ahead)
			binary.BigEndian.PutUint64(answer[16:], stamp(now.Add(-time.Minute)))
			copy(answer[24:32], b[40:48])
			binary.BigEndian.PutUint64(answer[32:], stamp(now))
			binary.BigEndian.PutUint64(answer[40:], stamp(now))
			if _, err := conn.WriteTo(answer[:], from); err != nil {
				return
			}
		}
	}()
	return conn.LocalAddr().String()
}

func TestSNTP(t *testing.T) {
	ahead := 90 * 24 * time.Hour
	c := &fakeClock{}
	real := Kernel{}
	a, b, refuses := timeServer(t, ahead, 1), timeServer(t, ahead, 2), timeServer(t, ahead, 0)
	query := SNTP(real)
	if _, err := query(t.Context(), refuses); err == nil {
		t.Error("a server that refuses was believed")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := query(ctx, a); err == nil {
		t.Error("a cancelled question was answered")
	}
	c.now = real.Now()
	k := &Keeper{Clock: c, Build: c.now.AddDate(-1, 0, 0), Saved: filepath.Join(t.TempDir(), "clock"), Servers: []string{refuses, a, b}, Query: query, Log: quiet(), FS: disk.OS{}}
	before := c.now
	if err := k.Ask(t.Context()); err != nil || (c.now.Sub(before)-ahead).Abs() > time.Minute {
		t.Errorf("moved %v, %v", c.now.Sub(before), err)
	}
}
