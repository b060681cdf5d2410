package main

import (
	"encoding/binary"
	"fmt"
	"math"
)

// readWAV returns the samples of a 16-bit mono recording at 16 kHz; one at
// 8 kHz is doubled in rate. Other formats do not occur in the packages.
func readWAV(data []byte) ([]int16, error) {
	le := binary.LittleEndian
	if len(data) < 12 || string(data[:4]) != "RIFF" || string(data[8:12]) != "WAVE" {
		return nil, fmt.Errorf("not a WAV file")
	}
	rate := uint32(0)
	for at := 12; at+8 <= len(data); {
		size := int(le.Uint32(data[at+4:]))
		body := data[at+8:]
		body = body[:min(size, len(body))]
		switch string(data[at : at+4]) {
		case "fmt ":
			if len(body) < 16 || le.Uint16(body) != 1 || le.Uint16(body[2:]) != 1 || le.Uint16(body[14:]) != 16 {
				return nil, fmt.Errorf("not 16-bit mono")
			}
			rate = le.Uint32(body[4:])
		case "data":
			pcm := samples(body)
			switch rate {
			case 16000:
				return pcm, nil
			case 8000:
				return double(pcm), nil
			}
			return nil, fmt.Errorf("rate of %d Hz", rate)
		}
		at += 8 + size + size&1
	}
	return nil, fmt.Errorf("no samples")
}

func samples(b []byte) []int16 {
	pcm := make([]int16, len(b)/2)
	for i := range pcm {
		pcm[i] = int16(binary.LittleEndian.Uint16(b[2*i:]))
	}
	return pcm
}

// double doubles the rate: the samples in between come from a windowed sinc
// of 32 neighbours.
func double(pcm []int16) []int16 {
	const half = 16
	var taps [half]float64
	sum := 0.0
	for i := range taps {
		x := float64(i) + 0.5
		taps[i] = math.Sin(math.Pi*x) / (math.Pi * x) * math.Pow(math.Cos(math.Pi*x/(2*(half+0.5))), 2)
		sum += 2 * taps[i]
	}
	at := func(i int) float64 {
		if i < 0 || i >= len(pcm) {
			return 0
		}
		return float64(pcm[i])
	}
	out := make([]int16, 2*len(pcm))
	for i := range pcm {
		v := 0.0
		for k, t := range taps {
			v += t * (at(i-k) + at(i+1+k))
		}
		out[2*i] = pcm[i]
		out[2*i+1] = clip(v / sum)
	}
	return out
}

func clip(v float64) int16 { return int16(max(-32768, min(32767, math.Round(v)))) }
