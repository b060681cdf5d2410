package wholepath

import (
	"sync"
	"testing"

	"homeagent/tools/spoken"
)

// The engines that judge answers are a process of the test's own, the program
// that the houses run.
var (
	judgeMu sync.Mutex
	judge   *spoken.Judge
)

// freely writes down English without a grammar.
func freely(t testing.TB, samples []int16) string {
	t.Helper()
	spoken.NeedEngines(t)
	models := spoken.Models(t)
	prog := program(t, "homed-agent")
	judgeMu.Lock()
	if judge == nil {
		judge = spoken.NewJudge(prog, models)
	}
	j := judge
	judgeMu.Unlock()
	return j.Freely(t, samples)
}

func closeEngines() {
	judgeMu.Lock()
	defer judgeMu.Unlock()
	if judge != nil {
		judge.Close()
	}
}
