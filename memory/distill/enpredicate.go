package distill

import (
	"strings"
	"unicode"

	"homeagent/agent/pattern"
)

// predicate finds what a clause says of its subject. lead is a date that stood
// before the subject.
func (g *enGrammar) predicate(s *enSubject, ws []word, lead string) []Fact {
	ws = skipAdverbs(ws)
	if len(ws) == 0 {
		return nil
	}
	v, rest := ws[0].low, ws[1:]
	switch {
	case s.after != "":
		return g.attribute(s, v, rest)
	case v == "no" && len(rest) > 1 && rest[0].low == "longer":
		return g.noLonger(s, rest[1:])
	case enBe[v]:
		return g.be(s, v, skipAdverbs(rest), lead)
	case s.thing:
		return nil
	case v == "have" || v == "has" || v == "had":
		return g.have(s, v, skipAdverbs(rest), lead)
	case v == "do" || v == "does" || v == "can":
		return g.negated(s, v, rest)
	case v == "did":
		return nil
	case v == "will":
		return g.plan(s, "will", rest, lead)
	case v == "used" && len(rest) > 2 && rest[0].low == "to":
		relation, object := "used to "+rest[1].low, rest[2:]
		if enPreps[object[0].low] && len(object) > 1 {
			relation, object = relation+" "+object[0].low, object[1:]
		}
		return g.object(s, relation, object, "")
	case v == "stopped" || v == "quit":
		if len(rest) > 0 && (strings.HasSuffix(rest[0].low, "ing") || v == "quit") {
			return g.past(s, v, rest, lead)
		}
	case enAttitude[v] != "":
		return g.attitude(s, enAttitude[v], rest)
	case enDwell[v] != "":
		return g.dwell(s, enDwell[v], rest)
	case pastVerb(v):
		return g.past(s, v, rest, lead)
	case enHabit[v] != "":
		if len(rest) > 0 && (enPreps[rest[0].low] && rest[0].low != "for") {
			return nil // "I run into …"
		}
		return g.object(s, enHabit[v], enWords(enOften.ReplaceAllString(joined(rest), "")), "")
	}
	return nil
}

// enOften is how often and at which time of day, at the end of a habit.
var enOften = pattern.New(`(?i)\s+(?:(?:in the|every|each|on|at) (?:mornings?|afternoons?|evenings?|nights?|days?|weeks?|months?|weekends?|weekdays?|[a-z]+days?)|daily|weekly|a lot|twice a (?:day|week)|once a (?:day|week|month))\b.*$`)

func skipAdverbs(ws []word) []word {
	for len(ws) > 0 && enAdverbs[ws[0].low] {
		ws = ws[1:]
	}
	return ws
}

// attribute is "my name is", "Anna's birthday is", "my mom's doctor is".
func (g *enGrammar) attribute(s *enSubject, v string, ws []word) []Fact {
	if v != "is" && v != "are" || len(ws) == 0 || ws[0].low == "not" {
		return nil
	}
	object := joined(ws)
	if words := strings.Fields(s.after); words[0] == "favorite" {
		return g.object(s, strings.ToLower(s.after)+" is", ws, "")
	}
	switch last := s.after[strings.LastIndexByte(s.after, ' ')+1:]; {
	case last == "name":
		name := nameOf(ws)
		if name == "" {
			return nil
		}
		if s.role != "" {
			return []Fact{fact(s.owner, isRole(s.role, s.kind), name, "person", s.kind)}
		}
		return []Fact{fact(s.name, "name is", name, "person", "person")}
	case last == "birthday" || last == "anniversary":
		object = strings.TrimPrefix(object, "on ")
		d := enWhen("on "+object, g.event.Time, past)
		if !d.found || strings.ContainsAny(object, ",") && len(ws) > 5 {
			return nil
		}
		return []Fact{fact(s.name, last+" is", object, s.kind, "date")}
	case last == "address":
		return []Fact{fact(s.name, "address is", object, s.kind, "place")}
	case enTraits[strings.ToLower(last)]:
		return g.object(s, strings.ToLower(s.after)+" is", ws, "")
	case enKin[last] || enRoles[last] || enPets[last]: // "my mom's doctor is Doctor Weiss"
		if name := nameOf(ws); name != "" {
			return []Fact{fact(s.name, isRole(last, personOrAnimal(last)), name, s.kind, personOrAnimal(last))}
		}
	}
	return nil
}

