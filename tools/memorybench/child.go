package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"homeagent/agent/provider"
	"homeagent/memory"
	"homeagent/memory/graph"
	"homeagent/memory/recall"
	"homeagent/memory/search"
)

const (
	// asked is how many questions are timed, warm how many before them are not.
	asked, warm = 600, 28
	// appended is how many messages are appended, each followed by Prune.
	appended = 600
	// wanted is the number of items of a recall.
	wanted = 8
)

// child uses the memory in dir and prints "name value unit n" a line.
func child(ctx context.Context, dir string, out io.Writer) (err error) {
	start := time.Now()
	m, notices, err := memory.Open(dir, memory.Options{Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		return err
	}
	opened := time.Since(start)
	defer func() { err = errors.Join(err, m.Close()) }()
	if len(notices) > 0 {
		return fmt.Errorf("the memory has %v", notices)
	}
	say := func(name string, value float64, unit string, n int) { fmt.Fprintln(out, name, value, unit, n) }
	say("memory.start_ms", ms(opened), "ms", 1)
	ask, end, err := asker(m, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	times := make([]time.Duration, 0, asked)
	for i := range warm + asked {
		start := time.Now()
		if err := ask(ctx, questions[i%len(questions)]); err != nil {
			return err
		}
		if i >= warm {
			times = append(times, time.Since(start))
		}
	}
	say("recall.p50_ms", ms(percentile(times, .5)), "ms", asked)
	say("recall.p99_ms", ms(percentile(times, .99)), "ms", asked)
	if err := useContext(ctx, m, say); err != nil {
		return err
	}
	mb, err := pss()
	if err != nil {
		return err
	}
	say("memory.pss_mb", mb, "MB", 1)
	return nil
}

// asker is the memory's own recall, or where it has none the same sources
// opened beside it.
func asker(m *memory.Memory, dir string) (ask func(context.Context, string) error, end func() error, err error) {
	if own, ok := any(m).(interface {
		RecallItems(ctx context.Context, query string, limit int) ([]recall.Item, error)
	}); ok {
		return func(ctx context.Context, q string) error {
			_, err := own.RecallItems(ctx, q, wanted)
			return err
		}, func() error { return nil }, nil
	}
	x, _, err := search.Open(filepath.Join(dir, "memory", "index.db"), search.Options{})
	if err != nil {
		return nil, nil, err
	}
	g, _, err := graph.Open(filepath.Join(dir, "memory", "graph.db"), graph.Options{})
	if err != nil {
		return nil, nil, errors.Join(err, x.Close())
	}
	s := recall.Sources{Passages: []recall.Passages{x}, Facts: g}
	return func(ctx context.Context, q string) error {
		_, errs, err := s.Recall(ctx, recall.Query{Text: q, Limit: wanted, Now: time.Now()})
		return errors.Join(append(errs, err)...)
	}, func() error { return errors.Join(x.Close(), g.Close()) }, nil
}

// useContext times what a turn does with the live context.
func useContext(ctx context.Context, m *memory.Memory, say func(string, float64, string, int)) error {
	var appends, prunes []time.Duration
	for i := range appended {
		text := fmt.Sprintf("%s (%d)", questions[i%len(questions)], i)
		start := time.Now()
		m.Append(provider.Message{ID: fmt.Sprintf("live-%d", i), Time: start, Role: provider.User, Content: text})
		appends = append(appends, time.Since(start))
		start = time.Now()
		if err := m.Prune(ctx, text); err != nil {
			return err
		}
		prunes = append(prunes, time.Since(start))
	}
	say("memory.append_p99_ms", ms(percentile(appends, .99)), "ms", appended)
	say("memory.prune_p99_ms", ms(percentile(prunes, .99)), "ms", appended)
	return nil
}

// pss is the proportional set size of this process in MB.
func pss() (float64, error) {
	text, err := os.ReadFile("/proc/self/smaps_rollup")
	if err != nil {
		return 0, err
	}
	for l := range strings.Lines(string(text)) {
		var kb float64
		if _, err := fmt.Sscanf(l, "Pss: %f kB", &kb); err == nil {
			return kb * 1024 / 1e6, nil
		}
	}
	return 0, errors.New("no Pss of this process")
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
