package main

import (
	"bytes"
	"encoding/binary"
	"math"
	"strings"
	"testing"
)

// wav writes a WAV file; an odd extra chunk stands in front of the samples.
func wav(rate uint32, channels, bits uint16, pcm []int16) []byte {
	le := binary.LittleEndian
	b := append([]byte("RIFF\x00\x00\x00\x00WAVELIST\x03\x00\x00\x00abc\x00fmt "), 16, 0, 0, 0)
	b = le.AppendUint16(b, 1)
	b = le.AppendUint16(b, channels)
	b = le.AppendUint32(b, rate)
	b = le.AppendUint32(b, rate*uint32(channels)*uint32(bits)/8)
	b = le.AppendUint16(b, channels*bits/8)
	b = le.AppendUint16(b, bits)
	b = append(b, "data"...)
	b = le.AppendUint32(b, uint32(2*len(pcm)))
	for _, s := range pcm {
		b = le.AppendUint16(b, uint16(s))
	}
	return b
}

func sine(rate, hz float64, n int) []int16 {
	out := make([]int16, n)
	for i := range out {
		out[i] = int16(math.Round(10000 * math.Sin(2*math.Pi*hz*float64(i)/rate)))
	}
	return out
}

func TestReadWAV(t *testing.T) {
	pcm := sine(16000, 440, 1600)
	got, err := readWAV(wav(16000, 1, 16, pcm))
	if err != nil || len(got) != 1600 || got[7] != pcm[7] {
		t.Errorf("16 kHz: %d samples, %v", len(got), err)
	}
	for name, tt := range map[string]struct {
		data []byte
		want string
	}{
		"nothing":       {nil, "not a WAV"},
		"another file":  {bytes.Repeat([]byte("x"), 100), "not a WAV"},
		"stereo":        {wav(16000, 2, 16, pcm), "mono"},
		"8 bits":        {wav(16000, 1, 8, pcm), "16-bit"},
		"44.1 kHz":      {wav(44100, 1, 16, pcm), "44100"},
		"without sound": {wav(16000, 1, 16, nil)[:48], "no samples"},
	} {
		if _, err := readWAV(tt.data); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want %q", name, err, tt.want)
		}
	}
}

// TestDoubleKeepsTheTone compares a tone at 8 kHz, doubled, with the same tone
// made at 16 kHz, away from the ends.
func TestDoubleKeepsTheTone(t *testing.T) {
	for _, hz := range []float64{100, 1000, 3000, 3500} {
		got, err := readWAV(wav(8000, 1, 16, sine(8000, hz, 800)))
		if err != nil {
			t.Fatal(err)
		}
		want := sine(16000, hz, 1600)
		worst := 0.0
		for i := 100; i < 1500; i++ {
			worst = max(worst, math.Abs(float64(got[i])-float64(want[i])))
		}
		if len(got) != 1600 || worst > 400 {
			t.Errorf("%g Hz: off by %.0f of 10000 at most", hz, worst)
		}
	}
}

func FuzzReadWAV(f *testing.F) {
	f.Add(wav(8000, 1, 16, sine(8000, 300, 50)))
	f.Add(wav(16000, 1, 16, nil))
	f.Fuzz(func(t *testing.T, data []byte) {
		pcm, err := readWAV(data)
		if err == nil && len(pcm) > len(data) {
			t.Fatalf("%d samples from %d bytes", len(pcm), len(data))
		}
	})
}
