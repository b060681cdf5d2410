package wake

import (
	"math"
	"testing"
)

// tone writes n samples of a 300 Hz tone of the given amplitude over faint noise.
func tone(amplitude float64, n int) []int16 {
	out := make([]int16, n)
	for i := range out {
		out[i] = int16(amplitude*math.Sin(2*math.Pi*300*float64(i)/rate)) + int16(i*7919%7) - 3
	}
	return out
}

func join(parts ...[]int16) []int16 {
	var out []int16
	for _, p := range parts {
		out = append(out, p...)
	}
	return out
}

const tenth = rate / 10

func TestJudge(t *testing.T) {
	silence := tone(0, 5*tenth)
	clip := make([]int16, 6*tenth)
	for i := range clip {
		clip[i] = int16(max(-32768, min(32767, 60000*math.Sin(2*math.Pi*300*float64(i)/rate))))
	}
	tests := []struct {
		name       string
		pcm        []int16
		want       Problem
		start, end int // tenths of a second, checked within one tenth
	}{
		{"a good take", join(silence, tone(3000, 8*tenth), silence), "", 5, 13},
		{"soft but clear", join(silence, tone(200, 8*tenth), silence), "", 5, 13},
		{"a word of two parts", join(silence, tone(3000, 4*tenth), tone(0, 2*tenth), tone(2000, 4*tenth), silence), "", 5, 15},
		{"a click before the word", join(silence, tone(9000, rate/100), silence, tone(3000, 8*tenth), silence), "", 10, 18},
		{"nothing recorded", nil, NoSpeech, 0, 0},
		{"digital silence", make([]int16, rate), NoSpeech, 0, 0},
		{"room noise only", tone(0, rate), NoSpeech, 0, 0},
		{"a click only", join(silence, tone(9000, rate/100), silence), NoSpeech, 0, 0},
		{"too quiet", join(silence, tone(40, 8*tenth), silence), TooQuiet, 5, 13},
		{"too short", join(silence, tone(3000, 2*tenth), silence), TooShort, 5, 7},
		{"too long", join(silence, tone(3000, 30*tenth), silence), TooLong, 5, 35},
		{"clipped", join(silence, clip, silence), Clipped, 5, 11},
		{"a second word after a pause", join(silence, tone(3000, 8*tenth), silence, tone(2500, 7*tenth), silence), MoreWords, 5, 13},
		{"noise nearly as loud as the word", join(tone(900, 5*tenth), tone(2000, 8*tenth), tone(900, 5*tenth)), TooNoisy, 5, 13},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, _ := judge(tt.pcm)
			if got.Problem != tt.want {
				t.Fatalf("problem %q, want %q (%+v)", got.Problem, tt.want, got)
			}
			if abs(got.Start-tt.start*tenth) > tenth || abs(got.End-tt.end*tenth) > tenth {
				t.Errorf("word at %d..%d, want about %d..%d", got.Start, got.End, tt.start*tenth, tt.end*tenth)
			}
		})
	}
}
