package server

import (
	"math"
	"strings"
	"testing"
)

func TestSimilarity(t *testing.T) {
	rows := []struct {
		name, a, b string
		least      float64
		most       float64
	}{
		{"equal but for writing", "what time is it", "What time is it?", 1, 1},
		{"numbers", "set a timer for twenty five minutes", "Set a timer for 25 minutes.", 1, 1},
		{"percent", "dim the lamp to forty percent", "Dim the lamp to 40%.", 1, 1},
		{"hundreds", "one thousand two hundred", "1200", 1, 1},
		{"apostrophes", "what's the time", "What’s the time?", 1, 1},
		{"nothing heard", "turn on", "", 0, 0},
		{"nothing said", "", "", 0, 0},
		{"only marks heard", "turn on", "...", 0, 0},
		{"a word misheard", "get me a double shot mocha", "Give me a double shot motor.", agree, 1},
		{"one word, one letter wrong", "louder", "Lauder.", agree, 1},
		{"recorded: half misheard", "get me a dark roast house coffee with sweetener and almond milk", "Guinea-adjar grows house coffee with sweetener and on an elk.", agree, 1},
		{"recorded: short and other", "turn off plug", "Ten of clubs.", 0, agree - 0.05},
		{"recorded: long and other", "wake me up at two a m", "Make me a latte.", 0, agree - 0.05},
		{"other speech", "set the office light to yellow", "He was not an ill-disposed young man.", 0, agree - 0.05},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			ab, ba := Similarity(row.a, row.b), Similarity(row.b, row.a)
			if ab < row.least || ab > row.most || math.Abs(ab-ba) > 1e-9 {
				t.Errorf("%.3f and %.3f, want %.2f to %.2f", ab, ba, row.least, row.most)
			}
		})
	}
}

func TestContradict(t *testing.T) {
	rows := []struct {
		name, a, b string
		want       bool
	}{
		{"the same", "turn on the lamp", "Turn on the lamp.", false},
		{"recorded: on for off", "turn the lights on", "Turn the lights off.", true},
		{"the other way round", "turn off the lamp", "Turn the lamp on.", true},
		{"up for down", "turn the volume up", "turn the volume down", true},
		{"one does not say it", "turn the lights on", "the lights", false},
		{"one says both", "turn the lights on", "on, no, off", false},
		{"inside another word", "turn it on", "turn it, office", false},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			if got := contradict(row.a, row.b); got != row.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

func TestSpoken(t *testing.T) {
	for n, want := range map[int]string{0: "zero", 7: "seven", 13: "thirteen", 20: "twenty", 99: "ninety nine", 100: "one hundred",
		305: "three hundred five", 1000: "one thousand", 9876: "nine thousand eight hundred seventy six"} {
		if got := strings.Join(spoken(n), " "); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}
