package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime/multipart"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"homeagent/agent/pcm"
	"homeagent/agent/pcm/wav"
	"homeagent/drivers/voice"
	"homeagent/drivers/web/client"
	"homeagent/tools/emulator"
	"homeagent/tools/powercut/ledger"
	"homeagent/tools/powercut/use"
)

const (
	// word is the wake word; flite says it, and the commands.
	word = "computer"
	// smallBoard is what a Zero 2 W leaves to its kernel.
	smallBoard = "mem=464M"
	// spokenWait bounds one command from its first sample to the end of its answer:
	// recognition on an emulated processor takes many times what it takes on a real one.
	spokenWait = 6 * time.Minute
	// lookEvery is how often the memory is looked at meanwhile.
	lookEvery = 5 * time.Second
	spoken    = 10
)

var commands = []string{
	"turn on the living room lamp", "turn off the living room lamp", "what time is it", "turn on the kitchen lamp", "turn off the kitchen lamp",
}

// flite speaks a sentence. stretch above 1 is slower.
func (b *bench) flite(ctx context.Context, text, stretch string) ([]int16, error) {
	path := filepath.Join(b.work, "flite.wav")
	cmd := exec.CommandContext(ctx, "flite", "-voice", "slt", "--setf", "duration_stretch="+stretch, "-t", text, "-o", path)
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: flite: %v %s", errSkip, err, out)
	}
	return samples(ctx, path)
}

// voice measures the memory of a small board that is spoken to. The engines are
// the local ones, in the guest. The emulated Pi 3 is too slow to follow speech;
// the virt board, whose clock goes by its own work, follows it in its own time.
func (b *bench) voice(ctx context.Context) error {
	if _, err := exec.LookPath("flite"); err != nil {
		return fmt.Errorf("%w: %v", errSkip, err)
	}
	g, err := b.newGuest(ctx, "voice", emulator.Config{Board: emulator.Virt, Append: smallBoard, Instructions: 1, CPUs: 1})
	if err != nil {
		return err
	}
	defer g.close()
	api, err := g.claim(ctx)
	if err != nil {
		return err
	}
	defer api.Close()
	// The word is learnt while nobody listens yet, which an emulated processor
	// has hardly time for beside it.
	if err := b.enrol(ctx, api); err != nil {
		return err
	}
	if _, err := g.run(ctx, "modprobe snd-aloop && sleep 2 && /usr/lib/homeagent/sound && aplay -l | grep -i loopback"); err != nil {
		return fmt.Errorf("the loop of sound: %w", err)
	}
	// The house hears what is played into the other end of the loop, and speaks into a second one.
	patch := map[string]any{"voice": map[string]any{"language": "en"}}
	if err := api.Do(ctx, http.MethodPut, "config", patch, nil); err != nil {
		return fmt.Errorf("voice on: %w", err)
	}
	if err := wait(ctx, g.m, 30*time.Second); err != nil {
		return err
	}
	var devices bytes.Buffer
	if err := api.Do(ctx, http.MethodGet, "audio", nil, &devices); err == nil {
		fmt.Fprintf(b.log, "voice: audio %s\n", devices.String())
	}
	peak, stop := g.watch(ctx, b)
	done, err := b.commands(ctx, g, api)
	stop()
	oom, oerr := g.run(ctx, `dmesg | grep -c -i 'out of memory\|oom-kill' || true`)
	if err = errors.Join(err, oerr); err != nil {
		return fmt.Errorf("after %d of %d commands: %w", done, spoken, err)
	}
	u := peak()
	b.explain("voice", u)
	fmt.Fprintf(b.log, "voice: %d of %d commands answered, %s killed for want of memory\n", done, spoken, strings.TrimSpace(oom))
	if strings.TrimSpace(oom) != "0" {
		return errors.New("the kernel has killed a process for want of memory")
	}
	b.out.add("mem.voice_mb.512", mb(u.used()), "MB", done)
	return nil
}

// claim makes the owner's account with the code from the console.
func (g *guest) claim(ctx context.Context) (*client.Client, error) {
	found, err := g.m.Log().Wait(ctx, emulator.VisitCode)
	if err != nil {
		return nil, err
	}
	h := use.New(ledger.New(nil), nil, 1)
	if err := h.Claim(ctx, "http://"+g.m.Address(80), found[1]); err != nil {
		return nil, err
	}
	return h.API(), h.Ready(ctx)
}

