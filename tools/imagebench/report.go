package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// line is one figure, as docs/benchmarks.md describes it.
type line struct {
	Name    string  `json:"name"`
	Value   float64 `json:"value"`
	Unit    string  `json:"unit"`
	N       int     `json:"n"`
	Machine string  `json:"machine"`
	Commit  string  `json:"commit"`
}

// report prints lines.
type report struct {
	enc             *json.Encoder
	machine, commit string
}

func newReport(w io.Writer) *report {
	return &report{enc: json.NewEncoder(w), machine: machine(), commit: commit()}
}

// add prints a line. Where standard output is gone there is nobody to tell.
func (r *report) add(name string, value float64, unit string, n int) {
	r.enc.Encode(line{Name: name, Value: math.Round(value*1000) / 1000, Unit: unit, N: n, Machine: r.machine, Commit: r.commit})
}

// copy prints lines that another program has made.
func (r *report) copy(text []byte) error {
	for l := range bytes.Lines(text) {
		var x line
		if err := json.Unmarshal(l, &x); err != nil || x.Name == "" {
			return fmt.Errorf("%q is no line of a measurement", bytes.TrimSpace(l))
		}
		if err := r.enc.Encode(x); err != nil {
			return err
		}
	}
	return nil
}

// machine is the processor's name and the number of cores.
func machine() string {
	name, cores := "unknown", 0
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return name
	}
	defer f.Close()
	for in := bufio.NewScanner(f); in.Scan(); {
		key, value, _ := strings.Cut(in.Text(), ":")
		switch strings.TrimSpace(key) {
		case "model name", "Model":
			name = strings.TrimSpace(value)
		case "processor":
			cores++
		}
	}
	return name + " x" + strconv.Itoa(cores)
}

func commit() string {
	out, err := exec.Command("git", "describe", "--always", "--dirty").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}
