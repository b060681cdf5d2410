package distill

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"homeagent/agent/pattern"
)

// word is one word of an English clause; low is its lower case, comma whether a
// comma stood behind it.
type word struct {
	text, low string
	comma     bool
}

// enLong are the long forms of what is drawn together.
var enLong = strings.NewReplacer(
	"I'm", "I am", "i'm", "I am", "I've", "I have", "i've", "I have", "I'll", "I will", "i'll", "I will", "I'd", "I would",
	"We're", "We are", "we're", "we are", "We've", "We have", "we've", "we have", "We'll", "We will", "we'll", "we will", "we'd", "we would",
	"You're", "You are", "you're", "you are", "you've", "you have", "You've", "You have",
	"can't", "can not", "won't", "will not", "don't", "do not", "doesn't", "does not", "didn't", "did not",
	"isn't", "is not", "aren't", "are not", "wasn't", "was not", "weren't", "were not", "haven't", "have not", "hasn't", "has not",
	"cannot", "can not", "gonna", "going to", "wanna", "want to", "favourite", "favorite", "There's", "There is", "there's", "there is",
	"name's", "name is", "It's", "It is", "it's", "it is", "She's", "She is", "he's", "he is", "He's", "He is", "she's", "she is",
)

// enLead is what stands before a sentence and says nothing.
var enLead = pattern.New(`(?i)^(?:(?:oh|wow|hey|hi|hello|yeah|yep|yes|no|nope|well|so|and|but|also|actually|btw|by the way|guess what|fyi|ok|okay|thanks|thank you|anyway|plus|lol|haha|sure|right|oh no|oh yeah|good news|for sure|of course|then|now|in fact|to be honest|honestly|hm+|um+|you know|speaking of which|just so you know|so you know|just a heads up|heads up|for your information|besides|sadly|luckily|fortunately|unfortunately|glad to hear(?: it| that)?)\b[ ,:!]*)+`)

// english finds the facts of an English sentence.
func (v voice) english(text string, asked bool) []Fact {
	if enAsks.MatchString(text) || enUnsure.MatchString(text) {
		return nil
	}
	text = enLong.Replace(text)
	if facts := v.callMe(text); facts != nil {
		return facts
	}
	text = strings.TrimSpace(enLead.ReplaceAllString(text, ""))
	// "Hey Mel, …": who is called by name is no part of what is said.
	if name, rest, ok := strings.Cut(text, ","); ok && !strings.Contains(name, " ") && capital(name) && !enNobody[strings.ToLower(name)] {
		text = strings.TrimSpace(rest)
	}
	if text == "" || enTells.MatchString(text) && !asked {
		return nil
	}
	if facts := v.enNumbers(text); len(facts) > 0 {
		return facts
	}
	g := enGrammar{voice: v}
	var facts []Fact
	for _, part := range enDash.Split(text, -1) {
		for _, c := range enClauses(part) {
			facts = append(facts, g.clause(c)...)
		}
	}
	return facts
}

// enDash is a dash between two parts of a sentence.
var enDash = pattern.New(`\s+[-–—]+(?:\s+|$)`)

var enCallMe = pattern.New(`^(?i:(?:please |just |you can |everyone )?calls? me) ([A-Z][a-z]+)$`)

// callMe is "call me Sam".
func (v voice) callMe(text string) []Fact {
	m := enCallMe.FindStringSubmatch(strings.TrimRight(text, " ."))
	if m == nil || !v.speaks() || enNobody[strings.ToLower(m[1])] {
		return nil
	}
	return []Fact{fact(v.first(), "name is", m[1], "person", "person")}
}

// enSplit are the joints at which a sentence is cut into clauses.
var enSplit = pattern.New(`(?i)(?:\s*[,:(){}–—]+\s*|\s+-+\s+|\s+)(?:(and then|and|but|so that|so|because|cuz|although|though|since|then|plus|or)\s+)?((?:i|we|my|our|he|she|they|it|you|there|that|this|these|those)\b|[A-Z][a-z]+ (?:is|was|has|likes|loves|works|lives)\b)`)

