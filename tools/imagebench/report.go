package main

import (
	"io"

	"homeagent/tools/figure"
)

// report prints the lines, rounded to three digits.
type report struct{ *figure.Printer }

func newReport(w io.Writer) *report { return &report{figure.New(w, "")} }

// add prints a line. Where standard output is gone there is nobody to tell.
func (r *report) add(name string, value float64, unit string, n int) {
	r.Add(name, figure.Round(value, 3), unit, n)
}
