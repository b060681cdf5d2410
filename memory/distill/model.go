package distill

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"strconv"
	"strings"

	"homeagent/agent/pattern"
	"homeagent/agent/plugin"
	"homeagent/agent/provider"
	"homeagent/agent/tool"
)

const (
	// maxRequest is how much text of events goes into one request, in bytes:
	// some eight thousand tokens.
	maxRequest = 24 << 10
	// maxAnswer is the longest answer that is read, in bytes, maxFacts the most
	// facts in it.
	maxAnswer = 1 << 20
	maxFacts  = 600
	// unsaid is the confidence of a fact to which the model gave none.
	unsaid = 0.7
	// maxRelated bounds what a model says beside the three parts of a fact, in bytes.
	maxRelated = 128
)

// ErrAnswer is wrapped by errors about an answer that is none.
var ErrAnswer = errors.New("the answer does not follow the schema")

// toolName is the tool by whose call the model answers. A call with a schema is
// what every provider of this kind knows; a mode for JSON is not.
const toolName = "record_facts"

// Model asks a provider for facts. It is safe for concurrent use. A provider's
// failure is returned as it is; an answer that is malformed twice leaves the
// events to Fallback.
type Model struct {
	provider provider.Provider
	fallback Extractor
	log      *slog.Logger
}

var _ Extractor = (*Model)(nil)

// NewModel makes an extractor of a provider. fallback nil is the Heuristic, log
// nil the default one.
func NewModel(p provider.Provider, fallback Extractor, log *slog.Logger) *Model {
	if fallback == nil {
		fallback = NewHeuristic()
	}
	if log == nil {
		log = slog.Default()
	}
	return &Model{provider: p, fallback: fallback, log: log}
}

// Extract asks once for about 24 KB of text, turns kept whole.
func (m *Model) Extract(ctx context.Context, events []Event) ([]Fact, error) {
	var facts []Fact
	for _, part := range parts(events) {
		found, err := m.part(ctx, part)
		if err != nil {
			return nil, err
		}
		facts = append(facts, found...)
	}
	return sound(events, facts), nil
}

// parts cuts events at turns so that each part fits into a request.
func parts(events []Event) (out [][]Event) {
	begin, size := 0, 0
	for i, e := range events {
		if i > begin && size+len(e.Text) > maxRequest && e.Turn != events[i-1].Turn {
			out = append(out, events[begin:i])
			begin, size = i, 0
		}
		size += len(e.Text)
	}
	if begin < len(events) {
		out = append(out, events[begin:])
	}
	return out
}

// part asks about one part, at most twice.
func (m *Model) part(ctx context.Context, events []Event) ([]Fact, error) {
	req, turns, ok := request(events)
	kept := guardedFacts(events)
	if !ok {
		return kept, nil
	}
	for try := range 2 {
		resp, err := m.provider.Chat(ctx, req)
		if err == nil {
			var facts []Fact
			if facts, err = read(resp, turns); err == nil {
				return append(kept, facts...), nil
			}
		}
		var pe *provider.Error
		if !errors.Is(err, ErrAnswer) && !(errors.As(err, &pe) && pe.Kind == provider.Malformed) {
			return nil, fmt.Errorf("ask for facts: %w", err)
		}
		m.log.Info("an answer about facts could not be read", "try", try+1, "provider", m.provider.Name(), "err", err)
		req.Notes = againNote
	}
	facts, err := m.fallback.Extract(ctx, events)
	return append(kept, facts...), err
}

// guardedFacts are what the user wants remembered and no provider may read.
func guardedFacts(events []Event) []Fact {
	var kept []Fact
	for _, e := range events {
		if !Guarded(e.Text) {
			continue
		}
		for _, f := range heuristic(e) {
			if Guarded(f.Text()) {
				kept = append(kept, f)
			}
		}
	}
	return kept
}

// Text is the fact as one phrase, for tests of its content.
func (f Fact) Text() string { return f.Subject + " " + f.Relation + " " + f.Object }

// line is how the model sees an event: data in a form that no text can leave.
type line struct {
	Turn string `json:"turn"`
	Who  string `json:"who"`
	To   string `json:"to,omitempty"`
	Time string `json:"time"`
	Text string `json:"text"`
}

