package engine

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"homeagent/drivers/voice/speech"
)

// procCPU is the processor time of a process so far, in seconds.
func procCPU(b *testing.B, pid int) float64 {
	b.Helper()
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		b.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	f := strings.Fields(rest)
	user, err1 := strconv.Atoi(f[11])
	sys, err2 := strconv.Atoi(f[12])
	if err1 != nil || err2 != nil {
		b.Fatal(err1, err2)
	}
	return float64(user+sys) / 100 // USER_HZ is 100 on every Linux
}

// procMB is one line of a process's status in MB.
func procMB(b *testing.B, pid int, key string) float64 {
	b.Helper()
	status, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if v, ok := strings.CutPrefix(line, key+":"); ok {
			kb, err := strconv.Atoi(strings.Fields(v)[0])
			if err != nil {
				b.Fatal(err)
			}
			return float64(kb) / 1024
		}
	}
	b.Fatalf("no %s in the status", key)
	return 0
}

// BenchmarkLoad is from no process to one that would keep nobody waiting.
func BenchmarkLoad(b *testing.B) {
	cpu := 0.0
	for b.Loop() {
		c := real(b)
		if err := c.Warm(b.Context()); err != nil {
			b.Fatal(err)
		}
		cpu += procCPU(b, c.PID())
		b.StopTimer()
		c.Close()
		b.StartTimer()
	}
	b.ReportMetric(cpu/float64(b.N), "cpu-s/op")
}

// BenchmarkCommand is from the end of a command of 2.0 s to its words, with
// the engines loaded.
func BenchmarkCommand(b *testing.B) {
	c := real(b)
	lamp := clip(b, "household/turn_on_the_living_room_lamp.wav").Audio
	lamp = lamp[:min(len(lamp), 32000)]
	hint := speech.Hint{Grammar: lampGrammar}
	got, err := c.English().Recognize(b.Context(), lamp, hint)
	if err != nil || !got.Command {
		b.Fatalf("%+v, %v", got, err)
	}
	b.ReportMetric(procMB(b, c.PID(), "VmRSS"), "rss-MB-before")
	before := procCPU(b, c.PID())
	for b.Loop() {
		if _, err := c.English().Recognize(b.Context(), lamp, hint); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric((procCPU(b, c.PID())-before)/float64(b.N)/(float64(len(lamp))/16000), "cpu-s/audio-s")
	b.ReportMetric(procMB(b, c.PID(), "VmRSS"), "rss-MB")
	b.ReportMetric(procMB(b, c.PID(), "VmHWM"), "peak-MB")
}

// BenchmarkEndpoint is one 80 ms frame through the process.
func BenchmarkEndpoint(b *testing.B) {
	c := real(b)
	e, err := c.OpenEndpointer(b.Context(), speech.EndpointConfig{Trailing: time.Hour})
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close()
	frame := make([]int16, speech.Frame)
	before := procCPU(b, c.PID())
	for b.Loop() {
		if _, err := e.Accept(b.Context(), frame); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric((procCPU(b, c.PID())-before)/float64(b.N)/0.08, "cpu-s/audio-s")
}
