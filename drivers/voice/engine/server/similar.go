package server

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// agree is the similarity from which a free text confirms a sentence of the
// grammar. Of 25 recorded commands the least alike had 0.62, of 170 pieces of
// other speech against a household grammar the most alike 0.45.
const agree = 0.5

// Similarity compares two English texts by what was said: 1 is equal, 0 has
// nothing in common. Two thirds are 1 - d/n, d the Levenshtein distance in
// letters and n the longer text's length; one third is Dice's coefficient of
// the words, since short sentences come close in letters by chance ("turn off
// plug", "ten of clubs"). Case, punctuation and the way numbers are written do
// not count. An empty text is like no other.
func Similarity(a, b string) float64 {
	a, b = plain(a), plain(b)
	if a == "" || b == "" {
		return 0
	}
	x, y := []rune(a), []rune(b)
	letters := 1 - float64(distance(x, y))/float64(max(len(x), len(y)))
	return (2*letters + dice(strings.Fields(a), strings.Fields(b))) / 3
}

// opposites are words of commands that turn the meaning round. Two texts can be
// alike in every letter but these.
var opposites = [][2]string{{"on", "off"}, {"up", "down"}, {"open", "close"}, {"louder", "softer"}, {"louder", "quieter"},
	{"lock", "unlock"}, {"start", "stop"}, {"mute", "unmute"}, {"remember", "forget"}, {"increase", "decrease"}, {"raise", "lower"}}

// contradict reports whether one text says a word whose opposite the other
// says instead. It is for two accounts of the same sound: then one of them has
// misheard, and to act would be to guess.
func contradict(a, b string) bool {
	has := func(words []string, w string) bool { return slices.Contains(words, w) }
	x, y := strings.Fields(plain(a)), strings.Fields(plain(b))
	for _, o := range opposites {
		for _, p := range [][2]string{o, {o[1], o[0]}} {
			if has(x, p[0]) && !has(x, p[1]) && has(y, p[1]) && !has(y, p[0]) {
				return true
			}
		}
	}
	return false
}

// dice is twice the number of words that both have over the number of all.
func dice(a, b []string) float64 {
	left := make(map[string]int, len(a))
	for _, w := range a {
		left[w]++
	}
	both := 0
	for _, w := range b {
		if left[w] > 0 {
			left[w]--
			both++
		}
	}
	return 2 * float64(both) / float64(len(a)+len(b))
}

// distance is the Levenshtein distance with two rows.
func distance(a, b []rune) int {
	prev, cur := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i, x := range a {
		cur[0] = i + 1
		for j, y := range b {
			sub := prev[j]
			if x != y {
				sub++
			}
			cur[j+1] = min(sub, prev[j+1]+1, cur[j]+1)
		}
		prev, cur = cur, prev
	}
	return prev[len(b)]
}

// plain writes a text as it is spoken: lower case, words only, numbers as words.
func plain(s string) string {
	s = strings.NewReplacer("%", " percent ", "&", " and ", "’", "'", "°", " degrees ").Replace(strings.ToLower(s))
	words := strings.FieldsFunc(s, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\''
	})
	var out []string
	for _, w := range words {
		w = strings.Trim(w, "'")
		if n, err := strconv.Atoi(w); err == nil && n < 10000 {
			out = append(out, spoken(n)...)
		} else if w != "" {
			out = append(out, w)
		}
	}
	return strings.Join(out, " ")
}

// spoken gives 0 to 9999 as English words.
func spoken(n int) []string {
	ones := []string{"zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
		"eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"}
	tens := []string{"", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"}
	var out []string
	if n >= 1000 {
		out = append(out, ones[n/1000], "thousand")
		n %= 1000
		if n == 0 {
			return out
		}
	}
	if n >= 100 {
		out = append(out, ones[n/100], "hundred")
		n %= 100
		if n == 0 {
			return out
		}
	}
	if n >= 20 {
		out = append(out, tens[n/10])
		n %= 10
		if n == 0 {
			return out
		}
	}
	return append(out, ones[n])
}
