package sandboxtest

import (
	"context"
	"fmt"
)

// Result is how an attempt went.
type Result struct {
	Name string `json:"name"`
	// Held tells that it failed inside; How is what stopped it.
	Held bool   `json:"held"`
	How  string `json:"how"`
	// Shown tells that the control worked outside; else Control says why it could not be shown.
	Shown   bool   `json:"shown"`
	Control string `json:"control"`
	// Err is a defect of the attempt itself: it could not be made, or its
	// control failed for another reason than a kernel without the means.
	Err error `json:"-"`
}

// Try makes the attempt, first outside and then inside.
func (h *House) Try(ctx context.Context, a Attempt) Result {
	r := Result{Name: a.Name}
	control, err := h.outside(ctx, a)
	if err != nil {
		r.Err = fmt.Errorf("control: %w", err)
		return r
	}
	if a.Check != nil {
		control.Worked = a.Check(h)
	}
	r.Shown, r.Control = control.Worked, control.How
	if !control.Worked && !control.Absent {
		r.Err = fmt.Errorf("the control does not work: %s", control.How)
		return r
	}
	v, err := h.inside(ctx, a)
	if err != nil {
		r.Err = fmt.Errorf("inside: %w", err)
		return r
	}
	if a.Check != nil {
		v.Worked = a.Check(h)
	}
	r.Held, r.How = !v.Worked, v.How
	return r
}

// Run makes all attempts and, where h.Cgroup names a group, those on limits too.
func (h *House) Run(ctx context.Context) []Result {
	all := Attempts()
	if h.Cgroup != "" {
		all = append(all, LimitAttempts()...)
	}
	var results []Result
	for _, a := range all {
		results = append(results, h.Try(ctx, a))
	}
	return results
}