// enrol teaches the wake word through the page's API.
func (b *bench) enrol(ctx context.Context, api *client.Client) error {
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	for i, stretch := range []string{"0.95", "1.0", "1.07"} {
		take, err := b.flite(ctx, word, stretch)
		if err != nil {
			return err
		}
		sound, err := wav.Encode(pcm.Voice, join(silence(400*time.Millisecond), take, silence(400*time.Millisecond)))
		if err != nil {
			return err
		}
		part, err := w.CreateFormFile("take", fmt.Sprintf("take%d.wav", i+1))
		if err != nil {
			return err
		}
		if _, err := part.Write(sound); err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	r, err := api.Open(ctx, http.MethodPost, "wake/"+word, client.Upload{ContentType: w.FormDataContentType(), Body: &form})
	if err != nil {
		return fmt.Errorf("enrol: %w", err)
	}
	defer r.Close()
	var lines bytes.Buffer
	if _, err := lines.ReadFrom(r); err != nil {
		return err
	}
	for l := range strings.Lines(lines.String()) {
		var x voice.Line
		if json.Unmarshal([]byte(l), &x) == nil && x.Event == "learnt" {
			return nil
		}
	}
	return fmt.Errorf("%q was not learnt: %s", word, lines.String())
}

// watch looks at the memory until stop is called; peak is the look at which most was used.
func (g *guest) watch(ctx context.Context, b *bench) (peak func() usage, stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	var most usage
	wg.Go(func() {
		for {
			u, err := g.usage(ctx)
			if err == nil && u.used() > most.used() {
				most = u
			}
			if err != nil && ctx.Err() == nil {
				fmt.Fprintf(b.log, "voice: %v\n", err)
			}
			select {
			case <-ctx.Done():
				return
			case <-time.After(lookEvery):
			}
		}
	})
	return func() usage { return most }, func() { cancel(); wg.Wait() }
}

// commands speaks ten commands and waits for the answer to each.
func (b *bench) commands(ctx context.Context, g *guest, api *client.Client) (done int, err error) {
	call, err := b.flite(ctx, word, "1.02")
	if err != nil {
		return 0, err
	}
	for i := range spoken {
		command, err := b.flite(ctx, commands[i%len(commands)], "1.0")
		if err != nil {
			return done, err
		}
		sound, err := wav.Encode(pcm.Voice, join(silence(time.Second), call, silence(300*time.Millisecond), command, silence(3*time.Second)))
		if err != nil {
			return done, err
		}
		before, err := answers(ctx, api)
		if err != nil {
			return done, err
		}
		began := time.Now()
		if err := g.play(ctx, sound); err != nil {
			return done, err
		}
		for {
			now, err := answers(ctx, api)
			if err != nil {
				return done, err
			}
			if len(now) > len(before) {
				done++
				if _, err := g.run(ctx, "homectl --lang en memory tidy"); err != nil {
					return done, fmt.Errorf("distil: %w", err)
				}
				fmt.Fprintf(b.log, "voice: %q after %.0f s: %s\n", commands[i%len(commands)], time.Since(began).Seconds(), now[len(now)-1])
				break
			}
			if time.Since(began) > spokenWait {
				fmt.Fprintf(b.log, "voice: %q was not answered\n", commands[i%len(commands)])
				break
			}
			if err := wait(ctx, g.m, 2*time.Second); err != nil {
				return done, err
			}
		}
	}
	if done == 0 {
		return 0, errors.New("nothing was answered")
	}
	return done, nil
}

// answers are what the agent has said to spoken words.
func answers(ctx context.Context, api *client.Client) (out []string, err error) {
	var got struct {
		Items []struct{ Role, Text, Channel string }
	}
	if err := api.Do(ctx, http.MethodGet, "chat/history?limit=200", nil, &got); err != nil {
		return nil, err
	}
	for _, it := range got.Items {
		if it.Role == "agent" && it.Channel == "voice" {
			out = append(out, it.Text)
		}
	}
	return out, nil
}

// play plays a WAV file into the loop's other end.
func (g *guest) play(ctx context.Context, sound []byte) error {
	s, err := g.ssh.NewSession()
	if err != nil {
		return err
	}
	defer s.Close()
	defer context.AfterFunc(ctx, func() { s.Close() })()
	s.Stdin = bytes.NewReader(sound)
	if out, err := s.CombinedOutput("aplay -q -D plughw:Loopback,1,0 -"); err != nil {
		return fmt.Errorf("aplay in the guest: %w: %s", err, out)
	}
	return nil
}
