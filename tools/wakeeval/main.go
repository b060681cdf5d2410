package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"

	"homeagent/drivers/voice/wake"
	"homeagent/tools/figure"
	"homeagent/tools/wakeeval/trial"
)

func main() {
	cache, _ := os.UserCacheDir()
	models := flag.String("models", first(os.Getenv("HOMEAGENT_MODELS"), cache+"/homeagent/models"), "models `folder`")
	audio := flag.String("audio", "../shared/audio/wakeword", "`folder` of recordings with its manifest.tsv")
	takes := flag.Int("takes", wake.MinTakes, "takes a word is learned from")
	every := flag.Int("every", 1, "try each n-th speaker")
	flag.Parse()
	if flag.NArg() != 0 || *takes < wake.MinTakes || *every < 1 {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *models, *audio, *takes, *every); err != nil {
		fmt.Fprintln(os.Stderr, "wakeeval:", err)
		os.Exit(1)
	}
}

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func run(ctx context.Context, models, audio string, takes, every int) error {
	p := figure.New(os.Stdout, "") // a lost line of standard output shows by itself
	m, err := wake.LoadModel(models)
	if err != nil {
		return err
	}
	b, err := wake.LoadBank(models)
	if err != nil {
		return err
	}
	c, err := trial.Open(audio)
	if err != nil {
		return err
	}
	word, err := cost(ctx, p, m, b, c, takes)
	if err != nil {
		return err
	}
	r, err := trial.Run(ctx, m, b, c, trial.Options{Takes: takes, Every: every, Log: func(f string, a ...any) {
		fmt.Fprintf(os.Stderr, f+"\n", a...)
	}})
	if err != nil {
		return err
	}
	same := fmt.Sprintf("wake.same%d.", takes)
	for _, how := range trial.Conditions {
		n := r.Miss[how]
		p.Bounded(same+"miss_"+string(how), float64(n.Wrong)/float64(max(1, n.N)), "share", n.N, trial.ShareBound(n.Wrong, n.N))
	}
	if len(r.Late) > 0 {
		slices.Sort(r.Late)
		p.Add(same+"trigger_p90_s", r.Late[len(r.Late)*9/10], "s", len(r.Late))
	}
	p.Bounded(same+"false_per_hour", float64(r.False)/r.Hours, "1/h", r.False, trial.RateBound(r.False)/r.Hours)
	fmt.Fprintf(os.Stderr, "%d words learned, %d refused, %.1f hours of strangers' speech\n", r.Words, r.Refused, r.Hours)

	b = nil // what follows is what a listening process holds
	c = nil
	debug.FreeOSMemory()
	return listening(p, m, word)
}

// cost enrols one word and prints what that takes.
func cost(ctx context.Context, p *figure.Printer, m *wake.Model, b *wake.Bank, c *trial.Corpus, takes int) (*wake.Word, error) {
	for _, name := range c.Names() {
		clips := c.Speakers[name]
		if len(clips) < takes {
			continue
		}
		var pcm [][]int16
		for _, clip := range clips[:takes] {
			s, err := c.Read(ctx, clip.File)
			if err != nil {
				return nil, err
			}
			pcm = append(pcm, s)
		}
		before := cpu()
		w, _, err := wake.Enrol(ctx, m, b, name, pcm)
		if err != nil {
			continue
		}
		p.Add("wake.enrol_cpu_s", (cpu() - before).Seconds(), "s", 1)
		return w, nil
	}
	return nil, fmt.Errorf("no speaker has %d takes that can be learned", takes)
}

// listening prints what a minute of sound costs one detector.
func listening(p *figure.Printer, m *wake.Model, w *wake.Word) error {
	d, err := wake.NewDetector(m, w)
	if err != nil {
		return err
	}
	const seconds, frame = 60, 1280
	pcm := make([]int16, frame)
	seed := uint32(1)
	before := cpu()
	for range seconds * 16000 / frame {
		for i := range pcm {
			seed = seed*1664525 + 1013904223
			pcm[i] = int16(seed>>16) / 32
		}
		d.Accept(pcm)
	}
	p.Add("wake.cpu_share", (cpu()-before).Seconds()/seconds, "share", seconds*16000/frame)
	if rss := resident(); rss > 0 {
		p.Add("wake.rss_mb", rss, "MB", 1)
	}
	return nil
}

// cpu is the processor time of this process so far.
func cpu() time.Duration {
	var r syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &r) != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// resident is this process's resident memory in megabytes, 0 if unknown.
func resident() float64 {
	data, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for l := range strings.Lines(string(data)) {
		var kb float64
		if n, _ := fmt.Sscanf(l, "VmRSS: %f kB", &kb); n == 1 {
			return kb / 1024
		}
	}
	return 0
}
