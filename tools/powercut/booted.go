package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"homeagent/tools/emulator"
	"homeagent/tools/powercut/ledger"
	"homeagent/tools/powercut/use"
)

// How long a boot and a use last at most before the power goes.
var (
	bootTime = map[emulator.Board]time.Duration{emulator.Virt: 15 * time.Second, emulator.Pi3: 45 * time.Second}
	useTime  = map[emulator.Board]time.Duration{emulator.Virt: 25 * time.Second, emulator.Pi3: 40 * time.Second}
)

const (
	// life is how many cuts a card lives through before a new one grows.
	life = 7
	// piEvery is how many cards are there for one that lives in a Pi.
	piEvery = 4
)

// cutBooted kills QEMU again and again. Each cut is followed by a boot after
// which the house is asked, so that the last cut is one too.
func (b *bench) cutBooted(ctx context.Context) (sum tally, err error) {
	rng := rand.New(rand.NewPCG(b.seed, 3))
	for card := 0; sum.cuts < b.booted; card++ {
		board := emulator.Virt
		if card%piEvery == piEvery-1 {
			board = emulator.Pi3
		}
		n := min(life, b.booted-sum.cuts)
		t, err := b.cutCard(ctx, card, board, n, rng)
		sum.cuts, sum.writes, sum.lost = sum.cuts+t.cuts, sum.writes+t.writes, sum.lost+t.lost
		if err != nil {
			return sum, fmt.Errorf("card %d (%s): %w", card, board, err)
		}
	}
	return sum, nil
}

// cutCard cuts one card n times and asks it after the last.
func (b *bench) cutCard(ctx context.Context, number int, board emulator.Board, n int, rng *rand.Rand) (t tally, err error) {
	name := fmt.Sprintf("card-%d", number)
	h, err := b.newHouse(ctx, name, rng.Uint64())
	if err != nil {
		return t, err
	}
	defer h.close()
	if !b.keep {
		defer os.Remove(h.card.Path)
	}
	for boot, last := false, false; !last; {
		// After a cut within a boot the house is asked before it is cut again.
		last = t.cuts == n
		boot = !last && !boot && rng.IntN(100) < 55
		after := time.Duration(rng.Int64N(int64(useTime[board])))
		if boot {
			after = time.Duration(rng.Int64N(int64(bootTime[board])))
		}
		// A house that nobody has claimed is as a rule cut only once it is in use.
		early := rng.IntN(3) == 0
		lost, err := b.life(ctx, h, name, board, cutPlan{boot: boot, last: last, early: early, after: after})
		if err != nil {
			return t, err
		}
		for _, l := range lost {
			b.say("LOST on card %d after cut %d: %s", number, t.cuts, l)
		}
		t.lost += len(lost)
		if !last {
			t.cuts++
			b.say("card %d (%s) cut %d: %s, %v after %s; %d writes acknowledged", number, board, t.cuts,
				map[bool]string{true: "boot", false: "use"}[boot], after.Round(time.Millisecond), map[bool]string{true: "the start", false: "the page"}[boot], h.acked.Count())
		}
	}
	t.writes = h.acked.Count()
	return t, nil
}

// cutPlan says when a machine is cut: within its boot; or else so long after the
// page answered, or after its user was at home where early is not set. The last
// life of a card is not cut, only asked.
type cutPlan struct {
	boot, last, early bool
	after             time.Duration
}

// life is one run of a machine from its start to its cut. Unless the cut comes
// within the boot, the house is asked first, then used.
func (b *bench) life(ctx context.Context, h *house, name string, board emulator.Board, plan cutPlan) (lost []string, err error) {
	m, err := emulator.Start(ctx, emulator.Config{Board: board, Disk: h.card, UBoot: board == emulator.Pi3, LogFile: filepath.Join(b.work, name+".log")})
	if err != nil {
		return nil, err
	}
	defer m.Close()
	if plan.boot {
		select {
		case <-time.After(plan.after):
			m.Kill()
			return nil, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	base, err := page(ctx, m)
	if err != nil {
		return nil, err
	}
	if h.user.Claimed() {
		if err := h.back(ctx, base); err != nil {
			return nil, err
		}
		if lost, err = h.ask(ctx); err != nil || plan.last {
			return lost, err
		}
	} else if plan.last {
		return nil, nil
	}
	outer := ctx
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var begun atomic.Bool // the cut: what fails from now on fails for it
	cutAfter := func() {  // whoever waits for the house then waits no longer
		time.AfterFunc(plan.after, func() {
			begun.Store(true)
			m.Kill()
			cancel()
		})
	}
	early := h.user.SetUp() || plan.early
	if early {
		cutAfter()
	}
	if !h.user.SetUp() {
		if err := h.enter(ctx, m, base); errors.Is(err, errGiven) {
			lost = append(lost, err.Error())
		} else if err != nil && !begun.Load() {
			return lost, err
		}
	}
	if !early {
		cutAfter()
	}
	for refused := 0; !begun.Load() && h.user.SetUp(); {
		step, cancel := context.WithTimeout(ctx, stepWait)
		what, err := h.user.Step(step)
		cancel()
		if err == nil || begun.Load() {
			continue
		}
		var no *use.RefusedError
		if refused++; !errors.As(err, &no) && refused > 5 {
			return lost, err
		}
		b.say("%s was not acknowledged: %v", what, err)
	}
	select {
	case <-m.Done():
	case <-outer.Done():
		return lost, outer.Err()
	}
	return lost, nil
}

// ask compares what the house says with the list.
func (h *house) ask(ctx context.Context) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, askWait)
	defer cancel()
	found, err := h.user.Verify(ctx)
	if err != nil {
		return nil, fmt.Errorf("ask the house: %w", err)
	}
	return ledger.Judge(h.acked.Due(ledger.All), found), nil
}
