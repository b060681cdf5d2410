package main

import (
	"bufio"
	"encoding/json"
	"io"
	"math"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// report prints the lines.
type report struct {
	enc     *json.Encoder
	machine string
	commit  string
}

// line is one figure. Bound95 is the upper end of a 95 % interval for shares.
type line struct {
	Name    string   `json:"name"`
	Value   float64  `json:"value"`
	Unit    string   `json:"unit"`
	N       int      `json:"n"`
	Bound95 *float64 `json:"bound95,omitempty"`
	Machine string   `json:"machine"`
	Commit  string   `json:"commit"`
}

func newReport(w io.Writer) *report {
	return &report{enc: json.NewEncoder(w), machine: machine(), commit: commit()}
}

func (r *report) add(name string, value float64, unit string, n int) {
	r.enc.Encode(line{Name: name, Value: round(value), Unit: unit, N: n, Machine: r.machine, Commit: r.commit})
}

// share prints a rate with the end of its 95 % interval that a promise of "at
// least" must clear: Wilson's lower bound.
func (r *report) share(name string, good, n int) {
	p, z := float64(good)/float64(n), 1.96
	den := 1 + z*z/float64(n)
	low := (p + z*z/(2*float64(n)) - z*math.Sqrt(p*(1-p)/float64(n)+z*z/(4*float64(n)*float64(n)))) / den
	low = round(low)
	r.enc.Encode(line{Name: name, Value: round(p), Unit: "share", N: n, Bound95: &low, Machine: r.machine, Commit: r.commit})
}

func round(v float64) float64 { return math.Round(v*10000) / 10000 }

// percentile is the smallest value that p (0 to 1) of them do not exceed.
func percentile(d []time.Duration, p float64) time.Duration {
	s := slices.Clone(d)
	slices.Sort(s)
	return s[min(len(s)-1, max(0, int(math.Ceil(p*float64(len(s))))-1))]
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// machine is the processor's name and the number of cores that may be used.
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
	return name + " x" + string(rune('0'+min(cores, 9)))
}

func commit() string {
	out, err := exec.Command("git", "describe", "--always", "--dirty").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}
