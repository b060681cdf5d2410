package voice

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"homeagent/agent/plugin"
	"homeagent/drivers/voice/speech"
)

// outcome is what became of an utterance.
type outcome int

const (
	// understood is text for the agent.
	understood outcome = iota
	// nothing is sound without words.
	nothing
	// notCommand is English that the grammar did not accept while free speech is off.
	notCommand
	// noEngine is a language that nobody here understands.
	noEngine
	// failed is an engine that failed.
	failed
)

// verdict is the result of understanding one utterance.
type verdict struct {
	outcome outcome
	t       speech.Transcript
	err     error // of failed and noEngine
}

const (
	// localWait bounds the local engine. It needs a tenth of the audio's length,
	// but the first utterance may also wait for its models to be read, from a
	// slow card on a busy machine.
	localWait = 20 * time.Second
	// remoteWait bounds the network service.
	remoteWait = 20 * time.Second
	// headStart is what the local engine gets before the utterance also goes
	// over the network: a known command is decided by then and never leaves.
	headStart = 700 * time.Millisecond
	// longestText bounds what a recognizer may return, in characters.
	longestText = 2000
)

// hearing understands utterances. It is safe for concurrent use.
type hearing struct {
	english speech.Recognizer // nil if none
	remote  speech.Recognizer // nil if none
	grammar func(lang string) string
	free    func() bool
	names   func() []string
}

// understand tells what was said. lang is zh, en or auto. It returns when ctx
// ends, whatever the engines do.
func (h *hearing) understand(ctx context.Context, audio []int16, lang string) verdict {
	local := h.english != nil && lang != "zh"
	remote := h.remote != nil && (lang == "auto" || offers(h.remote.Langs(), lang))
	switch {
	case local && remote && lang == "auto":
		return h.race(ctx, audio)
	case local:
		v := h.local(ctx, audio)
		if v.outcome == failed && remote {
			return h.network(ctx, audio, lang)
		}
		return v
	case remote:
		return h.network(ctx, audio, lang)
	}
	return verdict{outcome: noEngine, err: fmt.Errorf("no recognizer for %q: %w", lang, speech.ErrMissing)}
}

// race asks the local engine first and the network as well when that is no
// known command or takes long.
func (h *hearing) race(ctx context.Context, audio []int16) verdict {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	locals, remotes := make(chan verdict, 1), make(chan verdict, 1)
	go func() { locals <- h.local(ctx, audio) }()
	start := time.NewTimer(headStart)
	defer start.Stop()
	var here *verdict
	asked := false
	ask := func() {
		if !asked {
			asked = true
			go func() { remotes <- h.network(ctx, audio, "auto") }()
		}
	}
	for {
		select {
		case <-ctx.Done():
			return verdict{outcome: failed, err: context.Cause(ctx)}
		case v := <-locals:
			if v.outcome == understood && v.t.Command {
				return v
			}
			here = &v
			ask()
		case <-start.C:
			ask()
		case v := <-remotes:
			if v.outcome != failed {
				return v
			}
			// The network failed: what was understood here has to do.
			if here == nil {
				select {
				case l := <-locals:
					here = &l
				case <-ctx.Done():
					return v
				}
			}
			if here.outcome == failed || here.outcome == notCommand {
				return v
			}
			return *here
		}
	}
}

// local asks the engine on this machine, with the grammar of the commands.
func (h *hearing) local(ctx context.Context, audio []int16) verdict {
	hint := speech.Hint{Lang: "en"}
	if h.grammar != nil {
		hint.Grammar = h.grammar("en")
	}
	t, err := bounded(ctx, localWait, func(ctx context.Context) (speech.Transcript, error) {
		return h.english.Recognize(ctx, audio, hint)
	})
	if err != nil {
		return verdict{outcome: failed, err: fmt.Errorf("recognize with %s: %w", h.english.Name(), err)}
	}
	v := judge(t, "en")
	if v.outcome == understood && !v.t.Command && !h.free() {
		v.outcome = notCommand
	}
	return v
}

// network asks the transcription service. Its text goes to the agent whatever
// it says: only English has a closed list of commands here.
func (h *hearing) network(ctx context.Context, audio []int16, lang string) verdict {
	hint := speech.Hint{Words: h.names()}
	if langs := h.remote.Langs(); lang != "auto" {
		hint.Lang = lang
	} else if len(langs) == 1 {
		hint.Lang = langs[0]
	}
	t, err := bounded(ctx, remoteWait, func(ctx context.Context) (speech.Transcript, error) {
		return h.remote.Recognize(ctx, audio, hint)
	})
	if err != nil {
		return verdict{outcome: failed, err: fmt.Errorf("transcribe with %s: %w", h.remote.Name(), err)}
	}
	return judge(t, hint.Lang)
}

// judge cleans a transcript. What an engine returns is not trusted: it may be
// no UTF-8, endless, or in a language nobody asked for.
func judge(t speech.Transcript, lang string) verdict {
	t.Text = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(t.Text, ""), func(r rune) bool {
		return r <= ' ' || r == 0x7f
	}), " ")
	if utf8.RuneCountInString(t.Text) > longestText {
		t.Text = string([]rune(t.Text)[:longestText])
	}
	if guess := plugin.LangOf(t.Text); guess == "" && !hasDigit(t.Text) {
		return verdict{outcome: nothing, t: speech.Transcript{Engine: t.Engine}}
	} else if t.Lang != "zh" && t.Lang != "en" {
		if t.Lang = guess; t.Lang == "" {
			t.Lang = lang
		}
	}
	return verdict{outcome: understood, t: t}
}

func hasDigit(s string) bool { return strings.ContainsAny(s, "0123456789") }

// offers reports whether a list of languages has lang; nil is any.
func offers(langs []string, lang string) bool {
	if len(langs) == 0 {
		return true
	}
	for _, l := range langs {
		if l == lang {
			return true
		}
	}
	return false
}

// errHung is an engine that did not even return when its context ended.
var errHung = errors.New("no answer within the deadline")

// bounded runs f with a deadline and returns at the deadline even if f does
// not: what it gives later is dropped. A panic in f becomes an error.
func bounded[T any](ctx context.Context, d time.Duration, f func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, d)
	type result struct {
		v   T
		err error
	}
	done := make(chan result, 1)
	go func() {
		defer cancel()
		var r result
		defer func() {
			if p := recover(); p != nil {
				r.err = fmt.Errorf("panic: %v", p)
			}
			done <- r
		}()
		r.v, r.err = f(ctx)
	}()
	select {
	case r := <-done:
		return r.v, r.err
	case <-ctx.Done():
	}
	select {
	case r := <-done: // it came just in time, or returned because the context ended
		return r.v, r.err
	default:
	}
	var zero T
	if err := context.Cause(ctx); err != context.DeadlineExceeded {
		return zero, err
	}
	return zero, errHung
}
