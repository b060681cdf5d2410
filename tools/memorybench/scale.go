package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"homeagent/memory"
	"homeagent/memory/document"
	"homeagent/memory/graph"
	"homeagent/memory/search"
	"homeagent/tools/figure"
)

// measureScale makes a memory of each size and lets a process of its own use it,
// because memory and start-up are those of a process.
func measureScale(ctx context.Context, sizes, documents string, print *figure.Printer, messages io.Writer) error {
	for size := range strings.SplitSeq(sizes, ",") {
		relations, err := number(size)
		if err != nil {
			return err
		}
		docs := relations / 10
		if documents != "" {
			if docs, err = number(documents); err != nil {
				return err
			}
		}
		if err := measureSize(ctx, strings.ToLower(size), relations, docs, print, messages); err != nil {
			return fmt.Errorf("%s relations: %w", size, err)
		}
	}
	return nil
}

// number reads "500", "10k", "1m".
func number(s string) (int, error) {
	s = strings.ToLower(s)
	unit := 1
	switch {
	case strings.HasSuffix(s, "k"):
		unit, s = 1000, strings.TrimSuffix(s, "k")
	case strings.HasSuffix(s, "m"):
		unit, s = 1_000_000, strings.TrimSuffix(s, "m")
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 || n > 100_000_000/unit {
		return 0, fmt.Errorf("%q is no number of relations or documents", s)
	}
	return n * unit, nil
}

func measureSize(ctx context.Context, size string, relations, docs int, print *figure.Printer, messages io.Writer) error {
	dir, err := os.MkdirTemp("", "memorybench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := fill(ctx, dir, relations, docs); err != nil {
		return err
	}
	bytesUsed, err := used(dir)
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, self, "-child", dir)
	cmd.Stdout, cmd.Stderr = &out, messages
	if err := cmd.Run(); err != nil {
		return err
	}
	for line := range strings.Lines(out.String()) {
		var name, unit string
		var value float64
		var n int
		if _, err := fmt.Sscan(line, &name, &value, &unit, &n); err != nil {
			return fmt.Errorf("%q: %w", line, err)
		}
		if err := print.Add(name+"."+size, figure.Round(value, 3), unit, n); err != nil {
			return err
		}
	}
	return print.Add("memory.disk_mb."+size, figure.Round(float64(bytesUsed)/1e6, 1), "MB", docs)
}

// fill makes the stores as years would have.
func fill(ctx context.Context, dir string, relations, docs int) (err error) {
	m, _, err := memory.Open(dir, memory.Options{}) // makes all of the files
	if err == nil {
		err = m.Close()
	}
	if err != nil {
		return err
	}
	g, _, err := graph.Open(filepath.Join(dir, "memory", "graph.db"), graph.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.Close()) }()
	made := newHousehold()
	for chunk := range slices.Chunk(made.facts(relations), 5000) {
		if _, err := g.Commit(ctx, chunk, graph.Origin{Source: "bench"}); err != nil {
			return err
		}
	}
	store, _, err := document.Open(filepath.Join(dir, "memory", "documents"), document.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	x, _, err := search.Open(filepath.Join(dir, "memory", "index.db"), search.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	var waiting []search.Passage
	for i := range docs {
		d := made.document(i)
		if d.ID, err = store.Put(ctx, d); err != nil {
			return err
		}
		waiting = append(waiting, document.Passages(d, nil)...)
		if len(waiting) >= 2000 || i == docs-1 {
			if err := x.Put(ctx, waiting...); err != nil {
				return err
			}
			waiting = waiting[:0]
		}
	}
	return nil
}

// used is what a folder takes on the disk, in bytes.
func used(dir string) (n int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			n += info.Size()
		}
		return err
	})
	return n, err
}

// percentile is the smallest value that the share p of them does not exceed.
func percentile[T cmp.Ordered](values []T, p float64) T {
	s := slices.Sorted(slices.Values(values))
	return s[min(len(s)-1, int(p*float64(len(s))))]
}