// enBound begin a clause that hangs on another and is not read.
var enBound = pattern.New(`(?i)\s*,?\s+(?:when|while|where|which|who|whom|that|until|till|before|after|as|than|even though|how|why|what)\s+(?:i|we|my|our|he|she|they|it|you|the|is|are|was|were|has|have|had|got|makes?|made|can|helps?|helped|really|will)\b.*$`)

// enClauses cuts a sentence into clauses.
func enClauses(text string) []string {
	var out []string
	for text != "" {
		cut := -1
		next := len(text)
		for _, at := range enSplit.FindAllStringSubmatchIndex(text, -1) {
			joint := strings.TrimSpace(text[at[0]:at[4]])
			if at[0] == 0 || joint == "" {
				continue // "the book that I read", "for my son" go on
			}
			cut, next = at[0], at[4]
			break
		}
		clause := text
		if cut >= 0 {
			clause = text[:cut]
		}
		if clause = strings.Trim(clause, " ,:-–—()"); clause != "" {
			out = append(out, clause)
		}
		text = text[next:]
	}
	return out
}

// enGrammar reads the clauses of one sentence in order.
type enGrammar struct {
	voice
	subject *enSubject // of the clause before
	lead    string     // a date that stood alone before
}

// enSubject is who or what a clause is about.
type enSubject struct {
	name   string
	kind   string // type of entity
	self   bool   // the speaker
	thing  bool   // no person, so that it can lie somewhere
	role   string // "mom" where it was "my mom"
	after  string // "name" where it was "Anna's name" or "my dog's name"
	owner  string
	proper bool
	facts  []Fact
}

// clause finds the facts of one clause.
func (g *enGrammar) clause(text string) []Fact {
	text = enBound.ReplaceAllString(text, "")
	ws := enWords(text)
	for len(ws) > 0 && (ws[0].low == "and" || ws[0].low == "then" || ws[0].low == "so" || ws[0].low == "but") {
		ws = ws[1:]
	}
	if len(ws) == 0 || len(ws) > 40 {
		return nil
	}
	if d := enWhen(joined(ws), g.event.Time, past); d.found && strings.Trim(d.text, " ,") == "" {
		g.lead = joined(ws) + " "
		return nil
	}
	lead := g.lead
	g.lead = ""
	ws = g.leadingDate(ws, &lead)
	s, rest := g.findSubject(ws)
	if s == nil {
		// "… and bought milk" goes on with the subject before.
		if g.subject == nil || len(ws) == 0 || !pastVerb(ws[0].low) {
			g.subject = nil
			return nil
		}
		s, rest = g.subject, ws
	}
	g.subject = s
	facts := s.facts
	s.facts = nil
	for rest != nil {
		var one []word
		one, rest = coordinated(rest)
		facts = append(facts, g.predicate(s, one, lead)...)
	}
	return facts
}

// leadingDate moves a date at the beginning to lead: "last week I went …".
func (g *enGrammar) leadingDate(ws []word, lead *string) []word {
	for n := 1; n <= 5 && n < len(ws); n++ {
		if ws[n].low != "i" && ws[n].low != "we" && ws[n].low != "my" && ws[n].low != "our" {
			continue
		}
		if d := enWhen(joined(ws[:n]), g.event.Time, past); d.found && strings.TrimSpace(d.text) == "" {
			*lead = joined(ws[:n]) + " "
			return ws[n:]
		}
		break
	}
	return ws
}

// coordinated cuts "went to X, saw Y and bought Z" behind the first part; rest
// is nil where there is no other.
func coordinated(ws []word) (first, rest []word) {
	for i := 1; i+1 < len(ws); i++ {
		next := i + 1
		switch {
		case ws[i].low == "and" && i > 1:
			next += len(ws[next:]) - len(skipAdverbs(ws[next:]))
		case ws[i].comma:
		default:
			continue
		}
		if next < len(ws) && (pastVerb(ws[next].low) || enThird(ws[next].low)) {
			if ws[i].comma {
				i++
			}
			return ws[:i], ws[next:]
		}
	}
	return ws, nil
}

