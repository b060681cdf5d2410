package intent

import (
	"encoding/json"
	"strconv"
	"strings"
)

// Problem says why a sentence that was understood is no match.
type Problem string

const (
	// NoDevice: the command is clear, the device or room is none of the household's.
	NoDevice Problem = "no_device"
	// WhichDevice: several devices fit and one is meant.
	WhichDevice Problem = "which_device"
)

// Action is one call that a match asks for. Args holds strings, numbers,
// lists, maps, and a Clock where a time of day was said: whoever makes the call
// turns that into what the tool takes.
type Action struct {
	Tool string
	Args map[string]any
	// Device is the id of the device that it acts on, "" if none.
	Device string
}

// JSON is the action's arguments as a JSON object with sorted keys.
func (a Action) JSON() (json.RawMessage, error) {
	if len(a.Args) == 0 {
		return json.RawMessage("{}"), nil
	}
	return json.Marshal(a.Args)
}

// Match is what a sentence means.
type Match struct {
	Intent string
	// Lang is the language of the template that matched, "zh" or "en".
	Lang string
	// Slots holds the values said, as text: seconds for a duration, 0-100 for a
	// number, "07:05" for a clock, ids joined by commas for devices.
	Slots map[string]string
	// Tool and Args are those of the first action; Tool is "" for an intent
	// that is answered without one.
	Tool string
	Args map[string]any
	// Actions are all calls, in order: a room's lamps are one each.
	Actions []Action
	// Clocks holds the times of day among the slots.
	Clocks map[string]Clock

	// Problem is set only where Parse returned false. Unknown then holds the
	// words that name no device, Choices the ids of the devices that fit.
	Problem Problem
	Unknown string
	Choices []string
}

// fill makes a Match of captures.
func (in *intentDef) fill(s *Set, lang string, caps []capture) Match {
	m := Match{Intent: in.name, Lang: lang, Slots: map[string]string{}, Clocks: map[string]Clock{}}
	values := map[string]any{}
	var devices []string
	for _, c := range caps {
		if c.value == nil { // a free slot
			c.value = c.text
		}
		if old, ok := m.Slots[c.slot]; ok {
			m.Slots[c.slot], values[c.slot] = old+","+c.text, old+","+c.text
		} else {
			m.Slots[c.slot], values[c.slot] = c.text, c.value
		}
		switch v := c.value.(type) {
		case Clock:
			m.Clocks[c.slot] = v
		case which:
			m.Problem, m.Choices = WhichDevice, v
		case []string:
			devices = union(devices, v)
			m.Slots["device"] = strings.Join(devices, ",")
		}
	}
	if m.Problem != "" {
		return m
	}
	own, _ := expandArgs(in.args, values).(map[string]any)
	if in.tool != toolDevice {
		if in.tool != "" {
			m.Actions = []Action{{Tool: in.tool, Args: own, Device: strings.Join(devices, ",")}}
		}
	} else {
		for _, id := range devices {
			d, ok := s.home.Device(id)
			if !ok {
				continue
			}
			args := map[string]any{}
			for k, v := range d.Args {
				args[k] = v
			}
			for k, v := range own {
				args[k] = v
			}
			m.Actions = append(m.Actions, Action{Tool: d.Tool, Args: args, Device: id})
		}
	}
	if len(m.Actions) > 0 {
		m.Tool, m.Args = m.Actions[0].Tool, m.Actions[0].Args
	}
	return m
}

// absent marks an argument whose slots were not said.
type absent struct{}

// expandArgs replaces "{slot}" in every text of v.
func expandArgs(v any, values map[string]any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, e := range v {
			if e = expandArgs(e, values); !isAbsent(e) {
				out[k] = e
			}
		}
		return out
	case []any:
		out := []any{}
		for _, e := range v {
			if e = expandArgs(e, values); !isAbsent(e) {
				out = append(out, e)
			}
		}
		return out
	case string:
		return expandText(v, values)
	}
	return v
}

func isAbsent(v any) bool { _, ok := v.(absent); return ok }

// expandText gives a text its slots. "{slot|10}" is 10 where the slot was not
// said, and a minus sign before a single number makes it negative.
func expandText(s string, values map[string]any) any {
	parts := slotInText.FindAllStringSubmatchIndex(s, -1)
	if len(parts) == 0 {
		return s
	}
	var said []any
	var b, rest strings.Builder
	last := 0
	for _, p := range parts {
		b.WriteString(s[last:p[0]])
		rest.WriteString(s[last:p[0]])
		last = p[1]
		v, ok := values[s[p[2]:p[3]]]
		if !ok && p[4] >= 0 {
			v, ok = scalar(s[p[4]:p[5]]), true
		}
		if ok {
			said = append(said, v)
			b.WriteString(asText(v))
		}
	}
	b.WriteString(s[last:])
	rest.WriteString(s[last:])
	switch sign := strings.TrimSpace(rest.String()); {
	case sign == "" && len(said) == 0:
		return absent{}
	case sign == "" && len(said) == 1:
		return said[0]
	case sign == "-" && len(said) == 1:
		if n, ok := said[0].(int); ok {
			return -n
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// scalar reads a default value: a whole number or a text.
func scalar(s string) any {
	if n, err := strconv.Atoi(s); err == nil {
		return n
	}
	return s
}

func asText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []string:
		return strings.Join(v, ",")
	case Clock:
		return v.String()
	}
	b, _ := json.Marshal(v)
	return string(b)
}
