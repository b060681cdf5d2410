package figure

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

// Line is one figure. Bound95 is, for shares and rates, the end of the 95 %
// interval that a promise must clear.
type Line struct {
	Name    string   `json:"name"`
	Value   float64  `json:"value"`
	Unit    string   `json:"unit"`
	N       int      `json:"n"`
	Bound95 *float64 `json:"bound95,omitempty"`
	Machine string   `json:"machine"`
	Commit  string   `json:"commit"`
}

// Printer prints figures of this machine.
type Printer struct {
	enc             *json.Encoder
	machine, commit string
}

// New prints to w. dir is a folder of the source tree whose commit is named; ""
// is the working folder.
func New(w io.Writer, dir string) *Printer {
	return &Printer{enc: json.NewEncoder(w), machine: machine(), commit: commit(dir)}
}

// Add prints a figure. The error is the writer's.
func (p *Printer) Add(name string, value float64, unit string, n int) error {
	return p.enc.Encode(Line{Name: name, Value: value, Unit: unit, N: n, Machine: p.machine, Commit: p.commit})
}

// Bounded prints a share or a rate with its bound.
func (p *Printer) Bounded(name string, value float64, unit string, n int, bound float64) error {
	return p.enc.Encode(Line{Name: name, Value: value, Unit: unit, N: n, Bound95: &bound, Machine: p.machine, Commit: p.commit})
}

// Copy prints figures that another program has printed, as they are.
func (p *Printer) Copy(text []byte) error {
	for l := range bytes.Lines(text) {
		var x Line
		if err := json.Unmarshal(l, &x); err != nil || x.Name == "" {
			return fmt.Errorf("%q is no line of a measurement", bytes.TrimSpace(l))
		}
		if err := p.enc.Encode(x); err != nil {
			return err
		}
	}
	return nil
}

// Round keeps the given number of digits behind the point.
func Round(v float64, digits int) float64 {
	unit := math.Pow10(digits)
	return math.Round(v*unit) / unit
}

// machine is the processor's name and the number of cores.
func machine() string {
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return "unknown"
	}
	defer f.Close()
	name, cores := "unknown", 0
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

func commit(dir string) string {
	cmd := exec.Command("git", "describe", "--always", "--dirty")
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}
