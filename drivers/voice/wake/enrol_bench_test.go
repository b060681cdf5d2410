package wake_test

import (
	"testing"

	"homeagent/drivers/voice/wake"
	"homeagent/drivers/voice/wake/waketest"
)

func BenchmarkEnrol(b *testing.B) {
	m := waketest.Model(b)
	bank := waketest.Bank(b)
	takes := waketest.Takes(b, "computer")
	before := cpu(b)
	n := 0
	for b.Loop() {
		n++
		w, _, err := wake.Enrol(b.Context(), m, bank, "computer", takes)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(len(w.Marshal())), "bytes/word")
	}
	b.ReportMetric((cpu(b)-before).Seconds()/float64(n), "cpu-s/op")
}