// nameOf reads a name of one to three words with capitals, the rest being gone.
func nameOf(ws []word) string {
	n := 0
	for n < len(ws) && n < 3 && (capital(ws[n].text) || len(ws[n].text) > 1 && strings.ToUpper(ws[n].text) == ws[n].text) && !enNobody[ws[n].low] {
		n++
	}
	if n == 0 || n < len(ws) && !enPreps[ws[n].low] && !enFillers[ws[n].low] {
		return ""
	}
	for _, r := range joined(ws[:n]) {
		if unicode.IsDigit(r) {
			return ""
		}
	}
	return joined(ws[:n])
}

// isRole is the relation to who plays a role for somebody: "sister is"; an
// animal is had.
func isRole(role, kind string) string {
	if kind == "person" {
		return strings.ToLower(role) + " is"
	}
	return "has " + strings.ToLower(role)
}

// be is what follows am, is, are, was, were.
func (g *enGrammar) be(s *enSubject, v string, ws []word, lead string) []Fact {
	if len(ws) == 0 {
		return nil
	}
	now := v == "am" || v == "is" || v == "are"
	w := ws[0].low
	if w == "no" && len(ws) > 2 && ws[1].low == "longer" {
		return g.noLonger(s, ws[2:])
	}
	if place := enPlaces[w]; now && place != "" && s.thing {
		rest := ws[1:]
		if w == "next" {
			if len(rest) < 2 || rest[0].low != "to" {
				return nil
			}
			rest = rest[1:]
		}
		return g.place(s.name, place, rest)
	}
	if w == "born" && len(ws) > 2 {
		if ws[1].low == "in" && !strings.ContainsAny(ws[2].text, "0123456789") && enMonth(ws[2].low) == 0 {
			return g.object(s, "was born in", ws[2:], "place")
		}
		return []Fact{fact(s.name, "was born on", joined(ws[2:]), s.kind, "date")}
	}
	if !now {
		return nil
	}
	if s.role != "" && !s.proper { // "my dentist is Dr. Miller"
		if name := nameOf(ws); name != "" && !s.thing {
			return []Fact{fact(s.owner, isRole(s.role, s.kind), name, "person", s.kind)}
		}
	}
	switch {
	case w == "allergic" && len(ws) > 2:
		return g.object(s, "is allergic to", ws[2:], "")
	case w == "from" && !s.thing:
		return g.object(s, "is from", ws[1:], "place")
	case (w == "married" || w == "engaged") && len(ws) > 2 && ws[1].low == "to":
		return g.object(s, "is "+w+" to", ws[2:], "person")
	case (w == "named" || w == "called") && len(ws) > 1:
		if name := nameOf(ws[1:]); name != "" {
			if s.role != "" {
				return []Fact{fact(s.owner, isRole(s.role, s.kind), name, "person", s.kind)}
			}
			return []Fact{fact(s.name, "is "+w, name, s.kind, "")}
		}
	case w == "the" && len(ws) > 4 && ws[1].low == "same" && ws[2].low == "person" && ws[3].low == "as":
		return g.object(s, "is the same person as", ws[4:], "person")
	case w == "going" && len(ws) > 2 && ws[1].low == "to":
		return g.plan(s, "is going to", ws[2:], lead)
	case (w == "meeting" || w == "visiting" || w == "seeing" || w == "flying" || w == "going" || w == "leaving" || w == "having") && !s.thing:
		return g.plan(s, "is", ws, lead)
	case enDoing[w] && !s.thing:
		return g.doing(s, ws)
	case w == "scared" || w == "afraid" || w == "terrified":
		if len(ws) > 2 && ws[1].low == "of" {
			return g.object(s, "is afraid of", ws[2:], "")
		}
	case w == "vegetarian" || w == "vegan" || w == "diabetic" || w == "pregnant" || w == "lactose" || w == "left-handed" || w == "single" || w == "divorced":
		if len(ws) <= 2 {
			return []Fact{fact(s.name, "is", joined(ws), s.kind, "")}
		}
	case w == "a" || w == "an":
		return g.kindOf(s, ws[1:])
	case s.self && s.after == "" && len(ws) == 1 && nameOf(ws) != "" && s.owner == "":
		return []Fact{fact(s.name, "name is", ws[0].text, "person", "person")}
	case strings.Trim(w, "0123456789") == "" && len(w) < 4:
		if len(ws) == 1 || len(ws) > 1 && ws[1].low == "years" {
			return []Fact{fact(s.name, "age is", w, s.kind, "number")}
		}
	case s.proper && (w == "my" || w == "our") && g.speaks():
		return g.relative(s, g.first(), ws[1:])
	case s.proper && strings.HasSuffix(w, "'s") && capital(ws[0].text):
		return g.relative(s, trimPossessive(ws[0]).text, ws[1:])
	}
	return nil
}

