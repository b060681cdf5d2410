package intent

import (
	"math"
	"strconv"
)

// maxDuration bounds what counts as a length of time, in seconds: 366 days.
const maxDuration = 366 * 86400

// unit is a unit of time in seconds.
type unit struct {
	end     int
	seconds float64
}

var enTimeUnits = map[string]float64{
	"second": 1, "seconds": 1, "sec": 1, "secs": 1, "s": 1,
	"minute": 60, "minutes": 60, "min": 60, "mins": 60,
	"hour": 3600, "hours": 3600, "hr": 3600, "hrs": 3600, "h": 3600,
	"day": 86400, "days": 86400, "week": 604800, "weeks": 604800,
}

// zhTimeUnits lists the longest form first.
var zhTimeUnits = []struct {
	word    string
	seconds float64
}{
	{"秒钟", 1}, {"秒", 1}, {"分钟", 60}, {"分", 60}, {"刻钟", 900},
	{"小时", 3600}, {"钟头", 3600}, {"星期", 604800}, {"礼拜", 604800}, {"周", 604800}, {"天", 86400},
}

// reader steps through the tokens of one sentence.
type reader []token

func (r reader) is(pos int, words ...string) bool {
	for i, w := range words {
		if pos+i >= len(r) || r[pos+i].text != w {
			return false
		}
	}
	return true
}

// skip returns the position behind the words if they stand at pos.
func (r reader) skip(pos int, words ...string) int {
	if r.is(pos, words...) {
		return pos + len(words)
	}
	return pos
}

func (r reader) unitAt(pos int) (unit, bool) {
	if pos >= len(r) {
		return unit{}, false
	}
	if s, ok := enTimeUnits[r[pos].text]; ok {
		return unit{pos + 1, s}, true
	}
	if r[pos].text == "m" && pos > 0 && r[pos-1].end == r[pos].start { // 5m
		return unit{pos + 1, 60}, true
	}
	for _, u := range zhTimeUnits {
		n := len([]rune(u.word))
		if pos+n <= len(r) && joined(r[pos:pos+n]) == u.word {
			return unit{pos + n, u.seconds}, true
		}
	}
	return unit{}, false
}

// readDuration is the slot kind duration. Its value is in seconds, longest
// reading first: "an hour and a half", 一个半小时, 两分半, 1 hour 20 minutes.
func readDuration(toks []token, pos int) []candidate {
	r := reader(toks)
	for _, about := range [][]string{{"about"}, {"around"}, {"roughly"}, {"approximately"}, {"exactly"}, {"another"}, {"some"}, {"say"}, {"like"}, {"大", "概"}, {"大", "约"}, {"差", "不", "多"}, {"整", "整"}} {
		if next := r.skip(pos, about...); next > pos {
			pos = next
			break
		}
	}
	var out []candidate
	seen := map[int]bool{}
	var walk func(pos int, sum, last float64)
	add := func(end int, v float64) {
		if v = math.Round(v); v >= 1 && v <= maxDuration && !seen[end] {
			seen[end] = true
			text := strconv.FormatFloat(v, 'f', -1, 64)
			out = append(out, candidate{end: end, text: text, value: int(v)})
			for _, more := range [][]string{{"from", "now"}, {"'s", "time"}, {"time"}, {"or", "so"}, {"左", "右"}, {"上", "下"}, {"的", "样", "子"}} {
				if e := r.skip(end, more...); e > end && !seen[e] {
					seen[e] = true
					out = append(out, candidate{end: e, text: text, value: int(v)})
				}
			}
		}
	}
	walk = func(pos int, sum, last float64) {
		for _, it := range r.timeItems(pos) {
			if it.unit >= last {
				continue // units fall: minutes follow hours
			}
			next := r.skip(it.end, "and")
			next = r.skip(next, "零")
			next = r.skip(next, "又")
			walk(next, sum+it.seconds, it.unit)
			// "two minutes thirty", 一小时三十: the unit below goes without saying.
			if below := map[float64]float64{3600: 60, 60: 1}[it.unit]; below > 0 {
				for _, n := range readNumber(toks, it.end) {
					if _, named := r.unitAt(n.end); !named && n.value >= 10 && n.value < 60 && !r.is(n.end, "个") && !r.is(n.end, "点") {
						add(n.end, sum+it.seconds+n.value*below)
					}
				}
			}
			add(it.end, sum+it.seconds)
		}
	}
	walk(pos, 0, math.Inf(1))
	// The longest first; the walk finds deep readings before shallow ones, but
	// several numbers may begin at one place.
	for i := 1; i < len(out); i++ {
		for j := i; j > 0 && out[j].end > out[j-1].end; j-- {
			out[j], out[j-1] = out[j-1], out[j]
		}
	}
	return out
}