// enThird tells whether a word is a verb of the third person.
func enThird(low string) bool {
	return strings.HasSuffix(low, "s") && (enHabit[low] != "" || enAttitude[low] != "" || enDwell[low] != "")
}

// findSubject reads the subject; nil where there is none that facts are kept of.
func (g *enGrammar) findSubject(ws []word) (*enSubject, []word) {
	if len(ws) < 2 {
		return nil, nil
	}
	switch first := ws[0]; {
	case first.low == "i" || first.low == "we":
		if !g.speaks() {
			return nil, nil
		}
		return &enSubject{name: g.first(), kind: "person", self: true}, ws[1:]
	case first.low == "you":
		if name := g.second(); name != "" {
			return &enSubject{name: name, kind: "person", self: true}, ws[1:]
		}
		return nil, nil
	case first.low == "my" || first.low == "our":
		if !g.speaks() {
			return nil, nil
		}
		return g.owned(g.first(), ws[1:])
	case first.low == "your":
		if name := g.second(); name != "" {
			return g.owned(name, ws[1:])
		}
		return nil, nil
	case first.low == "the":
		return g.theThing(ws[1:])
	case strings.HasSuffix(first.low, "'s") && capital(first.text):
		if name := first.text[:len(first.text)-2]; !enNobody[strings.ToLower(name)] {
			if s, rest := g.owned(name, ws[1:]); s != nil && enKnownVerb(rest) {
				return s, rest
			}
			if len(ws) > 2 && (ws[1].low == "a" || ws[1].low == "an" || ws[1].low == "my") { // "Anna's my sister"
				return &enSubject{name: name, kind: "person", proper: true}, append([]word{{text: "is", low: "is"}}, ws[1:]...)
			}
		}
		return nil, nil
	case capital(first.text) && !enNobody[first.low]:
		n := 1
		for n < 3 && n < len(ws) && capital(ws[n].text) && !enNobody[ws[n].low] {
			n++
		}
		if strings.TrimSuffix(first.low, ".") == "dr" && n == 1 || n >= len(ws) || !enKnownVerb(ws[n:]) || enPlural(ws[n:]) {
			return nil, nil
		}
		return &enSubject{name: joined(ws[:n]), kind: "person", proper: true}, ws[n:]
	}
	return nil, nil
}

// owned reads what belongs to somebody: "mom", "sister Anna", "car keys",
// "dog's name".
func (g *enGrammar) owned(owner string, ws []word) (*enSubject, []word) {
	n := 0
	for n < len(ws) && n < 5 && !enBe[ws[n].low] && !enVerbAfterOwned(ws, n) {
		n++
	}
	if n == 0 || n >= len(ws) || n == 5 {
		return nil, nil
	}
	noun := ws[:n]
	last := noun[n-1].low
	rest := ws[n:]
	s := &enSubject{owner: owner}
	// "my sister Anna", "my best friend Tom"
	for i := 1; i < n; i++ {
		role := joined(noun[:i])
		if capital(noun[i].text) && (enKin[noun[i-1].low] || enRoles[noun[i-1].low] || enPets[noun[i-1].low]) {
			s.name, s.proper, s.kind = joined(noun[i:]), true, personOrAnimal(noun[i-1].low)
			s.facts = []Fact{fact(owner, isRole(role, s.kind), s.name, "person", s.kind)}
			return s, rest
		}
	}
	if n >= 2 && strings.HasSuffix(noun[n-2].low, "'s") { // "my dog's name", "my mom's birthday"
		inner := append(append([]word{}, noun[:n-2]...), trimPossessive(noun[n-2]))
		s.name = g.own(owner, joined(inner))
		s.role, s.after, s.kind = joined(inner), last, personOrAnimal(inner[len(inner)-1].low)
		return s, rest
	}
	if last == "name" || last == "birthday" || last == "anniversary" || last == "address" || last == "age" || strings.HasSuffix(last, "number") || noun[0].low == "favorite" || enTraits[last] {
		s.name, s.after, s.kind, s.self = owner, joined(noun), "person", true
		return s, rest
	}
	role := strings.ToLower(joined(noun))
	s.role = role
	switch {
	case enKin[last] || enRoles[last] || enPets[last]:
		s.name, s.kind = g.own(owner, role), personOrAnimal(last)
	case owner == "user" || owner == "用户":
		s.name, s.kind, s.thing = joined(noun), "thing", true
	default:
		s.name, s.kind, s.thing = g.own(owner, joined(noun)), "thing", true
	}
	return s, rest
}

