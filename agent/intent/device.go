package intent

import (
	"strings"

	"homeagent/agent/home"
)

// Which says that a phrase fits several devices of which one is meant.
type which []string

// kindNouns are the words for a kind of device. A kind that is not listed is
// called by its own word.
var kindNouns = map[string]struct{ zh, one, many []string }{
	"lamp":   {[]string{"灯", "电灯", "大灯", "灯光"}, []string{"light", "lamp"}, []string{"lights", "lamps"}},
	"fan":    {[]string{"风扇", "电扇", "电风扇"}, []string{"fan"}, []string{"fans"}},
	"heater": {[]string{"暖气", "取暖器", "电暖器"}, []string{"heater", "heating", "radiator"}, []string{"heaters", "radiators"}},
	"plug":   {[]string{"插座"}, []string{"plug", "outlet", "socket"}, []string{"plugs", "outlets", "sockets"}},
	"switch": {[]string{"开关"}, []string{"switch"}, []string{"switches"}},
	"blind":  {[]string{"窗帘", "百叶窗"}, []string{"blind", "curtain"}, []string{"blinds", "curtains", "shades"}},
}

// zhLinks stand between a room and what is in it, and after "all".
var zhLinks = setOf("里 面 头 内 中 那 这 边 儿 的 所 有 全 部 每 一 几 两 盏 个 只")

// maxPairs bounds the rooms of which two may be named in one phrase.
const maxPairs = 12

// devicePhrases says a household's devices: their names, a room's devices of
// one kind, all of one kind, everything. The value is the devices' ids.
func devicePhrases(h *home.Home) *phrases {
	ps := newPhrases(true)
	ps.links = zhLinks
	for _, d := range h.Devices {
		where := "device " + d.Name
		ids := []string{d.Name}
		for _, lang := range []string{"zh", "en"} {
			for _, a := range d.Aliases[lang] {
				ps.add(lang, a, d.Name, where, ids, true)
			}
		}
		if len(d.Aliases["en"]) == 0 {
			ps.add("en", strings.ReplaceAll(d.Name, "_", " "), d.Name, where, ids, true)
		}
	}
	kinds := kindsOf(h)
	for _, kind := range kinds {
		for _, r := range h.Rooms {
			groupPhrases(ps, h, kind, []home.Room{r})
		}
	}
	for _, kind := range kinds {
		groupPhrases(ps, h, kind, nil)
		if len(h.Rooms) > maxPairs {
			continue
		}
		for _, a := range h.Rooms {
			for _, b := range h.Rooms {
				if a.Name != b.Name {
					groupPhrases(ps, h, kind, []home.Room{a, b})
				}
			}
		}
	}
	var all []string
	for _, d := range h.Devices {
		if d.Kind != "sensor" && d.Kind != "blind" {
			all = append(all, d.Name)
		}
	}
	if len(all) > 0 {
		for _, s := range []string{"everything", "all devices", "all of devices", "every device"} {
			ps.add("en", s, strings.Join(all, ","), "all devices", all, s == "everything")
		}
		for _, s := range []string{"所有设备", "所有的设备", "全部设备", "全部的设备", "所有电器", "所有的电器", "全部电器", "所有东西", "家里所有设备", "一切"} {
			ps.add("zh", s, strings.Join(all, ","), "all devices", all, false)
		}
	}
	return ps
}

// kindsOf lists the kinds of the devices in their order.
func kindsOf(h *home.Home) []string {
	var out []string
	seen := map[string]bool{"": true, "sensor": true}
	for _, d := range h.Devices {
		if !seen[d.Kind] {
			seen[d.Kind] = true
			out = append(out, d.Kind)
		}
	}
	return out
}

