package token

import "strings"

// stopWords carry grammar and no content. Negations and place words that
// change the meaning of a household fact ("under", "off") stay.
var stopWords = set(`a an and are as at be been being but by can could did do does doing for from
had has have he her hers him his how i if in into is it its just like may me might mine must my
of on or our ours please shall she should so some than that the their them then there these they this those
to too up us very was we were what when where which who whom whose why will with would you your yours
am about tell know remember forget s re ll ve m d`)

// stopSigns are Han signs that mostly carry grammar. A pair of two of them
// ("在哪", "是不") is dropped, a pair with one of them is kept.
var stopSigns = signs(`的了吗呢吧啊呀哦嘛是在有我你您他她它们这那哪什么怎谁和与及就都也很请把被给让从到对又还要会能可以着过个`)

func set(s string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(s) {
		m[w] = true
	}
	return m
}

func signs(s string) map[rune]bool {
	m := map[rune]bool{}
	for _, r := range s {
		m[r] = true
	}
	return m
}

// stem takes the commonest endings off an English word: enough that "keys"
// finds "key" and "parked" finds "parking". It need not give a real word, only
// the same one. Words with a digit, or short, stay as they are.
func stem(w string) string {
	if len(w) < 4 || !letters(w) {
		return w
	}
	switch {
	case strings.HasSuffix(w, "ies") && len(w) > 4:
		w = w[:len(w)-3] + "y"
	case hasAny(w, "sses", "shes", "ches", "xes", "zes"):
		w = w[:len(w)-2]
	case strings.HasSuffix(w, "s") && !hasAny(w, "ss", "us", "is"):
		w = w[:len(w)-1]
	}
	switch {
	case strings.HasSuffix(w, "ing") && vowel(w[:len(w)-3]):
		w = short(w[:len(w)-3])
	case strings.HasSuffix(w, "ed") && !strings.HasSuffix(w, "eed") && vowel(w[:len(w)-2]):
		w = short(w[:len(w)-2])
	case strings.HasSuffix(w, "ly") && len(w) > 5:
		w = w[:len(w)-2]
	}
	// "live", "living" and "lives" meet at "liv"; "like" and "liked" at "lik".
	if len(w) > 3 && strings.HasSuffix(w, "e") && !strings.HasSuffix(w, "ee") {
		w = w[:len(w)-1]
	}
	return w
}

// short undoes the doubling before an ending: "running" is "run".
func short(w string) string {
	n := len(w)
	if n > 3 && w[n-1] == w[n-2] && !strings.ContainsRune("lsz", rune(w[n-1])) {
		return w[:n-1]
	}
	return w
}

// vowel tells whether a stem is long enough to be a word: "sing" and "red"
// are not "s" and "r" with an ending.
func vowel(stem string) bool { return len(stem) > 2 && strings.ContainsAny(stem, "aeiouy") }

func letters(w string) bool {
	for i := range len(w) {
		if w[i] < 'a' || w[i] > 'z' {
			return false
		}
	}
	return true
}

func hasAny(w string, suffixes ...string) bool {
	for _, s := range suffixes {
		if strings.HasSuffix(w, s) {
			return true
		}
	}
	return false
}
