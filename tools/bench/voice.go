package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"homeagent/agent/pcm"
	"homeagent/agent/pcm/resample"
	"homeagent/agent/pcm/wav"
	"homeagent/drivers/voice"
	"homeagent/drivers/voice/wake"
	"homeagent/drivers/web/client"
)

// sentences are what the voice lines are measured on where no recordings are.
var sentences = []string{
	"what time is it", "turn on the living room lamp", "turn off the kitchen lamp", "set a timer for five minutes",
	"turn the bedroom lamp on", "what is the date today", "cancel the timer", "switch off the living room lamp",
}

// flite speaks a sentence into a file; a voice is one of slt, rms, awb.
func flite(ctx context.Context, dir, voice, text string) (string, error) {
	f, err := os.CreateTemp(dir, "flite-*.wav")
	if err != nil {
		return "", err
	}
	f.Close()
	if out, err := exec.CommandContext(ctx, "flite", "-voice", voice, "-t", text, "-o", f.Name()).CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: flite: %v %s", errSkip, err, out)
	}
	return f.Name(), nil
}

// samples reads a recording at pcm.Voice.
func samples(ctx context.Context, path string) ([]int16, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	src, err := wav.NewSource(f)
	if err != nil {
		return nil, err
	}
	voiced, err := resample.NewSource(src, pcm.Voice)
	if err != nil {
		return nil, err
	}
	defer voiced.Close()
	var all []int16
	buf := make([]int16, 4096)
	for {
		n, err := voiced.Read(ctx, buf)
		all = append(all, buf[:n]...)
		if err != nil {
			return all, nil // io.EOF, or a cut file of which this is what there is
		}
	}
}

// benchWake: the share of one core that listening takes.
func benchWake(ctx context.Context, _ string, r *report) error {
	models, err := models()
	if err != nil {
		return err
	}
	m, err := wake.LoadModel(models)
	if err != nil {
		return fmt.Errorf("%w: %v", errSkip, err)
	}
	bank, err := wake.LoadBank(models)
	if err != nil {
		return fmt.Errorf("%w: %v", errSkip, err)
	}
	dir, err := os.MkdirTemp("", "homeagent-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	var takes [][]int16
	for _, v := range []string{"slt", "rms", "awb"} {
		path, err := flite(ctx, dir, v, "computer")
		if err != nil {
			return err
		}
		take, err := samples(ctx, path)
		if err != nil {
			return err
		}
		pad := make([]int16, pcm.Voice.Samples(400*time.Millisecond))
		takes = append(takes, append(append(pad, take...), pad...))
	}
	word, _, err := wake.Enrol(ctx, m, bank, "computer", takes)
	if err != nil {
		return err
	}
	d, err := wake.NewDetector(m, word)
	if err != nil {
		return err
	}
	path, err := flite(ctx, dir, "slt", "the quick brown fox jumps over the lazy dog and runs through the garden until it is dark")
	if err != nil {
		return err
	}
	sound, err := samples(ctx, path)
	if err != nil {
		return err
	}
	const heard = 2 * time.Minute
	total := pcm.Voice.Samples(heard)
	for n := 0; n < total/10; n += len(sound) { // warm
		d.Accept(sound)
	}
	before := cpu()
	fed := 0
	for fed < total {
		d.Accept(sound)
		fed += len(sound)
	}
	used := cpu() - before
	r.add("wake.cpu_share", used.Seconds()/pcm.Voice.Duration(fed).Seconds(), "share", fed/1280)
	return nil
}

// cpu is this process's CPU time.
func cpu() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// models is the usual models folder.
func models() (string, error) {
	if dir := os.Getenv("HOMEAGENT_MODELS"); dir != "" {
		return dir, nil
	}
	cache, err := os.UserCacheDir()
	return filepath.Join(cache, "homeagent", "models"), err
}

// benchVoice: the last sample of speech to the first sound of the answer,
// offline, the wait for the end of speech included.
func benchVoice(ctx context.Context, bin, audio string, r *report) error {
	h, err := open(bin, "voice: {microphone: \"off\", speaker: \"off\"}\n")
	if err != nil {
		return err
	}
	defer h.close()
	if err := h.ready(ctx); err != nil {
		return err
	}
	var clips []string
	for _, name := range []string{"turn_on_the_living_room_lamp.wav", "what_time_is_it.wav"} {
		path := filepath.Join(audio, "household", name)
		if _, err := os.Stat(path); err == nil {
			clips = append(clips, path)
		}
	}
	for i, s := range sentences {
		path, err := flite(ctx, h.dir, []string{"slt", "rms", "awb"}[i%3], s)
		if err != nil {
			return err
		}
		clips = append(clips, path)
	}
	const n = 55
	parts := map[string][]time.Duration{}
	unanswered := 0
	for i := range n + 1 { // the first one loads the engines and does not count
		t, err := h.hear(ctx, clips[i%len(clips)])
		if err != nil {
			return err
		}
		if i == 0 {
			continue
		}
		if t == nil || t.FirstSound.IsZero() {
			unanswered++
			continue
		}
		parts["answer"] = append(parts["answer"], t.FirstSound.Sub(t.LastSpeech))
		parts["endpoint"] = append(parts["endpoint"], t.Endpoint.Sub(t.LastSpeech))
		parts["recognise"] = append(parts["recognise"], t.Recognised.Sub(t.Endpoint))
		parts["think"] = append(parts["think"], t.Answered.Sub(t.Recognised))
		parts["speak"] = append(parts["speak"], t.FirstSound.Sub(t.Answered))
	}
	if len(parts["answer"]) < 50 {
		return fmt.Errorf("only %d of %d sentences were answered", len(parts["answer"]), n)
	}
	r.add("voice.unanswered", float64(unanswered), "sentences", n)
	for _, p := range []string{"answer", "endpoint", "recognise", "think", "speak"} {
		r.add("voice."+p+"_p50_s", percentile(parts[p], .5).Seconds(), "s", len(parts[p]))
		r.add("voice."+p+"_p95_s", percentile(parts[p], .95).Seconds(), "s", len(parts[p]))
	}
	return nil
}

// hear plays a recording to the house and returns the times of its answer, nil
// if there was none.
func (h *house) hear(ctx context.Context, path string) (*voice.Trace, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	body, err := h.api.Open(ctx, "POST", "hear?wake=skip", client.Upload{ContentType: "audio/wav", Body: f})
	if err != nil {
		return nil, err
	}
	defer body.Close()
	var trace *voice.Trace
	in := bufio.NewScanner(body)
	in.Buffer(make([]byte, 64<<10), 32<<20)
	for in.Scan() {
		var l voice.Line
		if err := json.Unmarshal(bytes.TrimSpace(in.Bytes()), &l); err != nil {
			return nil, err
		}
		if l.Trace != nil {
			trace = l.Trace
		}
	}
	return trace, in.Err()
}