// groupPhrases adds the ways to say the devices of one kind in one or two
// rooms, or anywhere where no room is given.
func groupPhrases(ps *phrases, h *home.Home, kind string, rooms []home.Room) {
	var ids []string
	in := map[string]bool{}
	for _, r := range rooms {
		n := len(ids)
		for _, d := range h.Devices {
			if d.Kind == kind && d.Room == r.Name {
				ids = append(ids, d.Name)
			}
		}
		if len(ids) == n { // one of the rooms has none: not what was meant
			return
		}
		in[r.Name] = true
	}
	where := "the devices of kind " + kind
	for _, d := range h.Devices {
		if len(rooms) == 0 && d.Kind == kind {
			ids = append(ids, d.Name)
		}
	}
	if len(ids) == 0 {
		return
	}
	value := strings.Join(ids, ",")
	var one any = ids
	if len(ids) > 1 {
		one = which(ids)
	}
	nouns, ok := kindNouns[kind]
	if !ok {
		nouns.one, nouns.many, nouns.zh = []string{kind}, []string{kind + "s"}, []string{kind}
	}
	g := len(rooms) < 2
	if len(rooms) == 0 {
		for i, n := range nouns.many {
			for _, s := range []string{n, "all [the] " + n, "all of " + n, n + " everywhere", "all " + n + " everywhere", "all " + n + " in house", n + " in house",
				"all of " + n + " in house", "house " + n, "all " + n + " in all rooms", n + " in all rooms", n + " in every room", "all " + n + " in every room"} {
				ps.add("en", s, value, where, ids, i == 0 && (s == n || s == "all [the] "+n))
			}
		}
		for _, n := range nouns.one {
			ps.add("en", n, value, where, one, len(ids) == 1)
			for _, s := range []string{"every ", "each ", "every single ", "each and every "} {
				ps.add("en", s+n, value, where, ids, false)
				ps.add("en", s+n+" in house", value, where, ids, false)
			}
		}
		for _, n := range nouns.zh {
			for _, f := range []string{"", "所有", "全部", "全屋", "全家", "家里", "家中", "屋里", "屋子里", "房子里", "房间里", "那盏", "这盏", "那个", "这个", "整屋", "整个屋子", "整个房子", "每盏", "每个房间", "各个房间", "各屋", "整个家"} {
				ps.add("zh", f+n, value, where, ids, false)
			}
		}
		return
	}
	for _, r := range roomNames(rooms, "en") {
		for i, n := range nouns.many {
			g := g && i == 0
			for _, s := range []string{r + " " + n, n + " in [the] " + r, "all [the] " + r + " " + n, "all [the] " + n + " in [the] " + r, "all of " + n + " in " + r} {
				ps.add("en", s, value, where, ids, g && !strings.HasPrefix(s, "all"))
			}
		}
		for i, n := range nouns.one {
			for _, s := range []string{r + " " + n, n + " in [the] " + r} {
				if len(rooms) > 1 {
					ps.add("en", s, value, where, ids, false)
				} else {
					ps.add("en", s, value, where, one, len(ids) == 1 && i == 0)
				}
			}
			ps.add("en", "every "+n+" in "+r, value, where, ids, false)
		}
	}
	for _, r := range roomNames(rooms, "zh") {
		for _, n := range nouns.zh {
			ps.add("zh", r+n, value, where, ids, false)
			ps.add("zh", "所有"+r+n, value, where, ids, false)
		}
	}
}

// litPhrases says a household's rooms where their lamps are meant: "brighten
// the kitchen". The value is the lamps' ids.
func litPhrases(h *home.Home) *phrases {
	ps := newPhrases(true)
	for _, r := range h.Rooms {
		var ids []string
		for _, d := range h.Devices {
			if d.Room == r.Name && d.Kind == "lamp" {
				ids = append(ids, d.Name)
			}
		}
		if len(ids) == 0 {
			continue
		}
		for _, lang := range []string{"zh", "en"} {
			for _, name := range roomNames([]home.Room{r}, lang) {
				ps.add(lang, name, strings.Join(ids, ","), "room "+r.Name, ids, true)
			}
		}
	}
	return ps
}

// roomNames says one room, or two joined.
func roomNames(rooms []home.Room, lang string) []string {
	names := make([][]string, len(rooms))
	for i, r := range rooms {
		names[i] = r.Aliases[lang]
		if lang == "en" && len(names[i]) == 0 {
			names[i] = []string{strings.ReplaceAll(r.Name, "_", " ")}
		}
	}
	if len(rooms) == 1 {
		return names[0]
	}
	joins := map[string][]string{"en": {" and ", " and in "}, "zh": {"和", "跟", "、", "与", "还有", "以及", "加"}}[lang]
	var out []string
	for _, a := range names[0] {
		for _, b := range names[1] {
			for _, j := range joins {
				out = append(out, a+j+b)
			}
		}
	}
	return out
}

// roomPhrases says a household's rooms.
func roomPhrases(h *home.Home) *phrases {
	ps := newPhrases(true)
	for _, r := range h.Rooms {
		for _, lang := range []string{"zh", "en"} {
			for _, a := range r.Aliases[lang] {
				ps.add(lang, a, r.Name, "room "+r.Name, r.Name, true)
			}
		}
		if len(r.Aliases["en"]) == 0 {
			ps.add("en", strings.ReplaceAll(r.Name, "_", " "), r.Name, "room "+r.Name, r.Name, true)
		}
	}
	return ps
}

// matchDevices reads one device or several joined by "and".
func matchDevices(ps *phrases, toks []token, pos int) []candidate {
	out := ps.match(toks, pos)
	r := reader(toks)
	for i := 0; i < len(out) && len(out) < 64; i++ {
		first := out[i]
		ids, ok := first.value.([]string)
		if !ok {
			continue
		}
		next := first.end
		for _, and := range [][]string{{"and"}, {"和"}, {"跟"}, {"与"}, {"还", "有"}, {"以", "及"}} {
			if n := r.skip(next, and...); n > next {
				next = n
				break
			}
		}
		if next == first.end && (next >= len(toks) || !toks[next].pause || len(ids) > 8) {
			continue
		}
		for _, second := range ps.match(toks, next) {
			if more, ok := second.value.([]string); ok {
				both := union(ids, more)
				out = append(out, candidate{end: second.end, text: strings.Join(both, ","), value: both})
			}
		}
	}
	for i := 1; i < len(out); i++ {
		for j := i; j > 0 && out[j].end > out[j-1].end; j-- {
			out[j], out[j-1] = out[j-1], out[j]
		}
	}
	return out
}

func union(a, b []string) []string {
	out := append([]string(nil), a...)
	for _, s := range b {
		found := false
		for _, t := range out {
			found = found || t == s
		}
		if !found {
			out = append(out, s)
		}
	}
	return out
}