// enVerbAfterOwned tells whether the word at n is the verb behind a noun: past
// tenses need a noun before them that is no plain adjective's place.
func enVerbAfterOwned(ws []word, n int) bool {
	if n == 0 {
		return false
	}
	low := ws[n].low
	return enKnownVerb(ws[n:]) && !(low == "left" || low == "used")
}

// theThing reads "the spare key" before "is in the drawer".
func (g *enGrammar) theThing(ws []word) (*enSubject, []word) {
	for n := 1; n < len(ws) && n <= 5; n++ {
		if enBe[ws[n].low] {
			return &enSubject{name: joined(ws[:n]), kind: "thing", thing: true}, ws[n:]
		}
	}
	return nil, nil
}

// enKnownVerb tells whether words begin with a verb this grammar knows.
func enKnownVerb(ws []word) bool {
	i := 0
	for i < len(ws) && enAdverbs[ws[i].low] {
		i++
	}
	if i >= len(ws) {
		return false
	}
	low := ws[i].low
	_, dwell := enDwell[low]
	_, habit := enHabit[low]
	_, att := enAttitude[low]
	return low == "is" || low == "are" || low == "was" || low == "were" || low == "has" || low == "have" || low == "had" || low == "will" ||
		low == "does" || low == "do" || low == "can" || low == "did" || low == "no" && i+1 < len(ws) && ws[i+1].low == "longer" ||
		dwell || habit || att || low == "used" || low == "stopped" || pastVerb(low)
}

// enPlural tells whether a verb is none of one person: "events like these".
func enPlural(ws []word) bool {
	ws = skipAdverbs(ws)
	if len(ws) == 0 {
		return true
	}
	low := ws[0].low
	return (enAttitude[low] != "" || enHabit[low] != "" || enDwell[low] != "") && !strings.HasSuffix(low, "s") && !strings.HasSuffix(low, "ed")
}

func personOrAnimal(noun string) string {
	if enPets[noun] {
		return "animal"
	}
	return "person"
}

// pastVerb tells whether a word is the past tense of something done.
func pastVerb(low string) bool {
	if enPast[low] {
		return true
	}
	return len(low) >= 5 && strings.HasSuffix(low, "ed") && !enFelt[low]
}

// participle is pastVerb or the like behind "have".
func participle(low string) bool { return pastVerb(low) || enDone[low] }

// enWords cuts a clause into words, without the signs around them.
func enWords(text string) []word {
	var ws []word
	for f := range strings.FieldsSeq(text) {
		comma := strings.HasSuffix(f, ",")
		f = strings.Trim(f, `,;:!?()"“”…*~`)
		if !strings.HasSuffix(f, "r.") && !strings.HasSuffix(f, "rs.") {
			f = strings.TrimRight(f, ".")
		}
		if f != "" {
			ws = append(ws, word{f, strings.ToLower(f), comma})
		}
	}
	return ws
}

func trimPossessive(w word) word { return word{w.text[:len(w.text)-2], w.low[:len(w.low)-2], w.comma} }

func joined(ws []word) string {
	parts := make([]string, len(ws))
	for i, w := range ws {
		parts[i] = w.text
		if w.comma && i+1 < len(ws) {
			parts[i] += ","
		}
	}
	return strings.Join(parts, " ")
}

// capital tells whether a word begins with a capital and goes on in small letters.
func capital(s string) bool {
	r, n := utf8.DecodeRuneInString(s)
	if !unicode.IsUpper(r) || n == len(s) {
		return false
	}
	next, _ := utf8.DecodeRuneInString(s[n:])
	return unicode.IsLower(next)
}
