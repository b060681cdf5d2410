package main

import (
	"bufio"
	"encoding/json"
	"io"
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

func (r *report) add(name string, value float64, unit string, n int) error {
	return r.enc.Encode(line{Name: name, Value: value, Unit: unit, N: n, Machine: r.machine, Commit: r.commit})
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
