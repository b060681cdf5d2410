package server

import (
	"context"
	"errors"
	"strings"
	"testing"

	"homeagent/drivers/voice/engine/wire"
	"homeagent/drivers/voice/speech"
)

// fakeWords makes one word of a text.
type fakeWords struct{ closed *bool }

func (fakeWords) Tag(_ context.Context, text string) ([]wire.Word, error) {
	return []wire.Word{{Text: text, Tag: "n"}}, nil
}

func (fakeWords) Keywords(_ context.Context, text string, n int) ([]wire.Word, error) {
	return []wire.Word{{Text: text, Weight: float64(n)}}, nil
}

func (w fakeWords) Close() error {
	*w.closed = true
	return nil
}

func TestCut(t *testing.T) {
	rows := []struct {
		name string
		req  wire.Request
		want wire.Word
		bad  bool
	}{
		{name: "tag", req: wire.Request{Op: wire.Tag, Text: "门垫"}, want: wire.Word{Text: "门垫", Tag: "n"}},
		{name: "keywords", req: wire.Request{Op: wire.Keywords, Text: "门垫", Count: 3}, want: wire.Word{Text: "门垫", Weight: 3}},
		{name: "none", req: wire.Request{Op: wire.Keywords, Text: "门垫"}, bad: true},
		{name: "too many", req: wire.Request{Op: wire.Keywords, Text: "门垫", Count: maxKeywords + 1}, bad: true},
		{name: "too long", req: wire.Request{Op: wire.Tag, Text: strings.Repeat("x", wire.MaxText+1)}, bad: true},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			got, err := cut(t.Context(), &fakeBackend{}, r.req)
			var inv invalid
			if r.bad != errors.As(err, &inv) || !r.bad && (err != nil || len(got) != 1 || got[0] != r.want) {
				t.Errorf("%v, %v", got, err)
			}
		})
	}
}

func TestDictionaryIsLoadedOnce(t *testing.T) {
	loads, closed := 0, false
	m := newModels(Options{Words: func() (Words, error) {
		if loads++; loads == 1 {
			return nil, errors.New("not yet")
		}
		return fakeWords{&closed}, nil
	}})
	if _, err := m.words(); err == nil {
		t.Error("a failure is no dictionary")
	}
	for range 2 {
		if _, err := m.words(); err != nil {
			t.Error(err)
		}
	}
	if err := m.close(); err != nil || loads != 2 || !closed {
		t.Errorf("%v, loaded %d times, closed %v", err, loads, closed)
	}
	if _, err := newModels(Options{}).words(); !errors.Is(err, speech.ErrMissing) {
		t.Errorf("without one: %v", err)
	}
}
