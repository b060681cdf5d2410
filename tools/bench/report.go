package main

import (
	"io"
	"math"
	"slices"
	"time"

	"homeagent/tools/figure"
)

// report prints the lines, rounded to four digits.
type report struct{ *figure.Printer }

func newReport(w io.Writer) *report { return &report{figure.New(w, "")} }

func (r *report) add(name string, value float64, unit string, n int) {
	r.Add(name, round(value), unit, n) // standard output; a lost line shows by itself
}

// share prints a rate with the end of its 95 % interval that a promise of "at
// least" must clear: Wilson's lower bound.
func (r *report) share(name string, good, n int) {
	p, z := float64(good)/float64(n), 1.96
	den := 1 + z*z/float64(n)
	low := (p + z*z/(2*float64(n)) - z*math.Sqrt(p*(1-p)/float64(n)+z*z/(4*float64(n)*float64(n)))) / den
	r.Bounded(name, round(p), "share", n, round(low))
}

func round(v float64) float64 { return figure.Round(v, 4) }

// percentile is the smallest value that p (0 to 1) of them do not exceed.
func percentile(d []time.Duration, p float64) time.Duration {
	s := slices.Clone(d)
	slices.Sort(s)
	return s[min(len(s)-1, max(0, int(math.Ceil(p*float64(len(s))))-1))]
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
