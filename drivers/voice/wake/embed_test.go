package wake_test

import (
	"math"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"homeagent/drivers/voice/speech"
	"homeagent/drivers/voice/wake/waketest"
)

// sound is speech-like noise: bursts whose colour and loudness change, so that
// every layer of the network has something to do.
func sound(seed uint64, n int) []int16 {
	r := rand.New(rand.NewPCG(seed, 1))
	out := make([]int16, n)
	var y, phase, gain, tone, colour float64
	for i := range out {
		if i%1600 == 0 {
			gain = math.Pow(10, r.Float64()*3+0.7)
			tone, colour = 100+r.Float64()*3000, r.Float64()
		}
		phase += 2 * math.Pi * tone / 16000
		y = colour*y + (1-colour)*(r.Float64()*2-1) + 0.3*math.Sin(phase)
		out[i] = int16(max(-32767, min(32767, y*gain)))
	}
	return out
}

func TestEmbedderDoesNotAllocate(t *testing.T) {
	e := waketest.Model(t).NewEmbedder()
	frame := sound(3, speech.Frame)
	if n := testing.AllocsPerRun(20, func() { e.Step(frame) }); n != 0 {
		t.Errorf("%v allocations a step", n)
	}
}

func TestResetForgetsTheStream(t *testing.T) {
	m := waketest.Model(t)
	fresh, used := m.NewEmbedder(), m.NewEmbedder()
	pcm := sound(4, 20*speech.Frame)
	for i := 0; i < len(pcm); i += speech.Frame {
		used.Step(pcm[i:])
	}
	used.Reset()
	for i := 0; i < len(pcm); i += speech.Frame {
		a, b := fresh.Step(pcm[i:]), used.Step(pcm[i:])
		for k := range a {
			if a[k] != b[k] {
				t.Fatalf("step %d value %d: %v after Reset, %v fresh", i/speech.Frame, k, b[k], a[k])
			}
		}
	}
}

func BenchmarkStep(b *testing.B) {
	e := waketest.Model(b).NewEmbedder()
	pcm := sound(5, 64*speech.Frame)
	i, n := 0, 0
	before := cpu(b)
	for b.Loop() {
		n++
		e.Step(pcm[i*speech.Frame:])
		i = (i + 1) % 64
	}
	b.ReportMetric((cpu(b)-before).Seconds()/float64(n)/0.08*100, "%core")
}

// cpu is the processor time of this process so far, which other programs on the machine do not disturb.
func cpu(t testing.TB) time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		t.Fatal(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
