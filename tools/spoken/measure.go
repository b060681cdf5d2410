package spoken

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// functionWords carry no meaning of their own.
var functionWords = strings.Fields("a an the is are was be it i of to in at and or for with now here there you your my me this that not")

// numbers are the words for the digits that recognizers write.
var numbers = map[string]string{
	"zero": "0", "oh": "0", "o": "0", "one": "1", "two": "2", "too": "2", "to": "2", "three": "3", "four": "4", "for": "4", "five": "5", "six": "6", "seven": "7", "eight": "8", "ate": "8", "nine": "9",
	"ten": "10", "eleven": "11", "twelve": "12", "thirteen": "13", "fourteen": "14", "fifteen": "15", "sixteen": "16", "seventeen": "17",
	"eighteen": "18", "nineteen": "19", "twenty": "20", "thirty": "30", "forty": "40", "fifty": "50",
}

// Words are the words of a text that carry its meaning, numbers as digits.
func Words(text string) (out []string) {
	text = strings.ToLower(text)
	words := strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for i, w := range words {
		if next := i + 1; next < len(words) && words[next] == "m" && (w == "a" || w == "p") {
			words[next] = w + "m"
			continue
		}
		if w == "am" || w == "pm" {
			continue // hour and minute are what is told; two short letters at the end are often lost
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

// Share is how much of the content words of said stands in heard. "turned on"
// and "turned off" differ in a function word; on and off count therefore.
func Share(said, heard string) float64 {
	want, got := Words(said), Words(heard)
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

// Enough is the share of content words that an answer's sound must give back.
const Enough = 0.8

// clock is a time as the answers write it.
var clock = regexp.MustCompile(`\b\d{1,2}:\d\d\b`)

// EnoughOf is Enough, except for a time of day: which minute it is depends on when
// the test runs, and some ("oh eight a m") no recogniser gets from a synthetic
// voice, so the hour alone will do.
func EnoughOf(text string) float64 {
	if clock.MatchString(text) {
		return 0.5
	}
	return Enough
}

// Plausible checks that a sound may be the text spoken: not silence, and as
// long as people and machines take for it.
func Plausible(t testing.TB, text string, sound []int16) {
	t.Helper()
	loud := Trim(sound)
	if level := RMS(loud); level < 300 {
		t.Errorf("the answer is as quiet as %.0f of 32768", level)
	}
	syllables := 0
	for _, w := range Words(text) {
		syllables += max(1, len([]rune(w))/3)
	}
	for _, r := range text {
		if r >= 0x4e00 && r <= 0x9fff {
			syllables++
		}
	}
	seconds := float64(len(loud)) / 16000
	if low, high := 0.06*float64(syllables), 1.5+0.8*float64(syllables); seconds < low || seconds > high {
		t.Errorf("%q lasts %.1f s, want %.1f to %.1f", text, seconds, low, high)
	}
}