// relative is "Anna is my sister", "Tom is my son's teacher".
func (g *enGrammar) relative(s *enSubject, owner string, ws []word) []Fact {
	if len(ws) > 1 && strings.HasSuffix(ws[0].low, "'s") && enKin[trimPossessive(ws[0]).low] {
		owner, ws = g.own(owner, trimPossessive(ws[0]).low), ws[1:]
	}
	n := 0
	for n < len(ws) && n < 4 {
		n++
		if low := ws[n-1].low; enKin[low] || enRoles[low] || enPets[low] {
			if n < len(ws) && !enPreps[ws[n].low] && !enFillers[ws[n].low] {
				return nil
			}
			return []Fact{fact(owner, isRole(joined(ws[:n]), personOrAnimal(low)), s.name, "person", personOrAnimal(low))}
		}
	}
	return nil
}

// kindOf is "a nurse", "a big fan of jazz".
func (g *enGrammar) kindOf(s *enSubject, ws []word) []Fact {
	for i, w := range ws {
		if w.low == "fan" && i+2 < len(ws) && ws[i+1].low == "of" {
			return g.object(s, "likes", ws[i+2:], "")
		}
	}
	if s.thing {
		return nil
	}
	for i, w := range ws {
		if i > 3 || enPreps[w.low] {
			break
		}
		if enNotJob[w.low] || !(enJobs[w.low] || enRoles[w.low] || enJobEnd.MatchString(w.low)) || len(w.low) < 4 {
			continue
		}
		if i+1 < len(ws) && !enPreps[ws[i+1].low] && !enFillers[ws[i+1].low] {
			continue // "a driver license"
		}
		facts := []Fact{fact(s.name, "is a", joined(ws[:i+1]), s.kind, "")}
		if i+2 < len(ws) && (ws[i+1].low == "at" || ws[i+1].low == "for") {
			facts = append(facts, g.object(s, "works at", ws[i+2:], "place")...)
		}
		return facts
	}
	return nil
}

// have is possession, an appointment, or something done.
func (g *enGrammar) have(s *enSubject, v string, ws []word, lead string) []Fact {
	if len(ws) == 0 {
		return nil
	}
	if ws[0].low == "been" {
		if len(ws) < 3 || v == "had" {
			return nil
		}
		if ws[1].low == "to" {
			return g.past(s, "has been", ws[1:], lead)
		}
		if enDoing[ws[1].low] {
			return g.doing(s, ws[1:])
		}
		return nil
	}
	if v != "had" && ws[0].low == "got" && len(ws) > 1 {
		ws = ws[1:]
	} else if participle(ws[0].low) && len(ws) > 1 && ws[0].low != "left" {
		verb := ws[0].low
		if !pastVerb(verb) {
			verb = "has " + verb
		}
		return g.past(s, verb, ws[1:], lead)
	}
	if v == "had" {
		return g.past(s, v, ws, lead)
	}
	if ws[0].low == "to" || ws[0].low == "not" || ws[0].low == "never" {
		return nil
	}
	for i, w := range ws {
		if w.low == "appointment" || w.low == "meeting" || w.low == "interview" || w.low == "exam" || w.low == "flight" || w.low == "reservation" {
			if f := g.plan(s, "has", ws, lead); len(f) > 0 {
				return f
			}
			return nil
		}
		if i > 0 && (w.low == "named" || w.low == "called") && i+1 < len(ws) {
			return g.namedOnes(s, ws[:i], ws[i+1:])
		}
		if enAbstract[w.low] && i < 3 {
			return nil
		}
	}
	// What one has begins with an article or a number; all else is a phrase.
	if first := ws[0].low; first != "a" && first != "an" && enNumbers[first] == 0 && first != "my" {
		return nil
	}
	return g.object(s, "has", ws, "")
}

// namedOnes is "a dog named Rex", "two cats called Tom and Kim".
func (g *enGrammar) namedOnes(s *enSubject, what, names []word) []Fact {
	noun := what[len(what)-1].low
	kind := personOrAnimal(strings.TrimSuffix(noun, "s"))
	if !enPets[strings.TrimSuffix(noun, "s")] && !enKin[strings.TrimSuffix(noun, "s")] {
		kind = ""
	}
	var facts []Fact
	for _, w := range names {
		if w.low == "and" {
			continue
		}
		if !capital(w.text) || enNobody[w.low] {
			break
		}
		facts = append(facts, fact(s.name, isRole(strings.TrimSuffix(noun, "s"), kind), w.text, s.kind, kind))
	}
	return facts
}

