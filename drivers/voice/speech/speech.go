package speech

import (
	"context"
	"errors"
	"time"

	"homeagent/agent/pcm"
)

// ErrMissing is wrapped by an engine whose model or program is not installed;
// the error's text names the command that brings it.
var ErrMissing = errors.New("not installed")

// Frame is the number of samples of one step of the wake detector: 80 ms.
const Frame = 1280

// Hit is a wake word that was heard.
type Hit struct {
	Word  string  // the name it was enrolled under
	Score float64 // 0 at the threshold, growing with certainty
	// End is the position of the word's end in samples since the detector was opened.
	End int64
}

// Detector listens for wake words. It is used by one goroutine.
type Detector interface {
	// Accept takes any number of samples and returns what was heard in them.
	Accept(samples []int16) []Hit
	// Reset forgets what was heard so far, as after an answer was spoken.
	Reset()
}

// Speech is what the endpointer has found so far.
type Speech struct {
	Started bool
	Ended   bool
	// Start and End are sample positions since the endpointer was opened.
	Start, End int64
}

// Endpointer finds where a person starts and stops speaking.
type Endpointer interface {
	// Accept takes any number of samples; once Ended is true it stays so.
	Accept(ctx context.Context, samples []int16) (Speech, error)
	Close() error
}

// EndpointConfig are the waits of an endpointer.
type EndpointConfig struct {
	Trailing time.Duration // silence that ends speech, default 500 ms
}

// Endpointing opens endpointers.
type Endpointing interface {
	OpenEndpointer(ctx context.Context, cfg EndpointConfig) (Endpointer, error)
}

// Transcript is what a recognizer heard. An empty Text is "nothing understood".
type Transcript struct {
	Text string `json:"text"`
	Lang string `json:"lang"`
	// Engine names who understood it.
	Engine string `json:"engine"`
	// Command is set where a closed grammar accepted the text.
	Command bool `json:"command"`
}

// Hint helps a recognizer.
type Hint struct {
	Lang string
	// Grammar is a JSGF grammar (see agent/intent), "" for free speech.
	Grammar string
	// Words are names that are likely to occur.
	Words []string
}

// Recognizer turns one utterance into text.
type Recognizer interface {
	Name() string
	// Langs lists the languages it understands; nil is any.
	Langs() []string
	Recognize(ctx context.Context, audio []int16, hint Hint) (Transcript, error)
}

// Synthesizer turns a text into sound. It is safe for concurrent use.
type Synthesizer interface {
	Name() string
	// Langs lists the languages it speaks; nil is any.
	Langs() []string
	// Synthesize returns as soon as sound begins to come. The Source may have
	// any format, ends with io.EOF and lives until Close: ctx bounds the call
	// only. A text with nothing to say gives a Source that ends at once.
	Synthesize(ctx context.Context, text, lang string) (pcm.Source, error)
}
