package intent

import (
	"math"
	"strconv"
	"strings"
)

// reading is one way to read a quantity: its value and the token after it.
type reading struct {
	end   int
	value float64
}

var enUnits = ordinalsOf("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen")

var enTens = map[string]int{
	"twenty": 20, "thirty": 30, "forty": 40, "fourty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90,
}

var zhDigits = map[string]int{
	"零": 0, "〇": 0, "一": 1, "幺": 1, "二": 2, "两": 2, "俩": 2, "仨": 3, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9,
}

var zhTens = map[string]int{"十": 10, "百": 100, "千": 1000}

func ordinalsOf(words string) map[string]int {
	m := map[string]int{}
	for i, w := range strings.Fields(words) {
		m[w] = i
	}
	return m
}

// readNumber lists every number that begins at pos, the longest first: "twenty
// five" is 25 and 20. Numbers are digits, English words or Chinese numerals.
func readNumber(toks []token, pos int) []reading {
	if pos >= len(toks) {
		return nil
	}
	t := toks[pos].text
	switch {
	case t[0] >= '0' && t[0] <= '9':
		v, err := strconv.ParseFloat(t, 64)
		if err != nil || v > 1e6 {
			return nil
		}
		if pos+1 < len(toks) && toks[pos+1].text == "百" { // no household says 3百
			return nil
		}
		return []reading{{pos + 1, v}}
	case isHanText(t):
		return readChinese(toks, pos)
	}
	return readEnglish(toks, pos)
}

// readEnglish reads up to 999.
func readEnglish(toks []token, pos int) []reading {
	word := func(i int) string {
		if i < len(toks) {
			return toks[i].text
		}
		return ""
	}
	below100 := func(i int) (out []reading) {
		if v, ok := enTens[word(i)]; ok {
			if u, ok := enUnits[word(i+1)]; ok && u > 0 && u < 10 {
				out = append(out, reading{i + 2, float64(v + u)})
			}
			return append(out, reading{i + 1, float64(v)})
		}
		if v, ok := enUnits[word(i)]; ok {
			return []reading{{i + 1, float64(v)}}
		}
		return nil
	}
	var out []reading
	hundreds := 0
	if v, ok := enUnits[word(pos)]; ok && v > 0 && v < 10 {
		hundreds = v
	} else if word(pos) == "a" {
		hundreds = 1
	}
	if hundreds > 0 && word(pos+1) == "hundred" {
		rest := pos + 2
		if word(rest) == "and" {
			rest++
		}
		for _, r := range below100(rest) {
			if r.value > 0 {
				out = append(out, reading{r.end, r.value + float64(100*hundreds)})
			}
		}
		return append(out, reading{pos + 2, float64(100 * hundreds)})
	}
	return below100(pos)
}

// readChinese reads numerals below ten thousand, as 一百二十, 十五, 两百零五.
func readChinese(toks []token, pos int) []reading {
	var out []reading
	total, digit, lastUnit := 0, -1, 10000
	zero := false
	for i := pos; i < len(toks); i++ {
		t := toks[i].text
		if d, ok := zhDigits[t]; ok {
			if digit >= 0 || d == 0 && (zero || lastUnit == 10) {
				break // two digits in a row are no number of this kind
			}
			if d == 0 {
				if i > pos {
					zero = true
					continue // the 零 inside 一百零五; it does not end a number
				}
				return []reading{{i + 1, 0}}
			}
			digit = d
			out = append(out, reading{i + 1, float64(total + digit)})
			continue
		}
		unit, ok := zhTens[t]
		if !ok || unit >= lastUnit || digit < 0 && (unit != 10 || total > 0) {
			break
		}
		if digit < 0 {
			digit = 1 // 十五
		}
		total += digit * unit
		digit, lastUnit, zero = -1, unit, false
		out = append(out, reading{i + 1, float64(total)})
	}
	for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
		out[i], out[j] = out[j], out[i]
	}
	return out
}

// fixedLevels are words that are a share by themselves.
var fixedLevels = map[string]int{
	"max": 100, "maximum": 100, "full": 100, "half": 50, "min": 0, "minimum": 0,
	"最大": 100, "最高": 100, "最响": 100, "一半": 50, "最小": 0, "最低": 0, "中等": 50,
}

// readPercent is the slot kind number: 0 to 100, with or without a sign of per cent.
func readPercent(toks []token, pos int) []candidate {
	var out []candidate
	add := func(end int, v float64) {
		if v < 0 || v > 100 || v != math.Trunc(v) {
			return
		}
		out = append(out, candidate{end: end, text: strconv.Itoa(int(v)), value: int(v)})
	}
	at := func(i int, words ...string) bool {
		for k, w := range words {
			if i+k >= len(toks) || toks[i+k].text != w {
				return false
			}
		}
		return true
	}
	if at(pos, "百", "分", "之") {
		if at(pos+3, "百") {
			add(pos+4, 100)
		}
		for _, r := range readNumber(toks, pos+3) {
			add(r.end, r.value)
		}
		return out
	}
	for _, r := range readNumber(toks, pos) {
		switch {
		case at(r.end, "%"), at(r.end, "percent"):
			add(r.end+1, r.value)
		case at(r.end, "per", "cent"):
			add(r.end+2, r.value)
		case at(r.end, "成"): // tenths
			add(r.end+1, r.value*10)
		}
		add(r.end, r.value)
	}
	for n := 2; n >= 1; n-- {
		if pos+n <= len(toks) {
			if v, ok := fixedLevels[joined(toks[pos:pos+n])]; ok {
				add(pos+n, float64(v))
			}
		}
	}
	return out
}

// joined is the text of tokens without spaces.
func joined(toks []token) string {
	var b strings.Builder
	for _, t := range toks {
		b.WriteString(t.text)
	}
	return b.String()
}
