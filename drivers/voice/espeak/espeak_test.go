package espeak

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"homeagent/drivers/voice/speech"
	"homeagent/drivers/voice/speech/speechtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestConformance(t *testing.T) {
	if _, err := exec.LookPath(program); err != nil {
		t.Skip("espeak-ng is not installed: nothing was spoken")
	}
	speechtest.Synthesizer(t, speechtest.SynthesizerFixture{
		New:   func(*testing.T) speech.Synthesizer { return New(Config{}) },
		Texts: map[string]string{"zh": "客厅的灯已经打开了，现在是 23 点 15 分。", "en": "The living room lamp is on. It is 23.5 degrees."},
	})
}

func TestRuns(t *testing.T) {
	for _, c := range []struct {
		name, text, lang string
		want             []run
	}{
		{"chinese", "灯开了。好的！", "zh", []run{{"灯开了。", "zh", true}, {"好的！", "zh", true}}},
		{"mixed", "打开 living room lamp 吗？", "zh", []run{{"打开 ", "zh", false}, {"living room lamp ", "en", false}, {"吗？", "zh", true}}},
		{"numbers", "23:15", "en", []run{{"23:15", "en", true}}},
		{"marks alone", "Well. ... Yes.", "en", []run{{"Well.", "en", true}, {"Yes.", "en", true}}},
		{"nothing", "", "zh", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := slices.Collect(runs(c.text, c.lang)); !slices.Equal(got, c.want) {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestMissing(t *testing.T) {
	_, err := New(Config{Program: filepath.Join(t.TempDir(), "none")}).Synthesize(t.Context(), "好", "zh")
	var m *Missing
	if !errors.Is(err, speech.ErrMissing) || !errors.As(err, &m) || !strings.Contains(m.In("zh"), "tools/setup") || !strings.Contains(m.In("en"), "espeak-ng") {
		t.Errorf("error %v", err)
	}
}

// script makes a program that stands in for espeak-ng.
func script(t *testing.T, body string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "espeak-ng")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+body), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestBadPrograms(t *testing.T) {
	header := `printf 'RIFF\377\377\377\377WAVEfmt \020\000\000\000\001\000\001\000\042\126\000\000\104\254\000\000\002\000\020\000data\377\377\377\377'; `
	for _, c := range []struct {
		name, body string
		begins     bool // Synthesize gives no error yet
		want       string
	}{
		{"fails at once", "echo 'no voice' >&2; exit 3", false, "no voice"},
		{"garbage", "head -c 5000 /dev/zero", false, "not_wav"},
		{"hangs", "exec sleep 600", false, "nothing came"},
		{"hangs in the middle", header + "head -c 4000 /dev/zero; exec sleep 600", true, "nothing came"},
		{"dies in the middle", header + "head -c 4000 /dev/zero; echo 'out of memory' >&2; exit 1", true, "out of memory"},
		{"says nothing", "exit 0", true, ""},
		{"sound that does not end is cut by Close", header + "exec cat /dev/zero", true, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			wait := 30 * time.Second
			if c.want == "nothing came" {
				wait = 300 * time.Millisecond
			}
			s := New(Config{Program: script(t, c.body), Wait: wait})
			ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
			defer cancel()
			src, err := s.Synthesize(ctx, "hello", "en")
			if (err == nil) != c.begins {
				t.Fatalf("begins: %v", err)
			}
			if err == nil {
				defer src.Close()
				buf := make([]int16, 1000)
				for i := 0; err == nil && i < 100; i++ {
					_, err = src.Read(ctx, buf)
				}
			}
			if c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("error %v does not name %q", err, c.want)
			}
		})
	}
}

// Nothing of the text may reach the program's arguments or environment.
func TestTextIsNoArgument(t *testing.T) {
	t.Setenv("SOME_SECRET", "hunter2")
	log := filepath.Join(t.TempDir(), "log")
	s := New(Config{Program: script(t, `{ echo "$@"; env; cat; } >`+log)})
	src, err := s.Synthesize(t.Context(), "--path=/etc $(id) hello", "en")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := speechtest.ReadAll(t.Context(), src); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	args, rest, _ := strings.Cut(string(b), "\n")
	if strings.Contains(args, "etc") || strings.Contains(rest, "hunter2") || !strings.Contains(rest, "hello") {
		t.Errorf("the program saw %q and %q", args, rest)
	}
}
