package host

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain holds that no goroutine outlives the tests.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
