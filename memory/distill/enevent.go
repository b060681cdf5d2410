package distill

import "strings"

// particles go with the verb before them.
var enParticles = words("up out off back down away over")

// put are verbs behind which a thing gets a place.
var enPut = words("put left parked placed stored hid kept hung stashed dropped moved")

// past is something done in the past.
func (g *enGrammar) past(s *enSubject, verb string, ws []word, lead string) []Fact {
	d := enWhen(lead+joined(ws), g.event.Time, past)
	when := d.result()
	ws = skipAdverbs(enWords(d.text))
	if len(ws) == 0 {
		return nil
	}
	if enPut[verb] {
		if facts := g.putSomewhere(s, ws); facts != nil {
			return facts
		}
	}
	switch verb {
	case "moved":
		return dated(g.moved(s, ws), when)
	case "grew":
		if len(ws) > 2 && ws[0].low == "up" && ws[1].low == "in" {
			return g.object(s, "grew up in", ws[2:], "place")
		}
	case "had", "got", "made", "took", "gave", "came", "began", "kept", "left", "found", "felt":
		if got := enGot(verb, ws); !got {
			return nil
		}
	}
	relation := verb
	if enParticles[ws[0].low] && len(ws) > 1 {
		relation += " " + ws[0].low
		ws = ws[1:]
	}
	if enPreps[ws[0].low] && len(ws) > 1 {
		relation += " " + ws[0].low
		ws = ws[1:]
	}
	return dated(g.object(s, relation, ws, ""), when)
}

// enGot tells whether what follows a light verb is a thing or an event and not
// a phrase: it begins with an article, a number, or "married to".
func enGot(verb string, ws []word) bool {
	switch first := ws[0].low; {
	case verb == "got" && (first == "married" || first == "engaged" || first == "divorced" || first == "promoted" || first == "accepted" || first == "back"):
		return true
	case verb == "took" && (first == "up" || first == "part") || verb == "came" && (first == "to" || first == "from") || verb == "found" && first == "out":
		return first != "out"
	case enDeterminers[first] || enNumbers[first] > 0 || capital(ws[0].text):
	default:
		return false
	}
	for i, w := range ws {
		if i < 3 && enAbstract[w.low] {
			return false
		}
	}
	return true
}

// dated sets the date of facts.
func dated(facts []Fact, when string) []Fact {
	for i := range facts {
		facts[i].When = when
	}
	return facts
}

// putSomewhere is "put the keys in the drawer", "parked in row C" being a car.
func (g *enGrammar) putSomewhere(s *enSubject, ws []word) []Fact {
	for i := 1; i+1 < len(ws); i++ {
		place := enPlaces[ws[i].low]
		if place == "" {
			continue
		}
		thing, ok := enObject(ws[:i])
		rest := ws[i+1:]
		if ws[i].low == "next" && rest[0].low == "to" {
			rest = rest[1:]
		}
		if !ok || len(rest) == 0 {
			return nil
		}
		if first := ws[0].low; s.self && (first == "my" || first == "our") && s.name != "user" && s.name != "用户" {
			thing = g.own(s.name, thing)
		}
		return g.place(thing, place, rest)
	}
	return nil
}

// moved is "moved to Berlin", "moved from X to Y".
func (g *enGrammar) moved(s *enSubject, ws []word) []Fact {
	var facts []Fact
	for i := 0; i+1 < len(ws); i++ {
		if low := ws[i].low; low == "from" || low == "to" {
			end := i + 1
			for end < len(ws) && ws[end].low != "to" && ws[end].low != "from" {
				end++
			}
			facts = append(facts, g.object(s, "moved "+low, ws[i+1:end], "place")...)
		}
	}
	return facts
}

// doing is what somebody is at.
func (g *enGrammar) doing(s *enSubject, ws []word) []Fact {
	d := enWhen(joined(ws[1:]), g.event.Time, future)
	rest := enWords(d.text)
	relation := "is " + ws[0].low
	if len(rest) > 1 && enPreps[rest[0].low] {
		relation += " " + rest[0].low
		rest = rest[1:]
	}
	return dated(g.object(s, relation, rest, ""), d.result())
}

// plan is something ahead; without a time it is talk.
func (g *enGrammar) plan(s *enSubject, relation string, ws []word, lead string) []Fact {
	d := enWhen(lead+joined(ws), g.event.Time, future)
	rest := skipAdverbs(enWords(d.text))
	if !d.found || d.result() == "" || len(rest) == 0 || rest[0].low == "not" || rest[0].low == "be" || rest[0].low == "never" {
		return nil
	}
	n := 0
	if relation != "has" {
		relation += " " + rest[0].low
		n = 1
		if n+1 < len(rest) && enParticles[rest[n].low] {
			relation += " " + rest[n].low
			n++
		}
		if n < len(rest) && enPreps[rest[n].low] {
			relation += " " + rest[n].low
			n++
		}
	}
	return dated(g.object(s, relation, rest[n:], "event"), d.result())
}

// object makes the fact of a relation and the object at the beginning of ws.
func (g *enGrammar) object(s *enSubject, relation string, ws []word, kind string) []Fact {
	object, ok := enObject(ws)
	if !ok || strings.EqualFold(object, s.name) {
		return nil
	}
	return []Fact{fact(s.name, relation, object, s.kind, kind)}
}

// maxObject is the longest object, in words.
const maxObject = 9

// enObject reads an object: no determiner before it, no fillers behind it, no
// pronoun in its place.
func enObject(ws []word) (string, bool) {
	if len(ws) == 0 || ws[0].low == "not" {
		return "", false
	}
	if enPronouns[ws[0].low] && !enDeterminers[ws[0].low] {
		return "", false
	}
	n := 0
	for n < len(ws) && n < maxObject && !enStops[ws[n].low] {
		n++
	}
	ws = ws[:n]
	if len(ws) > 0 && enVague[ws[0].low] {
		return "", false
	}
	for len(ws) > 0 && enDeterminers[ws[0].low] {
		ws = ws[1:]
	}
	for len(ws) > 0 && ws[len(ws)-1].text == ws[len(ws)-1].low && (enFillers[ws[len(ws)-1].low] || enAdverbs[ws[len(ws)-1].low] || enDeterminers[ws[len(ws)-1].low]) {
		ws = ws[:len(ws)-1]
	}
	if len(ws) == 0 || enVague[ws[0].low] || enPronouns[ws[0].low] || enAbstract[ws[0].low] && len(ws) == 1 {
		return "", false
	}
	return joined(ws), true
}

// enStops end an object.
var enStops = words(`because that which who when while where since until so but i he she they it you we is are was were has have had will
	if though although as then than and-then`)
