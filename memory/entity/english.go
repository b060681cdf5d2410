package entity

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// englishOwners are pronouns before what is owned, by the owner of the
// Chinese ones.
var englishOwners = map[string]string{"my": "我", "our": "我", "her": "她", "his": "他", "your": "你", "their": "他们", "its": "它"}

// nicknames lists given names: sex, the name, what those who bear it are called.
// A short form may belong to several names.
var nicknames = `
m robert: bob bobby rob robbie bert
m william: bill billy will willy liam
m richard: dick rick ricky rich richie
m james: jim jimmy jamie
m john: jack johnny
m jonathan: jon jonny
m joseph: joe joey
m michael: mike mikey mick micky
m thomas: tom tommy
m edward: ed eddie ted teddy ned
m theodore: ted teddy theo
m charles: charlie chuck
m david: dave davy
m daniel: dan danny
m samuel: sam sammy
m benjamin: ben benny
m matthew: matt
m anthony: tony
m andrew: andy drew
m alexander: alex al sandy xander
m christopher: chris kit
m nicholas: nick nicky
m peter: pete
m steven: steve stephen
m gregory: greg
m kenneth: ken kenny
m lawrence: larry laurie
m henry: harry hank
m frederick: fred freddie
m francis: frank frankie
m george: georgie
m patrick: pat paddy
m timothy: tim timmy
m raymond: ray
m ronald: ron ronnie
m donald: don donnie
m leonard: leo len lenny
m joshua: josh
m jacob: jake
m zachary: zach zack
m nathaniel: nate nat
m philip: phil
m vincent: vince vinny
m jeffrey: jeff
m gerald: gerry jerry
m walter: walt wally
m mark: 
m paul: 
m kevin: kev
m brian: 
m eric: 
m adam: 
f elizabeth: liz lizzie beth betty eliza lisa betsy
f margaret: maggie meg peggy margie greta
f katherine: kate katie kathy kitty catherine kathryn cathy
f mary: molly polly mae
f patricia: pat patty tricia
f jennifer: jen jenny
f susan: sue susie
f barbara: barb babs
f rebecca: becky becca
f deborah: deb debbie
f dorothy: dot dottie dolly
f victoria: vicky tori
f alexandra: alex sandra sandy lexi
f christine: chris chrissy tina
f samantha: sam sammy
f jessica: jess jessie
f abigail: abby gail
f pamela: pam
f cynthia: cindy
f theresa: terry tess tessa
f amanda: mandy
f stephanie: steph
f eleanor: ellie nell nora
f josephine: jo josie
f caroline: carrie
f charlotte: lottie charlie
f isabella: bella izzy isabel
f nancy: nan
f sarah: sally sadie sara
f anne: annie
f anna: 
f alice: 
f emma: 
f emily: em
f laura: 
f linda: 
f karen: 
f helen: 
f julia: julie
f grace: gracie
f mary-ann: 
f jane: janie
f lucy: 
f sophia: sophie
`

// givenNames maps a given name or nickname to the names it may stand for, and
// those to their sex.
var givenNames, givenSex = readNicknames()

func readNicknames() (map[string][]string, map[string]string) {
	names, sex := map[string][]string{}, map[string]string{}
	for line := range strings.Lines(strings.TrimSpace(nicknames)) {
		head, words, _ := strings.Cut(line, ":")
		s, name, _ := strings.Cut(head, " ")
		sex[name] = s
		for w := range strings.FieldsSeq(name + " " + words) {
			names[w] = append(names[w], name)
		}
	}
	return names, sex
}

// sexOfGiven is the sex that a whole given name tells, "" where it tells none.
// Short forms tell none: a Kit may be Christopher or Katherine.
func sexOfGiven(given string) string {
	if len(givenNames[given]) != 1 {
		return ""
	}
	return givenSex[given]
}

// sameGiven reports whether two given names may be one name: the same, one the
// nickname of the other, or both nicknames of one.
func sameGiven(a, b string) bool {
	if a == b {
		return true
	}
	for _, x := range givenNames[a] {
		for _, y := range givenNames[b] {
			if x == y {
				return true
			}
		}
	}
	return false
}

