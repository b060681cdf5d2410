package main

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"sync"
	"syscall"
	"time"

	"homeagent/drivers/voice/engine/server"
	"homeagent/firmware/config"
	"homeagent/memory/disk"
)

var version = "dev" // set by the linker

// settle is when a start is over.
const settle = 2 * time.Second

// stopWait bounds an orderly end; the supervisor kills after 4 s.
const stopWait = 3 * time.Second

func main() {
	if len(os.Args) > 1 && os.Args[1] == "engines" {
		os.Exit(engines(os.Args[2:]))
	}
	os.Exit(agent())
}

// agent runs the mind until SIGTERM.
func agent() int {
	h, err := config.ReadHandover()
	if err != nil {
		fmt.Fprintln(os.Stderr, "homed-agent:", err)
		return 1
	}
	cfg, _, _ := config.Parse([]byte(h.Config)) // the supervisor hands over what parses
	var level slog.Level
	if level.UnmarshalText([]byte(cfg.Daemon.LogLevel)) != nil {
		level = slog.LevelInfo
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level}))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	a, err := assemble(h, cfg, log)
	if err != nil {
		fmt.Fprintln(os.Stderr, "homed-agent:", lastWord(err))
		return 1
	}
	a.host.Start(ctx)
	for _, name := range a.host.Embedders() {
		if e, ok := a.host.Embedder(name); ok {
			a.memory.UseEmbedder(e)
			break // one is configured at most
		}
	}
	// Starting needs more memory than running; what is left over goes back.
	defer time.AfterFunc(settle, debug.FreeOSMemory).Stop()
	log.Info("agent runs", "version", h.Version, "provider", a.chain.Name())
	var behind sync.WaitGroup
	behind.Go(func() { a.herald(h.Notes).run(ctx) })
	behind.Go(func() { a.spoken() }) // names that cannot be spoken are reported without being waited for
	err = a.mind.Run(ctx)
	end, cancel := context.WithTimeout(context.Background(), stopWait)
	defer cancel()
	a.close(end)
	behind.Wait()
	if err != nil {
		fmt.Fprintln(os.Stderr, "homed-agent:", err)
		return 1
	}
	return 0
}

// lastWord is what the supervisor's status quotes of an agent that could not
// start. It is read by people of either language.
func lastWord(err error) string {
	if disk.IsFull(err) {
		return fmt.Sprintf("磁盘满了，请腾出一些空间，之后会自动重新启动 / the disk is full; free some space, then it starts again by itself (%v)", err)
	}
	return err.Error()
}

// engines answers the agent on standard input and output.
func engines(args []string) int {
	flags := flag.NewFlagSet("homed-agent engines", flag.ContinueOnError)
	models := flags.String("models", "", "models folder")
	small := flags.Bool("small", false, "load one engine after the other and keep less")
	if flags.Parse(args) != nil {
		return 2
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	// An interrupt at the terminal is for the agent, which then closes our input.
	signal.Ignore(os.Interrupt)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	err := server.Serve(ctx, os.Stdin, os.Stdout, server.Options{
		ModelsDir: *models, Small: *small, Words: openDictionary(dictionary(*models, *small)), Log: log,
	})
	if err != nil {
		log.Error("engines", "err", err)
		return 1
	}
	return 0
}
