package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"strings"

	"homeagent/memory/search"
	"homeagent/tools/figure"
)

// without names the parts that are left out.
type without struct {
	graph  bool
	search search.Parts
}

var parts = map[string]search.Parts{"neighbours": search.Neighbours, "feedback": search.Feedback, "duplicates": search.Duplicates,
	"speakers": search.Speakers, "phrases": search.Phrases, "times": search.Times, "shape": search.Shape}

func readWithout(list string) (w without, err error) {
	for p := range strings.SplitSeq(list, ",") {
		switch bit, ok := parts[p]; {
		case p == "":
		case p == "graph":
			w.graph = true
		case ok:
			w.search |= bit
		default:
			return w, fmt.Errorf("there is no part %q", p)
		}
	}
	return w, nil
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
	default:
		fmt.Fprintln(os.Stderr, "memorybench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out, messages io.Writer) error {
	flags := flag.NewFlagSet("memorybench", flag.ContinueOnError)
	flags.SetOutput(messages)
	data := flags.String("data", "../shared/bench/memory", "folder of a data set, or of several")
	leave := flags.String("without", "", "parts to leave out, by commas: graph,neighbours,feedback,duplicates,speakers,phrases,times,shape; \"each\" leaves each out in turn")
	scale := flags.String("scale", "", "numbers of relations to measure time, memory and disk at, by commas: 10k,100k,1m")
	documents := flags.String("documents", "", "number of documents beside them, by default a tenth of the relations")
	childOf := flags.String("child", "", "for this program's own use")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *childOf != "" {
		return child(ctx, *childOf, out)
	}
	print := figure.New(out, "")
	if *scale != "" {
		return measureScale(ctx, *scale, *documents, print, messages)
	}
	sets, err := findSets(*data)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(sets) == 0 {
		fmt.Fprintf(messages, "memorybench: not measured: %s has no data set\n", *data)
		return nil
	}
	if err != nil {
		return err
	}
	runs, err := readRuns(*leave)
	if err != nil {
		return err
	}
	for _, dir := range sets {
		s, err := readSet(dir)
		if err == nil {
			err = measureSet(ctx, s, runs, print)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// readRuns is the list of what to leave out, a run each; its names end the
// figures' names.
func readRuns(leave string) ([]named, error) {
	if leave == "each" {
		runs := []named{{}, {"-graph", without{graph: true}}}
		for _, p := range []string{"neighbours", "feedback", "duplicates", "speakers", "phrases", "times", "shape"} {
			runs = append(runs, named{"-" + p, without{search: parts[p]}})
		}
		return runs, nil
	}
	w, err := readWithout(leave)
	name := ""
	if leave != "" {
		name = "-" + strings.ReplaceAll(leave, ",", "-")
	}
	return []named{{name, w}}, err
}

// named is a run with what its figures' names end with.
type named struct {
	name string
	without
}

// measureSet lets each conversation live and asks its queries.
func measureSet(ctx context.Context, s *dataset, runs []named, print *figure.Printer) error {
	scores := make([]score, len(runs))
	for _, conv := range s.convs {
		if err := measureConv(ctx, s, conv, runs, scores); err != nil {
			return fmt.Errorf("%s, %s: %w", s.name, conv, err)
		}
	}
	for i, r := range runs {
		sc := scores[i]
		n := float64(max(sc.n, 1))
		lines := []struct {
			name  string
			value float64
			n     int
		}{{"r1", sc.r1 / n, sc.n}, {"r5", sc.r5 / n, sc.n}, {"r10", sc.r10 / n, sc.n}, {"mrr", sc.mrr / n, sc.n},
			{"multihop_r5", sc.multi / float64(max(sc.multiN, 1)), sc.multiN}}
		for _, l := range lines {
			if l.n == 0 {
				continue
			}
			if err := print.Add("recall."+s.name+r.name+"."+l.name, figure.Round(l.value, 4), "share", l.n); err != nil {
				return err
			}
		}
	}
	return nil
}

func measureConv(ctx context.Context, s *dataset, conv string, runs []named, scores []score) (err error) {
	dir, err := os.MkdirTemp("", "memorybench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	h, err := remember(ctx, dir, s.docs[conv])
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.close()) }()
	for i, r := range runs {
		for _, q := range s.queries[conv] {
			items, err := h.ask(ctx, q.Text, r.without)
			if err != nil {
				return fmt.Errorf("query %s: %w", q.ID, err)
			}
			scores[i].add(judge(q, items))
		}
	}
	return nil
}
