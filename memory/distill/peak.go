package distill

import "time"

// Window is a span of the day on some days of the week.
type Window struct {
	// Days are those on which it begins; none mean every day.
	Days []time.Weekday
	// From and To are minutes since midnight, 0 to 1440. To may be smaller than
	// From: the window then ends on the next day.
	From, To int
}

// contains tells whether t, in its own zone, lies in the window.
func (w Window) contains(t time.Time) bool {
	at := t.Hour()*60 + t.Minute()
	if w.From <= w.To {
		return at >= w.From && at < w.To && w.on(t.Weekday())
	}
	return at >= w.From && w.on(t.Weekday()) || at < w.To && w.on((t.Weekday()+6)%7)
}

func (w Window) on(day time.Weekday) bool {
	for _, d := range w.Days {
		if d == day {
			return true
		}
	}
	return len(w.Days) == 0
}

// Hours are the hours in which a provider asks its full price.
type Hours struct {
	// Zone is the one in which the windows are counted; nil is the machine's.
	Zone *time.Location
	Peak []Window
}

// DeepSeekHours are the hours of DeepSeek: full price on working days from 9 to
// 12 and from 14 to 18 in Beijing, half of it at any other time.
func DeepSeekHours() Hours {
	days := []time.Weekday{time.Monday, time.Tuesday, time.Wednesday, time.Thursday, time.Friday}
	return Hours{
		Zone: time.FixedZone("Beijing", 8*3600), // no summer time since 1991; needs no zone files
		Peak: []Window{{days, 9 * 60, 12 * 60}, {days, 14 * 60, 18 * 60}},
	}
}

// Full tells whether t falls into a peak.
func (h Hours) Full(t time.Time) bool {
	zone := h.Zone
	if zone == nil {
		zone = time.Local
	}
	t = t.In(zone)
	for _, w := range h.Peak {
		if w.contains(t) {
			return true
		}
	}
	return false
}
