package queue

import (
	"cmp"
	"slices"

	"homeagent/agent/plugin"
	"homeagent/agent/tool"
)

// Entry is an input with what has been done for it.
type Entry struct {
	Input plugin.Input
	// Starts is the number of processes that ended within this input's turn
	// without an orderly stop.
	Starts int
	Rounds []Round
	// Calls holds what is known about a call, by its id.
	Calls map[string]Call
	// Final is the answer if one was about to be sent, and Sent whether it left.
	Final *Final
	Sent  bool
}

// Call is how far a call has come.
type Call struct {
	// Begun is the call as it was about to run, nil for one that was not
	// written down before (a read, or one that never came to it).
	Begun *tool.Call
	// Result is nil while the call has not ended.
	Result *tool.Result
	// Raw tells that after_toolcall has not been run on Result.
	Raw bool
}

// Resumed reports whether an earlier process had begun on the input.
func (e *Entry) Resumed() bool { return e.Starts > 0 || len(e.Rounds) > 0 || e.Final != nil }

// clone copies what the queue goes on to change.
func (e *Entry) clone() *Entry {
	c := *e
	c.Rounds = append([]Round(nil), e.Rounds...)
	c.Calls = make(map[string]Call, len(e.Calls))
	for id, call := range e.Calls {
		c.Calls[id] = call
	}
	return &c
}

// item is an Entry inside the queue.
type item struct {
	Entry
	seq   int64 // order of arrival
	size  int64 // bytes of its records in the log
	media int64 // bytes held in memory by text and media
}

func (it *item) internal() bool { return Internal(it.Input.Source) }

// Internal reports whether a source waits behind every user: a name in
// underscores, or "schedule".
func Internal(source string) bool { return Inner(source) || source == "schedule" }

// Inner reports whether a source is the agent itself: a name in underscores.
// Its turns reach no outside channel.
func Inner(source string) bool {
	return len(source) > 2 && source[0] == '_' && source[len(source)-1] == '_'
}

// apply takes a record over into the item. kInput, kDone and kAside are the queue's own.
func (it *item) apply(r record) {
	switch r.Kind {
	case kStart:
		it.Starts++
	case kPause:
		if it.Starts > 0 {
			it.Starts--
		}
	case kRound:
		it.Rounds = append(it.Rounds, *r.Round)
	case kBegin:
		c := it.Calls[r.Call.ID]
		c.Begun = r.Call
		it.setCall(r.Call.ID, c)
	case kEnd:
		c := it.Calls[r.Result.CallID]
		c.Result, c.Raw = r.Result, r.Raw
		it.setCall(r.Result.CallID, c)
	case kFinal:
		it.Final = r.Final
	case kSent:
		it.Sent = true
	}
}

func (it *item) setCall(id string, c Call) {
	if it.Calls == nil {
		it.Calls = map[string]Call{}
	}
	it.Calls[id] = c
}

// records gives back what the log must hold for the item to be found as it is.
func (it *item) records() []record {
	id := it.Input.ID
	out := []record{{Kind: kInput, ID: id, Input: &it.Input}}
	for range it.Starts {
		out = append(out, record{Kind: kStart, ID: id})
	}
	for i := range it.Rounds {
		out = append(out, record{Kind: kRound, ID: id, Round: &it.Rounds[i]})
	}
	for _, round := range it.Rounds {
		for _, call := range round.Calls {
			c, ok := it.Calls[call.ID]
			if !ok {
				continue
			}
			if c.Begun != nil {
				out = append(out, record{Kind: kBegin, ID: id, Call: c.Begun})
			}
			if c.Result != nil {
				out = append(out, record{Kind: kEnd, ID: id, Result: c.Result, Raw: c.Raw})
			}
		}
	}
	if it.Final != nil {
		out = append(out, record{Kind: kFinal, ID: id, Final: it.Final})
	}
	if it.Sent {
		out = append(out, record{Kind: kSent, ID: id})
	}
	return out
}

func sortBySeq(items []*item) {
	slices.SortFunc(items, func(a, b *item) int { return cmp.Compare(a.seq, b.seq) })
}
