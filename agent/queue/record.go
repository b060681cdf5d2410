package queue

import (
	"encoding/json"
	"errors"
	"fmt"

	"homeagent/agent/plugin"
	"homeagent/agent/tool"
)

// kind names a record.
type kind string

const (
	kInput kind = "input" // synced: an input is acknowledged
	kStart kind = "start" // its turn begins in this process
	kRound kind = "round" // what the provider asked for
	kBegin kind = "begin" // synced: a call that changes something is about to run
	kEnd   kind = "end"   // how a call ended
	kFinal kind = "final" // synced: the answer is about to be sent
	kSent  kind = "sent"  // the channel has taken it
	kPause kind = "pause" // an orderly stop: the start does not count
	kDone  kind = "done"  // the turn is over
	kAside kind = "aside" // synced: the input is not tried again
)

// Round is one answer of the provider that asked for calls, after post_action.
type Round struct {
	Text      string      `json:"text,omitempty"`
	Reasoning string      `json:"reasoning,omitempty"`
	Calls     []tool.Call `json:"calls"`
}

// Final is an answer as it is about to be sent.
type Final struct {
	// Text is what is sent, Said what the context keeps as said.
	Text string `json:"text"`
	Said string `json:"said"`
	// Channel is where it goes, "" if nowhere.
	Channel string `json:"channel,omitempty"`
	// Outcome is a word of the mind's for the journal.
	Outcome string `json:"outcome,omitempty"`
}

// record is one step on disk. Which fields are set depends on Kind.
type record struct {
	Kind   kind          `json:"k"`
	ID     string        `json:"id"`
	Input  *plugin.Input `json:"in,omitempty"`
	Round  *Round        `json:"round,omitempty"`
	Call   *tool.Call    `json:"call,omitempty"`
	Result *tool.Result  `json:"result,omitempty"`
	// Raw marks a result that no after_toolcall handler has seen yet.
	Raw   bool   `json:"raw,omitempty"`
	Final *Final `json:"final,omitempty"`
}

var errRecord = errors.New("not a queue record")

func encode(r record) ([]byte, error) { return json.Marshal(r) }

// decode reads a record and checks that it has what its kind needs, so that
// replay need not.
func decode(b []byte) (record, error) {
	var r record
	if err := json.Unmarshal(b, &r); err != nil {
		return record{}, fmt.Errorf("%w: %w", errRecord, err)
	}
	if r.ID == "" {
		return record{}, fmt.Errorf("%w: no id", errRecord)
	}
	ok := true
	switch r.Kind {
	case kInput:
		ok = r.Input != nil && r.Input.ID == r.ID
	case kRound:
		ok = r.Round != nil
		if ok {
			for _, c := range r.Round.Calls {
				ok = ok && c.ID != ""
			}
		}
	case kBegin:
		ok = r.Call != nil && r.Call.ID != ""
	case kEnd:
		ok = r.Result != nil && r.Result.CallID != ""
	case kFinal:
		ok = r.Final != nil
	case kStart, kSent, kPause, kDone, kAside:
	default:
		return record{}, fmt.Errorf("%w: kind %q", errRecord, r.Kind)
	}
	if !ok {
		return record{}, fmt.Errorf("%w: %s without its content", errRecord, r.Kind)
	}
	return r, nil
}
