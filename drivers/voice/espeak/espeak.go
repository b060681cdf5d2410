package espeak

import (
	"context"
	"fmt"
	"os/exec"
	"time"

	"homeagent/agent/pcm"
	"homeagent/drivers/voice/sentence"
	"homeagent/drivers/voice/speech"
)

// program is what is run.
const program = "espeak-ng"

// longestSentence is the most one process is given, in characters.
const longestSentence = 300

// Config tunes the voice; the zero value is good.
type Config struct {
	// Program is the path of espeak-ng, "" looks it up.
	Program string
	// Speed is words a minute, 80 to 450, default 140: at the
	// program's own 165 a listener, and a recogniser, misses more words.
	Speed int
	// Wait is how long the program may give nothing, default 10 s.
	Wait time.Duration
}

// Speaker is a speech.Synthesizer.
type Speaker struct{ cfg Config }

var _ speech.Synthesizer = (*Speaker)(nil)

// New makes a Speaker. It runs nothing; whether the program is there is seen
// when something is to be said.
func New(cfg Config) *Speaker {
	if cfg.Program == "" {
		cfg.Program = program
	}
	if cfg.Speed < 80 || cfg.Speed > 450 {
		cfg.Speed = 140
	}
	if cfg.Wait <= 0 {
		cfg.Wait = 10 * time.Second
	}
	return &Speaker{cfg}
}

// Name implements speech.Synthesizer.
func (s *Speaker) Name() string { return program }

// Langs implements speech.Synthesizer.
func (s *Speaker) Langs() []string { return []string{"zh", "en"} }

// Missing is a program that is not installed. It wraps speech.ErrMissing and
// has words for people.
type Missing struct{ Err error }

func (m *Missing) Error() string {
	return "espeak-ng is not installed (run tools/setup, or install the Debian package espeak-ng): " + m.Err.Error()
}

// Unwrap gives both causes.
func (m *Missing) Unwrap() []error { return []error{speech.ErrMissing, m.Err} }

// In returns a sentence for people, "zh" or else English.
func (m *Missing) In(lang string) string {
	if lang == "zh" {
		return "没有安装语音合成 espeak-ng。请运行 tools/setup，或安装 Debian 软件包 espeak-ng。"
	}
	return "The speech synthesizer espeak-ng is not installed. Run tools/setup, or install the Debian package espeak-ng."
}

// Synthesize implements speech.Synthesizer. It returns with the first sound.
func (s *Speaker) Synthesize(ctx context.Context, text, lang string) (pcm.Source, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("speak: %w", err)
	}
	path, err := exec.LookPath(s.cfg.Program)
	if err != nil {
		return nil, &Missing{err}
	}
	src := newSource(s.cfg, path, runs(sentence.Plain(text), lang))
	stop := context.AfterFunc(ctx, func() { src.Close() })
	err = src.start()
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		src.Close()
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return nil, fmt.Errorf("speak with %s: %w", program, err)
	}
	return src, nil
}
