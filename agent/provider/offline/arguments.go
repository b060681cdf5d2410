package offline

import (
	"encoding/json"
	"maps"
	"math"
	"strings"

	"homeagent/agent/intent"
)

// maxStatement bounds the text of a fact, in bytes.
const maxStatement = 1000

// arguments finishes what a sentence alone could not say: a time of day under
// "seconds" becomes the seconds until then, a sentence under "triples" a fact,
// a recall without a name, or of oneself, asks for the sentence itself. trouble is what to
// answer instead of a call.
func (p *Provider) arguments(a intent.Action, m intent.Match, text, lang string) (args json.RawMessage, trouble string) {
	out := maps.Clone(a.Args)
	if out == nil {
		out = map[string]any{}
	}
	if c, ok := out["seconds"].(intent.Clock); ok {
		now := p.opt.Now()
		at, ok := c.Next(now)
		if !ok {
			return nil, timePassed(c, lang)
		}
		out["seconds"] = int(math.Ceil(at.Sub(now).Seconds()))
	}
	if s, ok := out["triples"].(string); ok {
		if len(s) > maxStatement {
			return nil, tooLong(lang)
		}
		out["triples"] = []Fact{factOf(s)}
	}
	if m.Intent == "recall" && (out["query"] == nil || m.Slots["thing"] != "" && nameOf(m.Slots["thing"]) == "") {
		out["query"] = strings.TrimSpace(text)
	}
	args, err := json.Marshal(out)
	if err != nil {
		return nil, cannotAsk(lang)
	}
	return args, ""
}
