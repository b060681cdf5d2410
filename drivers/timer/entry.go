package timer

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"homeagent/agent/plugin"
)

// storePrefix stands before a timer's id in the Store, badPrefix before what
// could not be read there and is kept for whoever wants to look.
const (
	storePrefix = "timer/"
	badPrefix   = "bad/"
)

// Bounds.
const (
	maxTimers  = 100
	maxLabel   = 200 // characters
	minSeconds = 1
	maxSeconds = 7 * 24 * 3600
)

// entry is one timer. The exported fields are what the Store keeps.
type entry struct {
	ID      string    `json:"id"`
	Label   string    `json:"label,omitempty"`
	Seconds float64   `json:"seconds"` // the whole length
	Set     time.Time `json:"set"`     // wall clock
	Due     time.Time `json:"due"`     // wall clock
	Channel string    `json:"channel,omitempty"`
	User    string    `json:"user,omitempty"`
	Lang    string    `json:"lang"`

	at      time.Time // due on the monotonic clock
	unsure  bool      // loaded while the wall clock was behind Set
	missed  bool      // fell due while the agent was not running
	ringing bool
}

// length is the whole length.
func (e *entry) length() time.Duration { return time.Duration(e.Seconds * float64(time.Second)) }

// save writes the entry to the Store.
func (e *entry) save(s plugin.Store) error {
	b, err := json.Marshal(e)
	if err != nil {
		return err
	}
	return s.Put(storePrefix+e.ID, b)
}

// load reads all timers and sets aside what is no timer.
func load(s plugin.Store) (found []*entry, bad []string, err error) {
	broken := map[string][]byte{}
	err = s.List(storePrefix, func(key string, value []byte) bool {
		e := &entry{}
		if jerr := json.Unmarshal(value, e); jerr != nil || storePrefix+e.ID != key || e.ID == "" ||
			e.Seconds < minSeconds || e.Seconds > maxSeconds || e.Set.IsZero() || e.Due.IsZero() {
			broken[key] = slices.Clone(value)
			return true
		}
		found = append(found, e)
		return true
	})
	if err != nil {
		return nil, nil, fmt.Errorf("read timers: %w", err)
	}
	for key, value := range broken {
		if err := s.Put(badPrefix+key, value); err != nil {
			return nil, nil, fmt.Errorf("set aside timer %s: %w", key, err)
		}
		if err := s.Delete(key); err != nil {
			return nil, nil, fmt.Errorf("set aside timer %s: %w", key, err)
		}
		bad = append(bad, key)
	}
	return found, bad, nil
}

// resume finds out when a loaded timer is due on the monotonic clock.
func (e *entry) resume(now, wall time.Time) {
	left := e.Due.Sub(wall)
	if wall.Before(e.Set.Add(-driftLimit)) {
		e.unsure = true
		left = e.length()
	}
	e.missed = left <= 0
	e.at = now.Add(left)
}

// byDue orders timers by the time they ring, then by id.
func byDue(a, b *entry) int {
	return cmp.Or(a.at.Compare(b.at), cmp.Compare(number(a.ID), number(b.ID)))
}

// number is an id as a number, 0 for another form.
func number(id string) int {
	n, _ := strconv.Atoi(id)
	return n
}

// cleanLabel makes a label one line of visible characters.
func cleanLabel(s string) (string, error) {
	s = strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if r == utf8.RuneError || unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)), " ")
	if n := utf8.RuneCountInString(s); n > maxLabel {
		return "", fmt.Errorf("the label has %d characters, at most %d are allowed; shorten it", n, maxLabel)
	}
	return s, nil
}
