package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"homeagent/tools/emulator"
)

// sectorsWritten finds the partition of /data and prints the kernel's count of
// sectors that were written to it, and of all writes.
const sectorsWritten = `sync; d=$(sed -n 's|^/dev/\([a-z0-9]*\) /data .*|\1|p' /proc/mounts); read -r _ _ _ _ w _ s _ <"/sys/class/block/$d/stat"; echo "$s $w"`

// wear watches what the idle house writes. Virt stands in for every board: it
// is the same house on the same file system.
func (b *bench) wear(ctx context.Context) error {
	g, err := b.newGuest(ctx, "wear", emulator.Config{Board: emulator.Virt})
	if err != nil {
		return err
	}
	defer g.close()
	// Growth and the first minutes are not idleness.
	if err := wait(ctx, g.m, quiet); err != nil {
		return err
	}
	read := func() (sectors, writes int64, err error) {
		text, err := g.run(ctx, sectorsWritten)
		if err == nil {
			_, err = fmt.Sscan(strings.TrimSpace(text), &sectors, &writes)
		}
		return sectors, writes, err
	}
	s0, w0, err := read()
	if err != nil {
		return err
	}
	began := time.Now()
	if err := wait(ctx, g.m, b.idle); err != nil {
		return err
	}
	s1, w1, err := read()
	if err != nil {
		return err
	}
	took := time.Since(began)
	fmt.Fprintf(b.log, "wear: %d kB in %d writes in %s\n", (s1-s0)/2, w1-w0, took.Round(time.Second))
	b.out.add("wear.mb_idle_hour", float64(s1-s0)*512/1e6*float64(time.Hour)/float64(took), "MB", int(took.Minutes()+.5))
	return nil
}
