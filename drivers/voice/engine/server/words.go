package server

import (
	"context"
	"fmt"

	"homeagent/drivers/voice/engine/wire"
	"homeagent/drivers/voice/speech"
)

// Words cuts text by a dictionary. Its methods are called by several goroutines.
type Words interface {
	Tag(ctx context.Context, text string) ([]wire.Word, error)
	Keywords(ctx context.Context, text string, n int) ([]wire.Word, error)
	Close() error
}

// maxKeywords bounds one answer.
const maxKeywords = 200

// cut answers a request about words.
func cut(ctx context.Context, b backend, req wire.Request) ([]wire.Word, error) {
	if len(req.Text) > wire.MaxText {
		return nil, invalid(fmt.Sprintf("a text of %d bytes is over %d", len(req.Text), wire.MaxText))
	}
	if req.Op == wire.Keywords && (req.Count < 1 || req.Count > maxKeywords) {
		return nil, invalid(fmt.Sprintf("%d keywords are not 1 to %d", req.Count, maxKeywords))
	}
	w, err := b.words()
	if err != nil {
		return nil, err
	}
	if req.Op == wire.Tag {
		return w.Tag(ctx, req.Text)
	}
	return w.Keywords(ctx, req.Text, req.Count)
}

// words loads the dictionary when it is first needed.
func (m *models) words() (Words, error) {
	if m.opt.Words == nil {
		return nil, fmt.Errorf("no dictionary of words: %w", speech.ErrMissing)
	}
	return m.dict.get(m.opt.Words)
}
