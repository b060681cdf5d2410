package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"homeagent/tools/emulator"
	"homeagent/tools/powercut/ledger"
	"homeagent/tools/powercut/use"
	"homeagent/tools/powercut/writelog"
)

// The files of a recorded run below the work folder.
const (
	recordedCard   = "recorded.img"    // as the run left it
	recordedBefore = "before.img"      // as it was before
	recordedLog    = "recorded.writes" // what was written between
	recordedList   = "recorded.jsonl"
	recordedSerial = "recorded.log"
)

// rest is how long the user is away once in a while, so that the house also does
// what it does when nobody speaks to it; burst is for how long he is there.
const (
	rest  = 45 * time.Second
	burst = 100 * time.Second
)

// record boots a new card on virt with its writes recorded, uses it and cuts it.
func (b *bench) record(ctx context.Context) error {
	h, err := b.newHouse(ctx, "recorded", b.seed)
	if err != nil {
		return err
	}
	defer h.close()
	if _, err := h.card.Clone(filepath.Join(b.work, recordedBefore)); err != nil {
		return err
	}
	log := filepath.Join(b.work, recordedLog)
	m, err := emulator.Start(ctx, emulator.Config{Board: emulator.Virt, Disk: h.card, WriteLog: log, LogFile: filepath.Join(b.work, recordedSerial)})
	if err != nil {
		return err
	}
	defer m.Close()
	super, err := os.Open(log)
	if err != nil {
		return err
	}
	defer super.Close()
	h.user.Position = func() (uint64, error) {
		s, err := writelog.ReadSuper(super)
		return s.Entries, err
	}
	base, err := page(ctx, m)
	if err != nil {
		return err
	}
	if err := h.enter(ctx, m, base); err != nil {
		return err
	}
	at, err := h.user.Position()
	if err != nil {
		return err
	}
	b.say("recording: the page answers after %d writes", at)
	end := time.Now().Add(b.use)
	for time.Now().Before(end) {
		if err := b.spend(ctx, h, min(burst, time.Until(end))); err != nil {
			return err
		}
		b.say("recording: %d writes acknowledged", h.acked.Count())
		select {
		case <-time.After(min(rest, max(0, time.Until(end)))):
		case <-m.Done():
			return fmt.Errorf("the machine has ended\n%s", m.Log().Tail(30))
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	m.Kill()
	return h.file.Sync()
}

// spend makes wishes for a time.
func (b *bench) spend(ctx context.Context, h *house, d time.Duration) error {
	failed := 0
	for end := time.Now().Add(d); time.Now().Before(end); {
		step, cancel := context.WithTimeout(ctx, stepWait)
		what, err := h.user.Step(step)
		cancel()
		var no *use.RefusedError
		if err == nil {
			continue
		}
		if failed++; !errors.As(err, &no) && failed > 5 || ctx.Err() != nil {
			return err
		}
		b.say("%s was not acknowledged: %v", what, err)
	}
	return nil
}

// recordedRun is what record has left, opened.
type recordedRun struct {
	dir   string
	log   *writelog.Log
	file  *os.File
	acked *ledger.Ledger
}

func openRecorded(dir string) (*recordedRun, error) {
	r := &recordedRun{dir: dir}
	var err error
	if r.file, err = os.Open(filepath.Join(dir, recordedLog)); err != nil {
		return nil, err
	}
	info, err := r.file.Stat()
	if err == nil {
		r.log, err = writelog.Open(r.file, info.Size())
	}
	if err != nil {
		r.file.Close()
		return nil, err
	}
	list, err := os.Open(filepath.Join(dir, recordedList))
	if err == nil {
		defer list.Close()
		r.acked, err = ledger.Read(list)
	}
	if err != nil {
		r.file.Close()
		return nil, err
	}
	return r, nil
}