// parseLatin reads a name in letters.
func parseLatin(n *Name, s string) {
	for _, article := range []string{"the ", "The "} {
		s = strings.TrimPrefix(s, article)
	}
	s = strings.TrimSpace(strings.ReplaceAll(s, ".", " "))
	s = strings.Join(strings.Fields(s), " ")
	low := lower(s) // of the same length, so that places in one are places in the other
	if low == "" {
		return
	}
	n.Key = low
	if latinOwner(n, s, low) {
		return
	}
	if t, ok := latinKin(low); ok && !generic[t.canon] {
		n.Form, n.Owner, n.Kin, n.Sex = Kinship, "我", t.canon, t.sex
		n.Key = "我的" + t.canon
		return
	}
	if last, first, ok := strings.Cut(s, ","); ok && !strings.Contains(first, ",") {
		s = strings.TrimSpace(first) + " " + strings.TrimSpace(last) // Smith, John
	}
	words := strings.Fields(s)
	if len(words) == 0 { // nothing but a comma
		return
	}
	if last := strings.ToLower(words[len(words)-1]); len(words) > 2 && generations[last] {
		n.Bracket, words = last, words[:len(words)-1]
	}
	latinPerson(n, words)
}

var generations = set("jr sr ii iii iv junior senior")

// latinOwner reads Tom's mother, her mom, the mother of Tom.
func latinOwner(n *Name, s, low string) bool {
	owner, thing := "", ""
	if i := strings.LastIndex(low, "'s "); i > 0 {
		owner, thing = Key(s[:i]), low[i+3:]
	} else if i := strings.LastIndex(low, "s' "); i > 0 {
		owner, thing = Key(s[:i+1]), low[i+3:]
	} else if first, rest, ok := strings.Cut(low, " "); ok && englishOwners[first] != "" {
		owner, thing = englishOwners[first], rest
	} else if kin, of, ok := strings.Cut(low, " of "); ok {
		if _, known := latinKin(kin); known {
			owner, thing = Key(s[len(s)-len(of):]), kin
			if pronoun := englishOwners[strings.TrimSuffix(of, "s")]; of == "mine" || pronoun != "" {
				owner = "我"
			}
		}
	}
	thing = strings.TrimSpace(thing)
	if owner == "" || thing == "" {
		return false
	}
	n.Owner, n.Kin, n.Form = owner, thing, Owned
	if t, ok := latinKin(thing); ok {
		n.Kin, n.Sex = t.canon, t.sex
		if owner == "我" {
			n.Form = Kinship
		}
	}
	n.Key = n.Owner + "的" + n.Kin
	return true
}

// latinKin reads an English kin term, "older sister" included.
func latinKin(s string) (kinTerm, bool) {
	adj := ""
	switch first, rest, ok := strings.Cut(s, " "); {
	case !ok:
	case first == "older" || first == "elder" || first == "big":
		adj, s = "elder ", rest
	case first == "younger" || first == "little" || first == "small" || first == "baby":
		adj, s = "younger ", rest
	}
	t, ok := kinTerms[s]
	if !ok || hasHan(s) {
		return kinTerm{}, false
	}
	t.canon = adj + t.canon
	return t, true
}

// latinPerson reads given name, middle names and surname, with or without title.
func latinPerson(n *Name, words []string) {
	proper := true
	for i, w := range words {
		r, _ := utf8.DecodeRuneInString(w)
		if !unicode.IsUpper(r) && givenNames[strings.ToLower(w)] == nil {
			proper = false
		}
		if i > 0 || len(words) == 1 {
			proper = proper && classOf(strings.ToLower(w)) == ""
		}
	}
	low := strings.Fields(strings.ToLower(strings.Join(words, " ")))
	for i := range low {
		low[i] = strings.Trim(low[i], ",")
	}
	if len(low) == 0 {
		return
	}
	if t, ok := englishTitles[low[0]]; ok && len(low) > 1 {
		n.Form, n.Title, n.Sex = Titled, t.canon, t.sex
		rest := low[1:]
		switch {
		case len(rest) > 1:
			n.Given, n.Surname = rest[0], rest[len(rest)-1]
		case t.group == familiar:
			n.Given = rest[0]
		default:
			n.Surname = rest[0]
		}
		if n.Sex == "" {
			n.Sex = sexOfGiven(n.Given)
		}
		n.Key = t.canon + "/" + strings.Join(rest, " ")
		return
	}
	if !proper || len(low) > 4 || !letters(low) {
		return
	}
	n.Key = strings.Join(low, " ")
	n.Given = low[0]
	n.Sex = sexOfGiven(n.Given)
	if len(low) == 1 {
		n.Form = First
		return
	}
	n.Form, n.Surname, n.Middle = Full, low[len(low)-1], strings.Join(low[1:len(low)-1], " ")
}

// letters reports whether words are made of letters, hyphens and apostrophes.
func letters(words []string) bool {
	for _, w := range words {
		for _, r := range w {
			if !unicode.IsLetter(r) && r != '-' && r != '\'' {
				return false
			}
		}
	}
	return true
}
