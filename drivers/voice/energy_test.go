package voice

import (
	"context"
	"testing"
	"time"

	"homeagent/drivers/voice/speech"
	"homeagent/drivers/voice/speech/speechtest"
)

type energyEndpointing struct{}

func (energyEndpointing) OpenEndpointer(_ context.Context, cfg speech.EndpointConfig) (speech.Endpointer, error) {
	return newEnergy(cfg), nil
}

func TestEnergyConformance(t *testing.T) {
	speechtest.Endpointing(t, speechtest.EndpointingFixture{
		New:    func(*testing.T) speech.Endpointing { return energyEndpointing{} },
		Speech: speechtest.Buzz(1500 * time.Millisecond),
	})
}

func TestRing(t *testing.T) {
	r := newRing(10)
	var all []int16
	for i, n := range []int{3, 4, 0, 7, 25, 1} {
		var s []int16
		for range n {
			s = append(s, int16(len(all)))
			all = append(all, int16(len(all)))
		}
		r.write(s)
		for pos := int64(-1); pos <= r.end+1; pos++ {
			got := r.from(pos)
			want := all[min(max(int(pos), len(all)-10, 0), len(all)):]
			if len(got) != len(want) || len(got) > 0 && (got[0] != want[0] || got[len(got)-1] != want[len(want)-1]) {
				t.Fatalf("write %d, from %d: %v instead of %v", i, pos, got, want)
			}
		}
	}
}
