package main

import (
	"context"
	"errors"
	"io"
	"os"
	"time"

	"homeagent/agent/pcm"
	"homeagent/agent/pcm/resample"
	"homeagent/agent/pcm/wav"
)

// samples reads a WAV file at pcm.Voice.
func samples(ctx context.Context, path string) ([]int16, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	file, err := wav.NewSource(f)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	src, err := resample.NewSource(file, pcm.Voice)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	var all []int16
	buf := make([]int16, 4096)
	for {
		n, err := src.Read(ctx, buf)
		all = append(all, buf[:n]...)
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

func silence(d time.Duration) []int16 { return make([]int16, pcm.Voice.Samples(d)) }

func join(parts ...[]int16) (out []int16) {
	for _, p := range parts {
		out = append(out, p...)
	}
	return out
}
