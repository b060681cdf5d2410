package main

import (
	"context"
	"io"
	"log/slog"
	"os"

	"homeagent/firmware/clock"
)

// The files of an appliance that the clock needs.
const (
	releaseFile = "/etc/homeagent/release"
	savedTime   = "/data/system/clock"
)

// keepClock keeps the machine's clock on an appliance, where nobody else does;
// elsewhere it does nothing. The function it returns saves the time and waits
// for the end.
func keepClock(ctx context.Context, appliance bool, out io.Writer) (end func()) {
	build := buildTime(releaseFile)
	if !appliance || os.Getuid() != 0 || build.IsZero() {
		return func() {}
	}
	k := &clock.Keeper{
		Clock: clock.Kernel{}, Build: build, Saved: savedTime, Servers: clock.Servers(), Query: clock.SNTP(clock.Kernel{}),
		Log: slog.New(slog.NewTextHandler(out, nil)),
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		k.Run(ctx)
	}()
	return func() {
		cancel()
		<-done
	}
}