// timeItem is a quantity with its unit.
type timeItem struct {
	end           int
	seconds, unit float64
}

// timeItems lists the quantities of one unit that begin at pos.
func (r reader) timeItems(pos int) []timeItem {
	var out []timeItem
	add := func(qty float64, end int) {
		u, ok := r.unitAt(end)
		if !ok {
			return
		}
		end = u.end
		// A half behind the unit: "an hour and a half", 两分半, 三分钟半.
		switch {
		case r.is(end, "and", "a", "half"):
			out = append(out, timeItem{end + 3, (qty + .5) * u.seconds, u.seconds})
		case r.is(end, "and", "a", "quarter"):
			out = append(out, timeItem{end + 3, (qty + .25) * u.seconds, u.seconds})
		case r.is(end, "半", "钟"):
			out = append(out, timeItem{end + 2, (qty + .5) * u.seconds, u.seconds})
		case r.is(end, "半") && !r.is(end, "半", "小") && !r.is(end, "半", "个"):
			out = append(out, timeItem{end + 1, (qty + .5) * u.seconds, u.seconds})
		}
		out = append(out, timeItem{end, qty * u.seconds, u.seconds})
	}
	for _, n := range readNumber(r, pos) {
		end := r.skip(n.end, "个")
		switch {
		case r.is(end, "半"): // 一个半小时
			add(n.value+.5, end+1)
		case r.is(end, "and", "a", "half"):
			add(n.value+.5, end+3)
		case r.is(end, "and", "a", "quarter"):
			add(n.value+.25, end+3)
		}
		if r.is(n.end, "点") { // 一点五小时
			for _, f := range readNumber(r, n.end+1) {
				if f.value >= 1 && f.value < 10 && f.value == math.Trunc(f.value) {
					add(n.value+f.value/10, r.skip(f.end, "个"))
				}
			}
		}
		if r.is(end, "quarters", "of") { // three quarters of an hour
			add(n.value/4, r.skip(r.skip(end+2, "an"), "a"))
		}
		add(n.value, end)
	}
	half := func(pos int, qty float64) {
		for _, article := range []string{"an", "a", "个"} {
			if r.is(pos, article) {
				add(qty, pos+1)
				return
			}
		}
		add(qty, pos)
	}
	switch {
	case r.is(pos, "半"):
		half(pos+1, .5)
	case r.is(pos, "half"):
		half(r.skip(pos+1, "of"), .5)
	case r.is(pos, "a", "half"):
		half(r.skip(pos+2, "of"), .5)
	case r.is(pos, "a", "quarter"):
		half(r.skip(pos+2, "of"), .25)
	case r.is(pos, "quarter"):
		half(r.skip(pos+1, "of"), .25)
	case r.is(pos, "three", "quarters", "of", "an"):
		add(.75, pos+4)
	case r.is(pos, "a", "couple"):
		add(2, r.skip(pos+2, "of"))
	case r.is(pos, "couple"):
		add(2, r.skip(pos+1, "of"))
	case r.is(pos, "刻", "把", "钟"):
		out = append(out, timeItem{pos + 3, 900, 60})
	case r.is(pos, "个", "把"):
		add(1, pos+2)
	case r.is(pos, "hour", "and", "a"):
		add(1, pos)
	case r.is(pos, "a"), r.is(pos, "an"):
		add(1, pos+1)
	}
	return out
}
