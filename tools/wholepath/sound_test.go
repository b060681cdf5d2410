package wholepath

import (
	"strings"
	"time"

	"homeagent/tools/spoken"
)

// teach enrols a word with homectl.
func (h *house) teach(tk spoken.Takes) {
	h.t.Helper()
	args := []string{"wake", "enrol", tk.Word}
	for _, s := range tk.Enrol {
		args = append(args, spoken.Save(h.t, s))
	}
	if out, bad, code := h.homectl(2*time.Minute, args...); code != 0 || !strings.Contains(out, "Learnt") {
		h.t.Fatalf("homectl wake enrol: exit %d\n%s%s", code, out, bad)
	}
}
