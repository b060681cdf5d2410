package token

import (
	"strings"

	"github.com/kljensen/snowball/english"
)

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

// stem takes the endings off an English word, so that "keys" finds "key" and
// "parked" finds "parking": Porter's second algorithm
// (https://snowballstem.org/algorithms/english/stemmer.html) behind a short list
// of forms that no ending shows. It need not give a real word, only the same
// one. Words with a digit, or short, stay as they are.
func stem(w string) string {
	if len(w) < 3 || !letters(w) {
		return w
	}
	if base, ok := irregular[w]; ok {
		w = base
	}
	return english.Stem(w, false)
}

// irregular leads the forms of common words to their base.
var irregular = pairs(`ate eat, eaten eat, became become, began begin, begun begin, bit bite, bitten bite, blew blow, blown blow, bought buy,
broke break, broken break, brought bring, built build, burnt burn, buses bus, came come, caught catch, children child, chose choose, chosen choose,
dealt deal, drank drink, drawn draw, drew draw, driven drive, drove drive, fallen fall, feet foot, fell fall, felt feel,
found find, flew fly, flown fly, forgot forget, forgotten forget, fought fight, froze freeze, frozen freeze, gases gas, gave give, given give, geese goose,
gone go, went go, grew grow, grown grow, heard hear, held hold, hidden hide, hid hide, kept keep, knew know, known know, knives knife, laid lay,
led lead, lent lend, lost lose, made make, meant mean, men man, met meet, mice mouse, paid pay, ran run, rang ring, rode ride, ridden ride,
risen rise, said say, sang sing, sung sing, sat sit, saw see, seen see, sent send, shelves shelf, shook shake, shaken shake, shot shoot,
shown show, slept sleep, sold sell, spent spend, spoke speak, spoken speak, stole steal, stolen steal, stood stand, swam swim, swum swim,
taken take, took take, taught teach, teeth tooth, thought think, threw throw, thrown throw, told tell, tore tear, torn tear,
understood understand, wives wife, woke wake, woken wake, women woman, won win, wore wear, worn wear, written write, wrote write`)

func pairs(s string) map[string]string {
	m := map[string]string{}
	for p := range strings.SplitSeq(s, ",") {
		if form, base, ok := strings.Cut(strings.TrimSpace(p), " "); ok {
			m[form] = base
		}
	}
	return m
}

func letters(w string) bool {
	for i := range len(w) {
		if w[i] < 'a' || w[i] > 'z' {
			return false
		}
	}
	return true
}
