package engine

import (
	"context"
	"fmt"
	"io"
	"os"
	"testing"

	"go.uber.org/goleak"

	"homeagent/drivers/voice/engine/server"
	"homeagent/drivers/voice/engine/wire"
)

// The test binary doubles as the engines process: in one of its fake modes, or
// as the real thing.
const (
	modeEnv   = "ENGINE_TEST_MODE"
	modelsEnv = "ENGINE_TEST_MODELS"
	markEnv   = "ENGINE_TEST_MARK"
)

func TestMain(m *testing.M) {
	switch mode := os.Getenv(modeEnv); mode {
	case "":
		goleak.VerifyTestMain(m)
	case "real":
		err := server.Serve(context.Background(), os.Stdin, os.Stdout, server.Options{ModelsDir: os.Getenv(modelsEnv), Threads: 1})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	default:
		os.Exit(fake(mode, os.Stdin, os.Stdout))
	}
}

// command makes Options that run this binary in a mode.
func command(t testing.TB, mode string) Options {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Options{Command: []string{exe}, Env: append(os.Environ(), "GORACE=atexit_sleep_ms=0", modeEnv+"="+mode, markEnv+"="+t.TempDir()+"/mark")}
}

// client makes one that the test closes.
func client(t testing.TB, opt Options) *Client {
	t.Helper()
	c := NewClient(opt)
	t.Cleanup(func() { c.Close() })
	return c
}

// fake is an engines process that misbehaves as its mode says.
func fake(mode string, in io.Reader, out io.Writer) int {
	f := fakeProcess{out: out, heard: map[uint64]*wire.Speech{}}
	switch mode {
	case "garbage":
		fmt.Fprintln(out, "goroutine 1 [running]:\nmain.main()")
		io.Copy(io.Discard, in) // until it is killed or left
		return 0
	case "deaf":
		select {}
	case "exits":
		fmt.Fprintln(os.Stderr, "no library here")
		return 3
	}
	for {
		var req wire.Request
		sound, err := wire.Read(in, &req)
		if err != nil {
			if mode == "stubborn" {
				select {}
			}
			return 0
		}
		switch {
		case req.Op == wire.Cancel:
		case mode == "hangs" && req.Op != wire.Warm:
		case mode == "crashes" && req.Op != wire.Open:
			fmt.Fprintln(os.Stderr, "out of memory")
			return 2
		case mode == "crashes once" && req.Op != wire.Open && first():
			return 2
		case mode == "backwards":
			f.late(req, sound)
		default:
			f.answer(req, sound)
		}
	}
}

// first reports whether it is called for the first time on this mark.
func first() bool {
	file, err := os.OpenFile(os.Getenv(markEnv), os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return false
	}
	file.Close()
	return true
}

type fakeProcess struct {
	out   io.Writer
	heard map[uint64]*wire.Speech
	kept  []func()
}

// answer says back what it was given: as recognized text the number of
// samples and the grammar, as speech a start at 1000 and an end at 3000.
func (f *fakeProcess) answer(req wire.Request, sound []int16) {
	rep := wire.Reply{ID: req.ID}
	switch req.Op {
	case wire.Recognize:
		rep.Text, rep.Engine, rep.Command = fmt.Sprintf("%d samples", len(sound)), "fake", req.Grammar != ""
		switch req.Grammar {
		case "missing":
			rep.Fault = &wire.Fault{Kind: wire.Missing, Text: "no model; run tools/setup"}
		case "broken":
			rep.Fault = &wire.Fault{Kind: wire.Failed, Text: "it broke"}
		case "less":
			rep.Note = "less than asked"
		}
	case wire.Open:
		s := &wire.Speech{}
		if req.Speech != nil {
			s = req.Speech
		}
		f.heard[req.ID] = s
	case wire.Feed:
		s := f.heard[req.Stream]
		if s == nil {
			rep.Fault = &wire.Fault{Kind: wire.Invalid, Text: "not open"}
			break
		}
		s.Heard += int64(len(sound))
		if s.Heard >= 1000 {
			s.Started, s.Start, s.End = true, 1000, min(3000, s.Heard)
		}
		s.Ended = s.Heard >= 4000
		rep.Speech = s
	case wire.Close:
		delete(f.heard, req.Stream)
	case wire.Tag, wire.Keywords:
		f.words(req, &rep)
	}
	b, err := wire.Append(nil, rep, nil)
	if err != nil {
		panic(err)
	}
	f.out.Write(b)
}

// late keeps three requests and answers the last one first.
func (f *fakeProcess) late(req wire.Request, sound []int16) {
	f.kept = append(f.kept, func() { f.answer(req, sound) })
	if len(f.kept) < 3 {
		return
	}
	for i := len(f.kept) - 1; i >= 0; i-- {
		f.kept[i]()
	}
	f.kept = nil
}
