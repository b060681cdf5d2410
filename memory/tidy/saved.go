package tidy

import (
	"encoding/json"
	"fmt"
	"maps"
	"time"
)

// stateKey is where in the Store the state lies.
const stateKey = "tidy"

// saved is what a Tidy knows from one start to the next.
type saved struct {
	// Alike and Pages are marks of graph.Changed.
	Alike int64 `json:"alike"`
	Pages int64 `json:"pages"`
	// Asked are the pairs whose answer is awaited, by their ids.
	Asked map[int64]asked `json:"asked,omitempty"`
}

// asked is a pair that was given to the model.
type asked struct {
	At time.Time `json:"at"`
	// Tries counts the inputs that ended without an answer of the model.
	Tries int `json:"tries,omitempty"`
	// Waits is true while an input is on its way.
	Waits bool `json:"waits,omitempty"`
}

// Reset has everything looked at again from the beginning: the graph is another
// one, as after a damaged file. It is called before New.
func Reset(s Store) error {
	if b, err := s.Get(stateKey); err != nil || b == nil {
		return err
	}
	return s.Put(stateKey, []byte("{}"))
}

// load reads the state once. One that cannot be read begins anew: everything
// is looked at again, which repeats work and changes nothing.
func (t *Tidy) load() error {
	t.answers.Lock()
	defer t.answers.Unlock()
	if t.loaded {
		return nil
	}
	b, err := t.o.Store.Get(stateKey)
	if err != nil {
		return fmt.Errorf("read the state: %w", err)
	}
	var s saved
	if b != nil {
		if err := json.Unmarshal(b, &s); err != nil {
			t.o.Log.Warn("the state of the tidying is damaged; it looks at everything again", "err", err)
			s = saved{}
		}
	}
	if s.Asked == nil {
		s.Asked = map[int64]asked{}
	}
	t.saved, t.loaded = s, true
	return nil
}

// marks are how far pages and comparing have come.
func (t *Tidy) marks() (alike, pages int64) {
	t.answers.Lock()
	defer t.answers.Unlock()
	return t.saved.Alike, t.saved.Pages
}

// save changes the state durably; what cannot be saved does not change.
func (t *Tidy) save(change func(*saved)) error {
	t.answers.Lock()
	defer t.answers.Unlock()
	return t.saveLocked(change)
}

// saveLocked is save for who holds answers.
func (t *Tidy) saveLocked(change func(*saved)) error {
	next := t.saved
	next.Asked = maps.Clone(t.saved.Asked)
	change(&next)
	b, err := json.Marshal(next)
	if err != nil {
		return fmt.Errorf("save the state: %w", err)
	}
	if err := t.o.Store.Put(stateKey, b); err != nil {
		return fmt.Errorf("save the state: %w", err)
	}
	t.saved = next
	return nil
}
