package wholepath

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"

	"homeagent/drivers/voice/engine"
	"homeagent/drivers/voice/speech"
)

// The engines that judge answers are a process of the test's own, the program
// that the houses run.
var (
	judgeMu sync.Mutex
	judge   *engine.Client
)

// freely writes down English without a grammar.
func freely(t testing.TB, samples []int16) string {
	t.Helper()
	needEngines(t)
	models := modelsFolder(t)
	prog := program(t, "homed-agent")
	judgeMu.Lock()
	if judge == nil {
		judge = engine.NewClient(engine.Options{Command: []string{prog, "engines", "-models", models}})
	}
	free := judge.Free()
	judgeMu.Unlock()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	got, err := free.Recognize(ctx, samples, speech.Hint{Lang: "en"})
	if err != nil {
		t.Fatalf("free recognition: %v", err)
	}
	return got.Text
}

func closeEngines() {
	judgeMu.Lock()
	defer judgeMu.Unlock()
	if judge != nil {
		judge.Close()
	}
}

// functionWords carry no meaning of their own.
var functionWords = strings.Fields("a an the is are was be it i of to in at and or for with now here there you your my me this that not")

// numbers are the words for the digits that recognizers write.
var numbers = map[string]string{
	"zero": "0", "oh": "0", "o": "0", "one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8", "nine": "9",
	"ten": "10", "eleven": "11", "twelve": "12", "thirteen": "13", "fourteen": "14", "fifteen": "15", "sixteen": "16", "seventeen": "17",
	"eighteen": "18", "nineteen": "19", "twenty": "20", "thirty": "30", "forty": "40", "fifty": "50",
}

// contentWords are the words of a text that carry its meaning, numbers as digits.
func contentWords(text string) (out []string) {
	text = strings.ToLower(text)
	words := strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for i, w := range words {
		if next := i + 1; next < len(words) && words[next] == "m" && (w == "a" || w == "p") {
			words[next] = w + "m"
			continue
		}
		if w == "o" && i+1 < len(words) && words[i+1] == "clock" || w == "clock" || w == "00" {
			continue // a full hour is spoken with them, with one or with none
		}
		if d, ok := numbers[w]; ok {
			// "twenty three" is 23, "oh five" is 05.
			if k := len(out) - 1; k >= 0 && len(d) == 1 && (out[k] == "0" || len(out[k]) == 2 && out[k][1] == '0' && out[k] >= "20") {
				if out[k] == "0" {
					out[k] += d
				} else {
					out[k] = out[k][:1] + d
				}
				continue
			}
			out = append(out, d)
			continue
		}
		if n := len(w) - 2; (n == 1 || n == 2) && strings.Trim(w, "0123456789") == "" {
			if out = append(out, w[:n]); w[n:] != "00" { // a time without its colon
				out = append(out, w[n:])
			}
			continue
		}
		if !slices.Contains(functionWords, w) {
			out = append(out, w)
		}
	}
	return out
}

// share is how much of the content words of said stands in heard. "turned on"
// and "turned off" differ in a function word; on and off count therefore.
func share(said, heard string) float64 {
	want, got := contentWords(said), contentWords(heard)
	if len(want) == 0 {
		return 0
	}
	n := 0
	for _, w := range want {
		if i := slices.Index(got, w); i >= 0 {
			n++
			got = slices.Delete(got, i, i+1)
		}
	}
	return float64(n) / float64(len(want))
}

// enough is the share of content words that an answer's sound must give back.
const enough = 0.8

func TestMeasure(t *testing.T) {
	for _, row := range []struct {
		name, said, heard string
		want              float64
	}{
		{"the same", "The living room lamp is on.", "the living room lamp is on", 1},
		{"the time in digits", "It is 9:23 PM.", "It is 9.23 p.m.", 1},
		{"the time in words", "It is 9:23 PM.", "It is nine twenty-three pm", 1},
		{"the letters apart", "It is 9:23 PM.", "It is nine twenty three p M..", 1},
		{"a full hour", "It is 9:05 PM.", "it is nine oh five p.m.", 1},
		{"a zero spoken as a letter", "It is 11:09 PM.", "It is eleven o nine p M..", 1},
		{"a full hour with a clock", "It is 11:00 PM.", "It is eleven o'clock p.m.", 1},
		{"a full hour bare", "It is 11:00 PM.", "It's 1100 PM", 1},
		{"the colon is lost", "It is 11:09 PM.", "It is 1109 PM.", 1},
		{"another time", "It is 11:09 PM.", "It is 1110 PM.", 2.0 / 3},
		{"one word of four is wrong", "The living room lamp is on.", "the living room lamb is on", 0.75},
		{"on is not off", "The living room lamp is on.", "the living room lamp is off", 0.75},
		{"other words", "The living room lamp is on.", "It is 9:23 PM.", 0},
		{"nothing heard", "The living room lamp is on.", "", 0},
		{"a word counts once", "lamp lamp", "lamp", 0.5},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := share(row.said, row.heard); got != row.want {
				t.Errorf("share(%q, %q) = %v, want %v; words %q and %q", row.said, row.heard, got, row.want, contentWords(row.said), contentWords(row.heard))
			}
		})
	}
}
