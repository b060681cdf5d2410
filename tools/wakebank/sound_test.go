package main

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestPromptsComeInAFixedOrder(t *testing.T) {
	dir := t.TempDir()
	for i, name := range []string{"a.wav", "digits/b.wav", "c.wav", "silence/1.wav", "short.wav", "notes.txt"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		n := 8000 + i // 1 s at 8 kHz, told apart by its length
		if name == "short.wav" {
			n = 1000
		}
		if err := os.WriteFile(path, wav(8000, 1, 16, sine(8000, 300, n)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	read := func(seconds float64) (lengths []int) {
		p, err := prompts(voice{name: "x", pkg: "none", dir: dir}, seconds)
		if err != nil {
			t.Fatal(err)
		}
		for _, pcm := range p {
			lengths = append(lengths, len(pcm))
		}
		return lengths
	}
	all := read(100)
	sorted := slices.Sorted(slices.Values(all))
	if !slices.Equal(sorted, []int{16000, 16002, 16004}) {
		t.Errorf("prompts of %v samples: silence, short ones and other files must be left out", all)
	}
	if few := read(1.5); !slices.Equal(few, all[:2]) {
		t.Errorf("1.5 s gave %v, want the first two of %v", few, all)
	}
	if err := os.WriteFile(filepath.Join(dir, "d.wav"), []byte("not sound"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := prompts(voice{dir: dir}, 100); err == nil {
		t.Error("a file that is no WAV was passed over in silence")
	}
	var missing *missingError
	if _, err := prompts(voice{pkg: "p", dir: filepath.Join(dir, "nowhere")}, 1); !errors.As(err, &missing) {
		t.Errorf("error %v", err)
	}
}

func TestStreamIsRepeatableAndLevelled(t *testing.T) {
	var p [][]int16
	for range 8 {
		p = append(p, sine(16000, 500, 16000))
	}
	a, b := stream(p, 1), stream(p, 1)
	if !slices.Equal(a, b) {
		t.Error("the same prompts gave two streams")
	}
	if d := decibels(a); d > levels[0] || d < levels[len(levels)-1] {
		t.Errorf("a stream of %.1f dB from prompts of %v", d, levels)
	}
}

func TestVoicesAreTheSameLengthAndLevel(t *testing.T) {
	loud, soft := sine(16000, 300, 50000), sine(16000, 300, 50000)
	for i := range soft {
		soft[i] /= 20
	}
	v := voicesFor([][][]int16{{loud, loud}, {soft, soft}}, 2)
	if len(v) != 4*rate {
		t.Fatalf("%d samples", len(v))
	}
	if d := decibels(v[:2*rate]) - decibels(v[2*rate:]); math.Abs(d) > 1 {
		t.Errorf("levels differ by %.1f dB", d)
	}
}
