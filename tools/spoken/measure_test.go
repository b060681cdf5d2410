package spoken

import "testing"

func TestMeasure(t *testing.T) {
	for _, row := range []struct {
		name, said, heard string
		want              float64
	}{
		{"the same", "The living room lamp is on.", "the living room lamp is on", 1},
		{"the time in digits", "It is 9:23 PM.", "It is 9.23 p.m.", 1},
		{"the time in words", "It is 9:23 PM.", "It is nine twenty-three pm", 1},
		{"the letters apart", "It is 9:23 PM.", "It is nine twenty three p M..", 1},
		{"a full hour", "It is 9:05 PM.", "it is nine oh five p.m.", 1},
		{"a zero spoken as a letter", "It is 11:09 PM.", "It is eleven o nine p M..", 1},
		{"a full hour with a clock", "It is 11:00 PM.", "It is eleven o'clock p.m.", 1},
		{"a full hour bare", "It is 11:00 PM.", "It's 1100 PM", 1},
		{"the colon is lost", "It is 11:09 PM.", "It is 1109 PM.", 1},
		{"another time", "It is 11:09 PM.", "It is 1110 PM.", 1.0 / 2},
		{"the hour by its sound, the minute lost", "It is 2:48 AM.", "It is too forty in a.", 0.5},
		{"the half of the day is lost", "It is 2:19 AM.", "It is two nineteen a.", 1},
		{"one word of four is wrong", "The living room lamp is on.", "the living room lamb is on", 0.75},
		{"on is not off", "The living room lamp is on.", "the living room lamp is off", 0.75},
		{"other words", "The living room lamp is on.", "It is 9:23 PM.", 0},
		{"nothing heard", "The living room lamp is on.", "", 0},
		{"a word counts once", "lamp lamp", "lamp", 0.5},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := Share(row.said, row.heard); got != row.want {
				t.Errorf("share(%q, %q) = %v, want %v; words %q and %q", row.said, row.heard, got, row.want, Words(row.said), Words(row.heard))
			}
		})
	}
}