// negated is "do not like", "can not stand", "can not eat".
func (g *enGrammar) negated(s *enSubject, v string, ws []word) []Fact {
	if len(ws) < 3 && !(len(ws) == 2) || ws[0].low != "not" || len(ws) < 3 {
		return nil
	}
	ws = skipAdverbs(ws[1:])
	if len(ws) < 2 {
		return nil
	}
	verb, rest := ws[0].low, ws[1:]
	for i, w := range rest {
		if w.low == "anymore" || w.low == "any" && i+1 < len(rest) && rest[i+1].low == "more" {
			return g.noLonger(s, append([]word{ws[0]}, rest[:i]...))
		}
	}
	switch {
	case v == "can" && verb == "stand":
		return g.object(s, "dislikes", rest, "")
	case verb == "like" || verb == "enjoy" || verb == "eat" || verb == "drink" || verb == "speak" || verb == "drive":
		if v == "can" && (verb == "like" || verb == "enjoy") {
			return nil
		}
		if rest[0].low == "to" {
			return nil
		}
		help := map[string]string{"do": "does not", "does": "does not", "can": "can not"}[v]
		return g.object(s, help+" "+verb, rest, "")
	}
	return nil
}

// noLonger is what has ended.
func (g *enGrammar) noLonger(s *enSubject, ws []word) []Fact {
	if len(ws) < 2 {
		return nil
	}
	verb, rest := ws[0].low, ws[1:]
	base := verb
	for _, table := range []map[string]string{enAttitude, enDwell, enHabit} {
		if table[verb] != "" {
			base = table[verb]
		}
	}
	if enPreps[rest[0].low] && len(rest) > 1 {
		base += " " + rest[0].low
		rest = rest[1:]
	}
	if enBe[verb] {
		return nil
	}
	facts := g.object(s, "no longer "+base, rest, "")
	for i := range facts {
		facts[i].Ends = base
	}
	return facts
}

// attitude is liking and its opposite.
func (g *enGrammar) attitude(s *enSubject, relation string, ws []word) []Fact {
	if len(ws) > 1 && ws[0].low == "to" {
		return g.object(s, relation+" to "+ws[1].low, ws[2:], "")
	}
	if len(ws) > 0 && (ws[0].low == "how" || ws[0].low == "when" || ws[0].low == "that" || ws[0].low == "your") {
		return nil
	}
	return g.object(s, relation, ws, "")
}

// dwell is where somebody lives and works.
func (g *enGrammar) dwell(s *enSubject, verb string, ws []word) []Fact {
	ws = skipAdverbs(ws)
	if len(ws) < 2 || !words("in at for with as near on")[ws[0].low] {
		return nil
	}
	kind := "place"
	if ws[0].low == "with" || ws[0].low == "as" {
		kind = ""
	}
	if ws[0].low == "on" && strings.HasPrefix(verb, "work") {
		kind = ""
	}
	return g.object(s, verb+" "+ws[0].low, ws[1:], kind)
}

// place is where a thing lies.
func (g *enGrammar) place(thing, relation string, ws []word) []Fact {
	// The preposition is part of a date: "on Friday".
	d := enWhen(strings.TrimPrefix(relation, "is ")+" "+joined(ws), g.event.Time, future)
	if !d.found {
		d.text = joined(ws)
	}
	object, ok := enObject(enWords(d.text))
	thing = strings.TrimSpace(thing)
	if d.found && strings.Trim(d.text, " ,") == "" && d.result() != "" && (relation == "is on" || relation == "is at" || relation == "is in") {
		return []Fact{fact(thing, "is on", d.result(), "event", "date")}
	}
	if !ok || d.found || enPronouns[strings.ToLower(thing)] || enAway[strings.ToLower(object)] {
		return nil
	}
	return []Fact{fact(thing, relation, object, "thing", "place")}
}

// enAway follow a preposition and are no places.
var enAway = map[string]bool{"fire": true, "sale": true, "time": true, "order": true, "trouble": true, "danger": true, "progress": true,
	"way": true, "hand": true, "mind": true, "half": true, "general": true, "good shape": true, "love": true, "need": true}

var enNumberSaid = pattern.New(`(?i)^(?:(my|our)|([A-Z][a-z]+)'s|(?:my|our) ([a-z -]+?)'s) (?:new )?(?:(?:cell|mobile|home|work|office)?[ -]?phone(?: number)?|(?:cell|mobile|telephone|contact)(?: number)?|number) is (?:now )?(\+?[0-9][0-9 ()-]{4,20}[0-9])$`)

// enNumbers finds telephone numbers.
func (v voice) enNumbers(text string) []Fact {
	m := enNumberSaid.FindStringSubmatch(strings.TrimRight(text, " ."))
	if m == nil {
		return nil
	}
	who := v.first()
	switch {
	case m[2] != "":
		who = m[2]
	case !v.speaks():
		return nil
	case m[3] != "":
		who = v.own(v.first(), m[3])
	}
	return []Fact{fact(who, "phone number is", m[4], "person", "number")}
}
