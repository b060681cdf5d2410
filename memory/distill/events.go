package distill

import (
	"slices"
	"strings"
	"unicode/utf8"

	"homeagent/agent/mind"
	"homeagent/agent/plugin"
	"homeagent/agent/provider"
	"homeagent/agent/tool"
)

const (
	// maxText is how much of one message an extractor is given, in bytes: facts
	// stand in what people say, and what is longer was pasted or fetched.
	maxText = 4096
	// maxEvents is how many messages of one turn are looked at, the last ones.
	maxEvents = 24
)

// Reader makes events of turns. Its fields may be nil.
type Reader struct {
	// Cleaner gives a tool's Cleaner, nil where it has none.
	Cleaner func(tool string) func(string) string
	// NoMemory tells whether a tool's output is kept out now; what the turn
	// itself noted counts in any case.
	NoMemory func(tool string) bool
	// Speaker gives the name of a user of a source, "" if it is not known. By
	// default it is the user id where that looks like a name.
	Speaker func(source, user string) string
	// To gives the name of the person whom an input is addressed to, "" where
	// that is the house.
	To func(plugin.Input) string
}

// Events are those of a turn from which facts may be taken: none of internal
// sources, of turns without memory and of control intents; without messages and
// outputs that are marked NoMemory, the turn's answer excepted.
func (r Reader) Events(t mind.Turn) []Event {
	if t.Input.NoMemory || strings.HasPrefix(t.Input.Source, "_") || t.Outcome == mind.Controlled || t.Outcome == mind.SetAside {
		return nil
	}
	base := Event{Turn: t.ID, Speaker: r.speaker(t.Input), Lang: t.Lang, Time: t.Started}
	if t.Input.UserID != "" {
		base.SpeakerID = t.Input.Source + ":" + t.Input.UserID
	}
	if r.To != nil {
		base.To = r.To(t.Input)
	}
	echo := slices.ContainsFunc(t.Calls, func(c tool.Call) bool { return remembers(c.Name) })
	var events []Event
	for _, m := range t.Messages {
		if e, ok := r.message(base, t, m, echo); ok {
			events = append(events, e)
		}
	}
	if len(t.Messages) == 0 && t.Input.Type == plugin.Text {
		// A turn that ended before it came to messages still was said.
		e := base
		e.ID, e.Role, e.Text = t.ID, User, clip(t.Input.Payload)
		if strings.TrimSpace(e.Text) != "" {
			events = append(events, e)
		}
	}
	return events[max(0, len(events)-maxEvents):]
}

// message makes an event of one message, ok being false where it gives none.
func (r Reader) message(base Event, t mind.Turn, m provider.Message, echo bool) (e Event, ok bool) {
	e = base
	e.ID, e.Text = m.ID, m.Content
	if !m.Time.IsZero() {
		e.Time = m.Time
	}
	switch m.Role {
	case provider.User:
		e.Role = User
	case provider.Assistant:
		// Text beside calls is thinking aloud; an answer out of memory is an echo.
		if len(m.Calls) > 0 || echo || t.Outcome == mind.NoAnswer || t.Outcome == mind.Cancelled {
			return e, false
		}
		e.Role = Assistant
	case provider.Tool:
		if slices.Contains(t.NoMemoryTools, m.Name) || r.NoMemory != nil && r.NoMemory(m.Name) || remembers(m.Name) {
			return e, false
		}
		e.Role = Tool
		if r.Cleaner != nil {
			if clean := r.Cleaner(m.Name); clean != nil {
				e.Text = clean(e.Text)
			}
		}
	default:
		return e, false
	}
	e.Text = clip(e.Text)
	return e, !m.NoMemory && strings.TrimSpace(e.Text) != ""
}

func (r Reader) speaker(in plugin.Input) string {
	if r.Speaker != nil {
		return r.Speaker(in.Source, in.UserID)
	}
	if plausibleName(in.UserID) {
		return in.UserID
	}
	return ""
}

// remembers tells whether a tool reads or writes memory itself: what it says is
// known already.
func remembers(name string) bool {
	return strings.HasPrefix(name, "memory_") || strings.HasPrefix(name, "doc_") || strings.HasPrefix(name, "knowledge_")
}

// clip cuts a text to maxText at the end of a rune.
func clip(s string) string {
	if len(s) <= maxText {
		return s
	}
	n := maxText
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// plausibleName tells whether an id can be spoken as a name: two to twenty
// letters, no digits and signs.
func plausibleName(s string) bool {
	n := 0
	for _, r := range s {
		if !nameRune(r) {
			return false
		}
		n++
	}
	return n >= 2 && n <= 20 && !genericUser[strings.ToLower(s)]
}

// genericUser are ids of whoever sits there.
var genericUser = map[string]bool{"user": true, "admin": true, "root": true, "guest": true, "owner": true, "console": true, "local": true,
	"anonymous": true, "default": true, "voice": true, "web": true, "用户": true, "管理员": true, "访客": true, "主人": true}
