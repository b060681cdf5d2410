package intent

// hourRead is an hour with its minutes, before the part of the day is known.
type hourRead struct {
	end, hour, minute int
	part              half // where am or pm was said
	exact             bool // where it can be no other half of the day
}

// hours lists the readings of an hour at pos.
func (r reader) hours(pos int) []hourRead {
	var out []hourRead
	add := func(h hourRead) {
		switch {
		case r.is(h.end, "am"), r.is(h.end, "a", "m"):
			out = append(out, hourRead{h.end + 1 + b2i(!r.is(h.end, "am")), h.hour, h.minute, morning, true})
		case r.is(h.end, "pm"), r.is(h.end, "p", "m"):
			if h.hour <= 12 {
				out = append(out, hourRead{h.end + 1 + b2i(!r.is(h.end, "pm")), h.hour, h.minute, afternoon, true})
			}
		}
		out = append(out, h)
	}
	switch {
	case r.is(pos, "noon"), r.is(pos, "midday"):
		return []hourRead{{pos + 1, 12, 0, unsaid, true}}
	case r.is(pos, "midnight"):
		return []hourRead{{pos + 1, 24, 0, unsaid, true}}
	case r.is(pos, "正", "午"):
		return []hourRead{{pos + 2, 12, 0, unsaid, true}}
	case r.is(pos, "午", "夜"):
		return []hourRead{{pos + 2, 24, 0, unsaid, true}}
	}
	r.relative(pos, add)
	for _, h := range readNumber(r, pos) {
		if h.value != float64(int(h.value)) {
			continue
		}
		hour := int(h.value)
		switch {
		case hour > 24 && hour < 2400 && h.end == pos+1 && len(r[pos].text) >= 3: // 730, 1930
			add(hourRead{h.end, hour / 100, hour % 100, unsaid, len(r[pos].text) == 4})
			continue
		case hour > 24:
			continue
		case r.is(h.end, "点") || r.is(h.end, "时"):
			r.chineseMinutes(h.end+1, hour, add)
			continue
		}
		if r.is(h.end, ":") {
			for _, m := range readNumber(r, h.end+1) {
				if m.value < 60 && len(r[h.end+1].text) == 2 {
					end := m.end
					if r.is(end, ":") { // seconds are passed over
						end = min(end+2, len(r))
					}
					add(hourRead{end, hour, int(m.value), unsaid, len(r[pos].text) == 2 && r[pos].text[0] == '0'})
				}
			}
			continue
		}
		if isHanText(r[pos].text) {
			continue // a Chinese hour needs its 点
		}
		for _, m := range readNumber(r, h.end) { // seven thirty
			if m.value >= 10 && m.value < 60 && hour <= 23 && m.value == float64(int(m.value)) {
				if _, unit := r.unitAt(m.end); !unit {
					add(hourRead{m.end, hour, int(m.value), unsaid, false})
				}
			}
		}
		if r.is(h.end, "oh") || r.is(h.end, "o") { // seven oh five
			for _, m := range readNumber(r, h.end+1) {
				if m.value > 0 && m.value < 10 {
					add(hourRead{m.end, hour, int(m.value), unsaid, false})
				}
			}
		}
		if r.is(h.end, "oclock") {
			add(hourRead{h.end + 1, hour, 0, unsaid, false})
		} else if r.is(h.end, "o", "clock") {
			add(hourRead{h.end + 2, hour, 0, unsaid, false})
		}
		if _, unit := r.unitAt(h.end); !unit && !r.is(h.end, "%") && !r.is(h.end, "percent") {
			add(hourRead{h.end, hour, 0, unsaid, false})
		}
	}
	return out
}

// relative reads "half past seven", "quarter to nine", "ten minutes past six".
func (r reader) relative(pos int, add func(hourRead)) {
	pos = r.skip(pos, "a")
	var minutes []reading
	switch {
	case r.is(pos, "half", "past"):
		minutes = []reading{{pos + 1, 30}}
	case r.is(pos, "quarter"):
		minutes = []reading{{pos + 1, 15}}
	default:
		for _, n := range readNumber(r, pos) {
			if n.value > 0 && n.value < 60 {
				minutes = append(minutes, reading{r.skip(r.skip(n.end, "minutes"), "minute"), n.value})
			}
		}
	}
	for _, m := range minutes {
		before := r.is(m.end, "to") || r.is(m.end, "before")
		if !before && !r.is(m.end, "past") && !r.is(m.end, "after") {
			continue
		}
		for _, h := range readNumber(r, m.end+1) {
			hour, minute := int(h.value), int(m.value)
			if hour < 1 || hour > 12 {
				continue
			}
			if before {
				hour, minute = (hour+10)%12+1, 60-minute
			}
			add(hourRead{h.end, hour, minute, unsaid, false})
		}
	}
}

// chineseMinutes reads what follows 点: 整, 半, 一刻, 二十, 零五分, nothing.
func (r reader) chineseMinutes(pos, hour int, add func(hourRead)) {
	whole := func(end, minute int) { add(hourRead{end, hour, minute, unsaid, false}) }
	switch {
	case r.is(pos, "半"):
		whole(pos+1, 30)
	case r.is(pos, "一", "刻"):
		whole(pos+2, 15)
	case r.is(pos, "三", "刻"):
		whole(pos+2, 45)
	case r.is(pos, "整"), r.is(pos, "钟"):
		whole(r.skip(pos+1, "整"), 0)
	}
	from := r.skip(r.skip(pos, "过"), "零")
	for _, m := range readNumber(r, from) {
		if m.value < 1 || m.value > 59 || m.value != float64(int(m.value)) {
			continue
		}
		// A bare unit belongs to what follows (三点五个苹果), unless 分 or a 零 marks it.
		if r.is(m.end, "分") {
			whole(m.end+1, int(m.value))
		} else if m.value >= 10 || from > pos {
			whole(m.end, int(m.value))
		}
	}
	whole(pos, 0)
}
