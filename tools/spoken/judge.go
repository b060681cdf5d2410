package spoken

import (
	"context"
	"fmt"
	"testing"
	"time"

	"homeagent/drivers/voice/engine"
	"homeagent/drivers/voice/speech"
)

// Judge listens without a grammar: the engines of the house as a process of the
// test's own.
type Judge struct{ client *engine.Client }

// NewJudge makes a judge of the program homed-agent; it starts with the first
// question and ends with Close.
func NewJudge(homedAgent, models string) *Judge {
	return &Judge{engine.NewClient(engine.Options{Command: []string{homedAgent, "engines", "-models", models}})}
}

// Freely writes down English.
func (j *Judge) Freely(t testing.TB, samples []int16) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	text, err := j.Listen(ctx, samples)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// Listen is Freely for those who serve somebody else.
func (j *Judge) Listen(ctx context.Context, samples []int16) (string, error) {
	got, err := j.client.Free().Recognize(ctx, samples, speech.Hint{Lang: "en"})
	if err != nil {
		return "", fmt.Errorf("free recognition: %w", err)
	}
	return got.Text, nil
}

// Close ends the engines.
func (j *Judge) Close() error { return j.client.Close() }
