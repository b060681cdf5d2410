package server

import (
	"errors"
	"strings"
	"testing"
	"time"

	"homeagent/drivers/voice/engine/wire"
	"homeagent/drivers/voice/onnx"
)

// script judges each step by the next sign: "S" speech, "." silence, "-"
// between the thresholds, "!" a failure; silence after its end.
type script struct {
	signs string
	at    int
}

func (s *script) Probability(step []int16) (float64, error) {
	if len(step) != onnx.Step {
		return 0, errors.New("a step of another length")
	}
	sign := byte('.')
	if s.at < len(s.signs) {
		sign = s.signs[s.at]
	}
	s.at++
	switch sign {
	case 'S':
		return 0.9, nil
	case '-':
		return 0.4, nil
	case '!':
		return 0, errors.New("broken")
	}
	return 0.01, nil
}

func (s *script) Close() error { return nil }

func TestEndpoint(t *testing.T) {
	rows := []struct {
		name, signs string
		steps       int // how many are given
		trailing    time.Duration
		from        *wire.Speech
		want        wire.Speech // in steps, but for Heard
	}{
		{name: "silence", signs: "", steps: 50},
		{name: "a click", signs: "..SS....", steps: 50},
		{name: "two clicks", signs: "..SS..SS..", steps: 50},
		{name: "speech begins", signs: "..SSS", steps: 5, want: wire.Speech{Started: true, Start: 2, End: 5}},
		{name: "one silent step in the first word", signs: "..SS.S", steps: 6, want: wire.Speech{Started: true, Start: 2, End: 6}},
		{name: "speech ends after 16 steps, 512 ms", signs: "..SSSSS", steps: 23, want: wire.Speech{Started: true, Ended: true, Start: 2, End: 7}},
		{name: "not after 15", signs: "..SSSSS", steps: 22, want: wire.Speech{Started: true, Start: 2, End: 7}},
		{name: "a pause is no end", signs: "SSS..........SSS", steps: 20, want: wire.Speech{Started: true, End: 16}},
		{name: "doubt after speech is speech", signs: "SSS" + strings.Repeat("-", 30), steps: 33, want: wire.Speech{Started: true, End: 3}},
		{name: "doubt after silence is silence", signs: "SSS." + strings.Repeat("-", 30), steps: 33, want: wire.Speech{Started: true, Ended: true, End: 3}},
		{name: "longer silence asked for", signs: "SSS", steps: 30, trailing: time.Second, want: wire.Speech{Started: true, End: 3}},
		{name: "longer silence found", signs: "SSS", steps: 35, trailing: time.Second, want: wire.Speech{Started: true, Ended: true, End: 3}},
		{name: "goes on in speech", signs: "..", steps: 16, from: &wire.Speech{Started: true, Start: 512, End: 1024, Heard: 1536}, want: wire.Speech{Started: true, Ended: true, Start: 1, End: 2}},
		{name: "goes on in silence", signs: ".SSS", steps: 4, from: &wire.Speech{Heard: 5120}, want: wire.Speech{Started: true, Start: 11, End: 14}},
	}
	for _, row := range rows {
		for _, chunk := range []int{onnx.Step, 1, 1280, 100000} {
			if chunk == 1 && row.steps > 40 {
				continue
			}
			e := newEndpoint(&script{signs: row.signs}, row.trailing, row.from)
			sound := make([]int16, row.steps*onnx.Step)
			var got wire.Speech
			for at := 0; at < len(sound); at += chunk {
				var err error
				if got, err = e.feed(sound[at:min(at+chunk, len(sound))]); err != nil {
					t.Fatalf("%s: %v", row.name, err)
				}
			}
			want := row.want
			want.Start, want.End = want.Start*onnx.Step, want.End*onnx.Step
			want.Heard = int64(len(sound))
			if row.from != nil {
				want.Heard += row.from.Heard
			}
			if got != want {
				t.Errorf("%s, %d at once: %+v, want %+v", row.name, chunk, got, want)
			}
		}
	}
}

func TestEndpointFails(t *testing.T) {
	e := newEndpoint(&script{signs: ".!"}, 0, nil)
	if _, err := e.feed(make([]int16, 3*onnx.Step)); err == nil {
		t.Error("no error")
	}
}

func TestTrim(t *testing.T) {
	rows := []struct {
		name, signs string
		steps       int
		from, to    int // samples; 0, 0 is nothing
	}{
		{"silence", "", 40, 0, 0},
		{"speech in silence", strings.Repeat(".", 20) + "SSS", 60, 20*512 - 6400, 23*512 + 4800},
		{"speech at the edges", "S" + strings.Repeat(".", 8) + "S", 10, 0, 5120},
		{"silence within", "SS" + strings.Repeat(".", 30) + "SS", 60, 0, 34*512 + 4800},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			sound := make([]int16, row.steps*onnx.Step)
			for i := range sound {
				sound[i] = int16(i)
			}
			got, err := trim(&script{signs: row.signs}, sound)
			if err != nil || len(got) != row.to-row.from || len(got) > 0 && got[0] != sound[row.from] {
				t.Errorf("%d samples, %v; want %d", len(got), err, row.to-row.from)
			}
		})
	}
	if _, err := trim(&script{signs: "!"}, make([]int16, onnx.Step)); err == nil {
		t.Error("a failure was not told")
	}
}
