package voice

import (
	"context"
	"time"

	"homeagent/drivers/voice/speech"
)

// Options is what the plugin is made of. A nil field is a part that is not
// there; the plugin says so in its status and works without it.
type Options struct {
	Config Config
	// Lang is the house's language, "zh" (also where it is empty) or "en": what
	// the box speaks, and takes a text of digits alone for, as long as
	// Config.Language is auto and nobody has said anything that tells.
	Lang string
	// Wake detects and learns wake words. Nil leaves push to talk.
	Wake Wake
	// Endpointing finds the end of speech. Nil, or an error when it is opened,
	// makes the plugin judge by loudness.
	Endpointing speech.Endpointing
	// English understands English on this machine. With Hint.Grammar it sets
	// Transcript.Command where the grammar accepted, else gives free text.
	English speech.Recognizer
	// Warm loads the English engine, which takes longer than a command. It is
	// called when somebody is about to speak; nil where there is nothing to load.
	Warm func(ctx context.Context) error
	// Transcription understands any language over the network. Nil makes one
	// from Config.Transcription.
	Transcription speech.Recognizer
	// Synthesizers speak, in order of preference per language. One made from
	// Config.Speech stands before them.
	Synthesizers []speech.Synthesizer
	// Grammar gives the JSGF of the known commands in a language, "" for none.
	Grammar func(lang string) string
	// LLM reports whether an LLM is configured.
	LLM func() bool
	// Observe is told the times of each answered utterance. It must return soon.
	Observe func(Trace)
	// TempDir holds recordings while they are heard; "" is the system's.
	TempDir string
}

// Wake makes detectors and learns words. Implementations are safe for use by
// several goroutines; the Detectors are not.
type Wake interface {
	// Open returns a detector that hears all the words; without words the
	// built-in one, and an error where there is none. What is not installed
	// wraps speech.ErrMissing.
	Open(words []Word) (speech.Detector, error)
	// Learn makes a word from takes of it, each one utterance at pcm.Voice. The
	// error may have In(lang string) string, a sentence for the person; remarks
	// says in a language what could be better about the takes.
	Learn(ctx context.Context, name string, takes [][]int16) (data []byte, remarks func(lang string) string, err error)
	// BuiltIn names the word that is heard before any is learnt, "" for none.
	BuiltIn() string
}

// Word is a wake word as it is kept.
type Word struct {
	Name string
	// Data is what Learn gave, at most 1 MiB.
	Data []byte
}

// Trace holds the times of one utterance on its way to the answer; a time that
// did not come is zero.
type Trace struct {
	// Session is "voice" for the microphone, "hear-1" and so on for recordings.
	Session string `json:"session"`
	// Input is the id of the agent's input.
	Input  string `json:"input"`
	Heard  string `json:"heard"`
	Engine string `json:"engine"`
	Answer string `json:"answer"`
	// LastSpeech is when the last sample of speech was captured, Endpoint when
	// the end was decided, Recognised when the words were known, Answered when
	// the answer's text came, FirstSound when the first sample of the answer
	// that is not silence was handed to the speaker.
	LastSpeech time.Time `json:"last_speech"`
	Endpoint   time.Time `json:"endpoint"`
	Recognised time.Time `json:"recognised"`
	Answered   time.Time `json:"answered"`
	FirstSound time.Time `json:"first_sound"`
}
