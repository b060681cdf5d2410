package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"homeagent/tools/emulator"
)

// quiet is how long nobody speaks to the house before its memory is read: longer
// than the two minutes after which the engines leave.
const quiet = 3 * time.Minute

// probe prints all that usage reads. The kernel's own log tells what it was given.
const probe = `dmesg | grep -m1 'Memory: .*available'; cat /proc/meminfo
echo "MinFree: $(cat /proc/sys/vm/min_free_kbytes) kB"
for d in /proc/[0-9]*; do
  pss=$(sed -n 's/^Pss: *\([0-9]*\) kB/\1/p' "$d/smaps_rollup" 2>/dev/null)
  [ -z "$pss" ] || echo "process $pss $(tr '\0\n' '  ' <"$d/cmdline")"
done`

// usage is a look at the guest's memory, in kB.
type usage struct {
	given   int64 // to the kernel, its own image included
	meminfo map[string]int64
	procs   []process
}

// process is a program and its share of memory.
type process struct {
	pss     int64
	command string
}

// used is what the whole system holds.
func (u usage) used() int64 { return u.given - u.meminfo["MemAvailable"] }

// parseUsage reads what probe has printed.
func parseUsage(text string) (usage, error) {
	u := usage{meminfo: map[string]int64{}}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if rest, ok := strings.CutPrefix(line, "process "); ok {
			var p process
			if _, err := fmt.Sscanf(rest, "%d", &p.pss); err != nil {
				return u, fmt.Errorf("%q: %w", line, err)
			}
			_, p.command, _ = strings.Cut(rest, " ")
			u.procs = append(u.procs, p)
			continue
		}
		if at := strings.Index(line, "Memory: "); at >= 0 {
			var free int64
			if _, err := fmt.Sscanf(line[at:], "Memory: %dK/%dK available", &free, &u.given); err != nil {
				return u, fmt.Errorf("%q: %w", line, err)
			}
			continue
		}
		key, value, ok := strings.Cut(line, ":")
		var n int64
		if _, err := fmt.Sscanf(value, "%d", &n); ok && err == nil {
			u.meminfo[key] = n
		}
	}
	if u.given == 0 || u.meminfo["MemAvailable"] == 0 {
		return u, errors.New("the guest did not tell about its memory")
	}
	slices.SortFunc(u.procs, func(a, b process) int { return int(b.pss - a.pss) })
	return u, nil
}

// name is what a process of the house is called in the lines, "" for others.
func (p process) name() string {
	words := strings.Fields(p.command)
	if len(words) == 0 {
		return ""
	}
	program := words[0][strings.LastIndexByte(words[0], '/')+1:]
	sub := ""
	if len(words) > 1 {
		sub = words[1]
	}
	switch {
	case program == "homed-agent" && sub == "engines":
		return "engines"
	case program == "homed-agent":
		return "agent"
	case program == "homed" && sub == "door":
		return "door"
	case program == "homed" && strings.HasPrefix(sub, "-"):
		return "supervisor"
	}
	return ""
}

func mb(kb int64) float64 { return float64(kb) * 1024 / 1e6 }

func (g *guest) usage(ctx context.Context) (usage, error) {
	text, err := g.run(ctx, probe)
	if err != nil {
		return usage{}, err
	}
	return parseUsage(text)
}

// memory measures the idle house on an emulated board.
func (b *bench) memory(ctx context.Context, board emulator.Board) error {
	g, err := b.newGuest(ctx, "idle-"+string(board), emulator.Config{Board: board, Append: b.append})
	if err != nil {
		return err
	}
	defer g.close()
	if err := wait(ctx, g.m, quiet); err != nil {
		return err
	}
	u, err := g.usage(ctx)
	if err != nil {
		return err
	}
	b.explain("idle "+string(board), u)
	if len(u.procs) == 0 {
		return errors.New("the guest did not tell about its processes")
	}
	total := int64(0)
	for _, p := range u.procs {
		switch name := p.name(); name {
		case "":
		case "engines":
			return errors.New("the voice engines have not left after three idle minutes")
		default:
			total += p.pss
			b.out.add("pss."+name+"_mb."+string(board), mb(p.pss), "MB", 1)
		}
	}
	b.out.add("pss.total_mb."+string(board), mb(total), "MB", 1)
	b.out.add("mem.idle_mb."+string(board), mb(u.used()), "MB", 1)
	return nil
}

// explain says on standard error who holds the memory.
func (b *bench) explain(what string, u usage) {
	m := u.meminfo
	all := int64(0)
	for _, p := range u.procs {
		all += p.pss
	}
	fmt.Fprintf(b.log, "%s: %.1f MB of %.1f MB given; kernel image and tables made at boot %.1f; MemTotal %.1f, MemFree %.1f, MemAvailable %.1f\n",
		what, mb(u.used()), mb(u.given), mb(u.given-m["MemTotal"]), mb(m["MemTotal"]), mb(m["MemFree"]), mb(m["MemAvailable"]))
	fmt.Fprintf(b.log, "%s: processes %.1f (Pss); SUnreclaim %.1f, SReclaimable %.1f, KernelStack %.1f, PageTables %.1f, Percpu %.1f, VmallocUsed %.1f, Shmem %.1f, Cached %.1f, Buffers %.1f, AnonPages %.1f, CmaTotal %.1f, CmaFree %.1f; kept free by vm.min_free_kbytes %.1f\n",
		what, mb(all), mb(m["SUnreclaim"]), mb(m["SReclaimable"]), mb(m["KernelStack"]), mb(m["PageTables"]), mb(m["Percpu"]), mb(m["VmallocUsed"]),
		mb(m["Shmem"]), mb(m["Cached"]), mb(m["Buffers"]), mb(m["AnonPages"]), mb(m["CmaTotal"]), mb(m["CmaFree"]), mb(m["MinFree"]))
	for _, p := range u.procs {
		if p.pss > 500 {
			fmt.Fprintf(b.log, "%s: %6.1f MB %s\n", what, mb(p.pss), p.command)
		}
	}
}
