package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"
)

// settle is how long the house is left alone before its memory is read.
const settle = 5 * time.Second

// benchPSS: memory of the idle house without voice, shared pages shared out.
func benchPSS(ctx context.Context, bin string, r *report) error {
	h, err := open(bin, "voice: {microphone: \"off\", speaker: \"off\"}\n")
	if err != nil {
		return err
	}
	defer h.close()
	if err := h.ready(ctx); err != nil {
		return err
	}
	select {
	case <-time.After(settle):
	case <-ctx.Done():
		return ctx.Err()
	}
	pids, err := h.pids(ctx)
	if err != nil {
		return err
	}
	total := 0.0
	for _, name := range []string{"homed", "door", "agent"} {
		mb, err := pss(pids[name])
		if err != nil {
			return err
		}
		total += mb
		label := name
		if name == "homed" {
			label = "supervisor"
		}
		r.add("pss."+label+"_mb", mb, "MB", 1)
	}
	r.add("pss.total_mb", total, "MB", 1)
	return nil
}

// pss is the proportional set size of a process in MB.
func pss(pid int) (float64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return 0, err
	}
	for l := range strings.Lines(string(text)) {
		var kb float64
		if _, err := fmt.Sscanf(l, "Pss: %f kB", &kb); err == nil {
			return kb * 1024 / 1e6, nil
		}
	}
	return 0, fmt.Errorf("no Pss of process %d", pid)
}
