package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"homeagent/firmware/note"
	"homeagent/firmware/words"
)

// fakeClock is a clock that can be set without root.
type fakeClock struct{ now time.Time }

func (c *fakeClock) Now() time.Time        { return c.now }
func (c *fakeClock) Set(t time.Time) error { c.now = t; return nil }

// newBoot is a boot in temporary folders, at a clock that starts in 1970.
func newBoot(t *testing.T, files map[string]string) (boot, *fakeClock, *bytes.Buffer) {
	t.Helper()
	dir := t.TempDir()
	var out bytes.Buffer
	clock := &fakeClock{now: time.Unix(7, 0)}
	b := boot{setup: filepath.Join(dir, "setup"), data: filepath.Join(dir, "data"), release: filepath.Join(dir, "release"), run: filepath.Join(dir, "run"),
		zoneinfo: filepath.Join(dir, "zoneinfo"), clock: clock, out: &out}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return b, clock, &out
}

func read(t *testing.T, parts ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(parts...))
	if err != nil {
		t.Error(err)
	}
	return string(text)
}

func TestBoot(t *testing.T) {
	b, clock, out := newBoot(t, map[string]string{
		"release":             "BOARD=rpi3-64\nVERSION=1\nBUILD_EPOCH=1793534400\nSOURCE=debian\n",
		"data/system/clock":   "2026-12-24T18:00:00Z\n",
		"zoneinfo/Asia/Tokyo": "TZif2",
		"setup/homeagent.txt": "wifi_name=home\nwifi_password=my secret\nwifi_country=jp\nhost_name=box\ntime_zone=Asia/Tokyo\nllm_key=sk-0123456789\nnonsense\n",
	})
	b.do()
	if got := clock.now.UTC().Format(time.RFC3339); got != "2026-12-24T18:00:00Z" {
		t.Errorf("the clock says %s", got)
	}
	if read(t, b.data, "system/hostname") != "box\n" || read(t, b.data, "system/timezone") != "Asia/Tokyo\n" || read(t, b.data, "homeagent/secrets/deepseek") != "sk-0123456789" ||
		!strings.Contains(read(t, b.data, "system/wifi/wpa_supplicant.conf"), "country=JP") {
		t.Errorf("%s", out)
	}
	notes, skipped, err := note.Read(filepath.Join(b.run, "notes.jsonl"))
	if err != nil || skipped != 0 || len(notes) != 1 || !strings.Contains(notes[0].EN, "line 7") {
		t.Errorf("notes %+v, %d, %v", notes, skipped, err)
	}
	for _, want := range []string{"set to 2026-12-24T18:00:00Z, the saved time", "host_name is box", "secrets were removed", "note: homeagent.txt line 7"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	for _, secret := range []string{"my secret", "sk-0123456789"} {
		if strings.Contains(out.String(), secret) || strings.Contains(read(t, b.setup, "homeagent.txt"), secret) {
			t.Errorf("%q stands in the log or on the card:\n%s", secret, out)
		}
	}
	// The same once more: the notes are not doubled, nothing else is done.
	out.Reset()
	b.do()
	if notes, _, err := note.Read(filepath.Join(b.run, "notes.jsonl")); err != nil || len(notes) != 2 { // the line's number has moved
		t.Errorf("notes %+v, %v", notes, err)
	}
	if strings.Contains(out.String(), "is box") {
		t.Errorf("%s", out)
	}
}

func TestBootWithNothing(t *testing.T) {
	b, clock, out := newBoot(t, nil)
	b.do()
	if !clock.now.Equal(time.Unix(7, 0)) || !strings.Contains(out.String(), "names no build time") {
		t.Errorf("%v\n%s", clock.now, out)
	}
	if _, err := os.Stat(b.run); !os.IsNotExist(err) {
		t.Errorf("notes about nothing: %v", err)
	}
}

func TestBootClock(t *testing.T) {
	tests := []struct {
		name, release, saved string
		want                 string
		notes                int
	}{
		{"build time is the floor", "BUILD_EPOCH=1793534400", "", "2026-11-01T12:00:00Z", 1},
		{"garbage saved", "BUILD_EPOCH=1793534400\n", "x", "2026-11-01T12:00:00Z", 1},
		{"quoted", "BUILD_EPOCH=\"1793534400\"\n", "2020-01-01T00:00:00Z", "2026-11-01T12:00:00Z", 0},
		{"no number", "BUILD_EPOCH=soon\n", "2026-12-01T00:00:00Z", "2026-12-01T00:00:00Z", 0},
		{"negative", "BUILD_EPOCH=-5\n", "2026-12-01T00:00:00Z", "2026-12-01T00:00:00Z", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b, clock, out := newBoot(t, map[string]string{"release": tt.release, "data/system/clock": tt.saved})
			b.do()
			notes, _, err := note.Read(filepath.Join(b.run, "notes.jsonl"))
			if got := clock.now.UTC().Format(time.RFC3339); got != tt.want || err != nil || len(notes) != tt.notes {
				t.Errorf("%s, notes %+v, %v\n%s", got, notes, err, out)
			}
		})
	}
}

func TestBootArguments(t *testing.T) {
	tests := []struct {
		name     string
		args     []string
		code     int
		out, err string
	}{
		{"help", []string{"-h"}, 0, "usage: homed boot", ""},
		{"unknown flag", []string{"-wrong"}, 2, "", "usage: homed boot"},
		{"a word too many", []string{"now"}, 2, "", `"now" is too much`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var out, err bytes.Buffer
			code := bootMain(tt.args, terminal{out: &out, err: &err, lang: words.English})
			if code != tt.code || !strings.Contains(out.String(), tt.out) || !strings.Contains(err.String(), tt.err) {
				t.Errorf("%d\n%s\n%s", code, &out, &err)
			}
		})
	}
}

// TestKeepClockElsewhere: on a computer that is no appliance nobody touches the clock.
func TestKeepClockElsewhere(t *testing.T) {
	keepClock(t.Context(), false, io.Discard)()
}
