package clock

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"homeagent/memory/disk/disktest"
)

// fakeClock is a clock that counts how often it was set.
type fakeClock struct {
	now  time.Time
	sets int
	err  error
}

func (c *fakeClock) Now() time.Time { return c.now }

func (c *fakeClock) Set(t time.Time) error {
	if c.err != nil {
		return c.err
	}
	c.now = t
	c.sets++
	return nil
}

var build = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

func TestFloor(t *testing.T) {
	at := func(s string) time.Time {
		v, err := time.Parse(time.DateOnly, s)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	const missing = "-"
	tests := []struct {
		name, kernel string
		build        time.Time
		saved        string // the file's text
		source, want string
		note         string // part of the English note
	}{
		{"1970", "1970-01-01", build, missing, "build", "2026-11-01", ""},
		{"2019", "2019-02-03", build, "2027-01-02T03:04:05Z\n", "saved", "2027-01-02", ""},
		{"2019, an old saved time", "2019-02-03", build, "2020-01-02T03:04:05Z\n", "build", "2026-11-01", ""},
		{"a clock that is right", "2027-05-05", build, "2027-01-02T03:04:05Z\n", "kernel", "2027-05-05", ""},
		{"empty file", "1970-01-01", build, "", "build", "2026-11-01", "the file is empty"},
		{"garbage", "1970-01-01", build, "\x00\x00\xffgarbage", "build", "2026-11-01", "holds no time"},
		{"truncated", "1970-01-01", build, "2027-01-02T03", "build", "2026-11-01", "holds no time"},
		{"a saved time absurdly far ahead", "1970-01-01", build, "2099-01-02T03:04:05Z", "build", "2026-11-01", "2099-01-02"},
		{"a kernel absurdly far ahead", "2099-01-01", build, "2027-01-02T03:04:05Z", "saved", "2027-01-02", "2099-01-01"},
		{"a kernel absurdly far ahead, nothing saved", "2099-01-01", build, missing, "build", "2026-11-01", "2099-01-01"},
		{"no build time", "1970-01-01", time.Time{}, "2027-01-02T03:04:05Z", "saved", "2027-01-02", ""},
		{"no build time, saved in 1990", "1970-01-01", time.Time{}, "1990-01-02T03:04:05Z", "kernel", "1970-01-01", "1990-01-02"},
		{"nothing known", "1970-01-01", time.Time{}, missing, "kernel", "1970-01-01", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "clock")
			if tt.saved != missing {
				if err := os.WriteFile(path, []byte(tt.saved), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			c := &fakeClock{now: at(tt.kernel)}
			r := Floor(c, tt.build, path)
			if r.Source != tt.source || day(c.now) != tt.want || !r.After.Equal(c.now) || (c.sets > 0) != (tt.source != "kernel") {
				t.Errorf("%+v, clock %v set %d times", r, c.now, c.sets)
			}
			if tt.note == "" && len(r.Notes) > 0 || tt.note != "" && (len(r.Notes) != 1 || !strings.Contains(r.Notes[0].EN, tt.note)) {
				t.Errorf("notes %v, want %q", r.Notes, tt.note)
			}
		})
	}
}

func TestFloorCannotSet(t *testing.T) {
	c := &fakeClock{now: time.Unix(0, 0), err: errors.New("not permitted")}
	r := Floor(c, build, filepath.Join(t.TempDir(), "clock"))
	if r.Source != "kernel" || !r.After.Equal(time.Unix(0, 0)) || len(r.Notes) != 1 || !strings.Contains(r.Notes[0].ZH, "时钟拨不动") {
		t.Errorf("%+v", r)
	}
}

func TestSaveAndLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "system", "clock")
	want := time.Date(2027, 3, 4, 5, 6, 7, 8, time.FixedZone("", 3600))
	if err := Save(path, want); err != nil {
		t.Fatal(err)
	}
	got, err := Load(path)
	if err != nil || !got.Equal(want.Truncate(time.Second)) {
		t.Errorf("%v, %v", got, err)
	}
}

func TestSaveCutAnywhere(t *testing.T) {
	old, now := build.Add(time.Hour), build.Add(2*time.Hour)
	for n := 0; ; n++ {
		path := filepath.Join(t.TempDir(), "clock")
		if err := Save(path, old); err != nil {
			t.Fatal(err)
		}
		err := save(&disktest.Cut{Left: n, Err: errors.New("power is gone")}, path, now)
		got, lerr := Load(path)
		if lerr != nil || !got.Equal(old) && !got.Equal(now) {
			t.Errorf("cut at %d: %v, %v", n, got, lerr)
		}
		if err == nil {
			break
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"2027-01-02T03:04:05Z\n", "", "9999-12-31T23:59:59Z", "-0001-01-01T00:00:00Z", "2027-01-02T03:04:05+23:59"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		v, err := Parse(b)
		if err != nil || !sane(v, build) {
			return
		}
		again, err := Parse([]byte(v.Format(time.RFC3339)))
		if err != nil || !again.Equal(v.Truncate(time.Second)) {
			t.Errorf("%v became %v, %v", v, again, err)
		}
	})
}
