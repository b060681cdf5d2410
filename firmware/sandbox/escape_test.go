package sandbox_test

import (
	"testing"

	"homeagent/firmware/sandbox"
	"homeagent/firmware/sandbox/sandboxtest"
)

// house prepares what the attempts aim at.
func house(t *testing.T) *sandboxtest.House {
	t.Helper()
	system(t) // skips without root
	h, err := sandboxtest.NewHouse(asUser)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

// Nobody gets out, and each attempt would have worked without the sandbox.
func TestEscape(t *testing.T) {
	h := house(t)
	shown := 0
	for _, a := range sandboxtest.Attempts() {
		t.Run(a.Name, func(t *testing.T) {
			r := h.Try(t.Context(), a)
			judge(t, r)
			if r.Shown {
				shown++
			}
		})
	}
	if shown < 30 && !t.Failed() {
		t.Errorf("only %d attempts could be shown to work outside", shown)
	}
}

func judge(t *testing.T, r sandboxtest.Result) {
	t.Helper()
	switch {
	case r.Err != nil:
		t.Errorf("cannot be judged: %v", r.Err)
	case !r.Held:
		t.Errorf("it worked inside: %s", r.How)
	case !r.Shown:
		t.Logf("inside: %s; outside it cannot be shown: %s", r.How, r.Control)
	default:
		t.Logf("inside: %s; outside it worked", r.How)
	}
}

// The limits of a control group. Where version 2 has no controllers they are
// left to the emulated board, where the program sandboxtest/escapes tries them.
func TestEscapeLimits(t *testing.T) {
	h := house(t)
	var err error
	if h.Cgroup, err = sandbox.PrepareCgroup("/sys/fs/cgroup", "sandbox-test"); err != nil {
		// Then there is no sandbox that pretends to be limited, which can be
		// judged anywhere; the attempts themselves are made on the emulated board.
		t.Logf("no control groups with controllers here: %v", err)
		_, err := sandbox.Start(t.Context(), sandbox.Spec{Program: "/bin/true", View: system(t), UID: asUser, GID: asUser,
			Limits: sandbox.Limits{Memory: 64 << 20, CPU: 20}}, sandbox.Stdio{})
		if err == nil {
			t.Error("a sandbox was made whose limits nobody keeps")
		}
		return
	}
	for _, a := range sandboxtest.LimitAttempts() {
		t.Run(a.Name, func(t *testing.T) { judge(t, h.Try(t.Context(), a)) })
	}
}