// request writes the question; turns are the events that the numbers in it
// stand for. ok is false where nothing is left to ask about.
func request(events []Event) (req provider.Request, turns map[string]Event, ok bool) {
	turns = map[string]Event{}
	numbers := map[string]string{}
	var b strings.Builder
	zh := 0
	for _, e := range events {
		text := strings.TrimSpace(withoutSecrets(e.Text))
		if text == "" {
			continue
		}
		n := numbers[e.Turn]
		if n == "" {
			n = strconv.Itoa(len(numbers) + 1)
			numbers[e.Turn] = n
			turns[n] = e
		}
		v := voice{event: e, zh: chinese(text, e.Lang)}
		l := line{Turn: n, To: e.To, Text: text}
		if !e.Time.IsZero() {
			l.Time = e.Time.Format("2006-01-02 15:04 Monday")
		}
		switch e.Role {
		case Assistant:
			l.Who, l.To = "assistant", v.first()
		case Tool:
			l.Who = "tool output"
		default:
			l.Who = v.first()
		}
		if v.zh {
			zh++
		}
		j, err := json.Marshal(l)
		if err != nil {
			continue // strings always marshal
		}
		b.Write(j)
		b.WriteByte('\n')
	}
	if len(turns) == 0 {
		return req, nil, false
	}
	req = provider.Request{System: systemPrompt, Tools: []tool.Def{factTool}, Lang: "en", Source: "_distill_",
		Messages: []provider.Message{{Role: provider.User, Content: b.String()}}}
	if zh*2 >= len(turns) {
		req.Lang = "zh"
	}
	return req, turns, true
}

// read takes the facts out of an answer: of its call, or of its text where a
// model answers by that.
func read(resp provider.Response, turns map[string]Event) ([]Fact, error) {
	var raw []byte
	for _, c := range resp.Calls {
		if c.Name == toolName {
			raw = c.Args
			break
		}
	}
	if raw == nil {
		text := resp.Text
		from, to := strings.IndexByte(text, '{'), strings.LastIndexByte(text, '}')
		if from < 0 || to < from {
			return nil, fmt.Errorf("%w: no call and no object", ErrAnswer)
		}
		raw = []byte(text[from : to+1])
	}
	var quoted string
	if json.Unmarshal(raw, &quoted) == nil { // arguments as a string twice over
		raw = []byte(quoted)
	}
	return parseAnswer(raw, turns)
}

// answered is one fact as the model gives it.
type answered struct {
	Turn        number   `json:"turn"`
	Subject     string   `json:"subject"`
	Relation    string   `json:"relation"`
	Object      string   `json:"object"`
	SubjectType string   `json:"subject_type"`
	ObjectType  string   `json:"object_type"`
	When        string   `json:"when"`
	Ends        string   `json:"ends"`
	Confidence  *float64 `json:"confidence"`
}

// number is a turn's number, which some models give as a number and some as text.
type number string

// UnmarshalJSON takes both.
func (n *number) UnmarshalJSON(b []byte) error {
	*n = number(bytes.Trim(b, `"`))
	return nil
}

// parseAnswer reads {"facts": [...]}. Single facts that cannot be used are
// dropped; an answer of which most are is refused as a whole.
func parseAnswer(raw []byte, turns map[string]Event) ([]Fact, error) {
	if len(raw) > maxAnswer {
		return nil, fmt.Errorf("%w: %d bytes", ErrAnswer, len(raw))
	}
	var whole struct {
		Facts *[]json.RawMessage `json:"facts"`
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	if err := dec.Decode(&whole); err != nil {
		return nil, fmt.Errorf("%w: no object: %T", ErrAnswer, err) // the words of err may quote the household
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%w: more behind the object", ErrAnswer)
	}
	if whole.Facts == nil {
		return nil, fmt.Errorf("%w: no facts", ErrAnswer)
	}
	items := *whole.Facts
	if len(items) > maxFacts {
		return nil, fmt.Errorf("%w: %d facts", ErrAnswer, len(items))
	}
	var facts []Fact
	bad := 0
	for _, item := range items {
		var a answered
		e, known := Event{}, false
		if json.Unmarshal(item, &a) == nil {
			e, known = turns[string(a.Turn)]
		}
		if !known {
			bad++
			continue
		}
		facts = append(facts, a.fact(e))
	}
	if bad*2 > len(items) {
		return nil, fmt.Errorf("%w: %d of %d facts cannot be used", ErrAnswer, bad, len(items))
	}
	return facts, nil
}

// fact keeps of an answer what is within bounds; sound looks at the rest.
func (a answered) fact(e Event) Fact {
	f := Fact{Triple: plugin.Triple{Subject: a.Subject, Relation: a.Relation, Object: a.Object},
		Turn: e.Turn, Speaker: e.Speaker, SpeakerID: e.SpeakerID, Time: e.Time, Confidence: unsaid}
	if a.Confidence != nil && !math.IsNaN(*a.Confidence) {
		f.Confidence = min(max(*a.Confidence, 0), 1)
	}
	if types[a.SubjectType] {
		f.SubjectType = a.SubjectType
	}
	if types[a.ObjectType] {
		f.ObjectType = a.ObjectType
	}
	if whenForm.MatchString(a.When) {
		f.When = a.When
	}
	if a.Ends = tidy(a.Ends); len(a.Ends) <= maxRelated {
		f.Ends = a.Ends
	}
	return f
}

var types = map[string]bool{"person": true, "place": true, "thing": true, "animal": true, "event": true, "date": true, "number": true, "text": true}

var whenForm = pattern.New(`^[12]\d{3}(?:-\d{2}(?:-\d{2}(?: \d{2}:\d{2}|/[12]\d{3}-\d{2}-\d{2})?)?)?$`)
