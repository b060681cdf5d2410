package main

import (
	"context"
	"fmt"
)

// voice measures the memory of a small board that is spoken to.
func (b *bench) voice(ctx context.Context) error {
	return fmt.Errorf("%w: voice", errSkip)
}
