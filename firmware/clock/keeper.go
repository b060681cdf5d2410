package clock

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"homeagent/memory/disk"
)

// The pace of a Keeper.
const (
	saveEvery  = 5 * time.Minute
	askEvery   = 6 * time.Hour
	firstRetry = 10 * time.Second // no network yet, most often
	lastRetry  = 30 * time.Minute
	askFor     = 5 * time.Second // each server
	agreement  = 2 * time.Second
	tolerated  = 250 * time.Millisecond
)

// Servers are asked when nobody names others.
func Servers() []string {
	return []string{"0.pool.ntp.org", "1.pool.ntp.org", "2.pool.ntp.org", "3.pool.ntp.org"}
}

// Query asks one server how far the clock is behind it.
type Query func(ctx context.Context, server string) (time.Duration, error)

// Keeper keeps a clock right and its time on the card. The fields are set
// before Run and not changed after it.
type Keeper struct {
	Clock Clock
	// Build is when the image was built; no earlier time is taken or saved.
	Build time.Time
	// Saved is the file of the saved time.
	Saved string
	// Servers are asked in turn until two agree; none means that no one is asked.
	Servers []string
	Query   Query
	Log     *slog.Logger
	// FS takes the writes; nil is the machine's own.
	FS disk.FS

	said string // the last complaint, so that it is logged once
}

// Run saves the time and asks the servers until ctx ends, then saves once more.
// All of it happens in the caller's goroutine.
func (k *Keeper) Run(ctx context.Context) {
	if k.FS == nil {
		k.FS = disk.OS{}
	}
	save := time.NewTicker(saveEvery)
	defer save.Stop()
	ask := time.NewTimer(0)
	defer ask.Stop()
	if len(k.Servers) == 0 {
		ask.Stop()
	}
	retry := firstRetry
	for {
		select {
		case <-ctx.Done():
			k.save()
			return
		case <-save.C:
			k.save()
		case <-ask.C:
			next := askEvery
			if err := k.Ask(ctx); err != nil && ctx.Err() == nil {
				k.complain("the network's time is not had", err)
				next = retry
				retry = min(2*retry, lastRetry)
			} else {
				retry = firstRetry
			}
			ask.Reset(next)
		}
	}
}

// save keeps the time unless it cannot be right: a clock that could not be set
// must not spoil what a better one has saved.
func (k *Keeper) save() {
	now := k.Clock.Now()
	if !sane(now, k.Build) {
		k.complain("the time is not saved", fmt.Errorf("the clock says %s", day(now)))
		return
	}
	if err := save(k.FS, k.Saved, now); err != nil {
		k.complain("the time is not saved", err)
	}
}

func (k *Keeper) complain(what string, err error) {
	if text := what + err.Error(); text != k.said {
		k.said = text
		k.Log.Warn(what, "err", err)
	}
}

// errDiffer means that no two servers agreed.
var errDiffer = errors.New("no two time servers agree")

// Ask asks the servers in turn until two agree, and sets the clock to them.
func (k *Keeper) Ask(ctx context.Context) error {
	var offsets []time.Duration
	var failed error
	for _, server := range k.Servers {
		ctx, cancel := context.WithTimeout(ctx, askFor)
		offset, err := k.Query(ctx, server)
		cancel()
		if err != nil {
			failed = fmt.Errorf("ask %s: %w", server, err)
			continue
		}
		for _, o := range offsets {
			if (o - offset).Abs() <= agreement {
				return k.set((o + offset) / 2)
			}
		}
		offsets = append(offsets, offset)
	}
	switch {
	case len(offsets) > 1:
		return errDiffer
	case failed != nil:
		return failed
	}
	return errors.New("one time server alone is not believed")
}

// set moves the clock by the offset.
func (k *Keeper) set(offset time.Duration) error {
	if offset.Abs() < tolerated {
		return nil
	}
	now := k.Clock.Now()
	to := now.Add(offset)
	if !sane(to, k.Build) {
		return fmt.Errorf("the time servers say %s, which cannot be", day(to))
	}
	if err := k.Clock.Set(to); err != nil {
		return err
	}
	k.Log.Info("the clock was set by the network", "from", now.UTC().Format(time.RFC3339), "to", to.UTC().Format(time.RFC3339))
	k.save()
	return nil
}
