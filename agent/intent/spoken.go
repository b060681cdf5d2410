package intent

import "strings"

var (
	ones = strings.Fields("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen")
	tens = strings.Fields("- - twenty thirty forty fifty sixty seventy eighty ninety")
)

// numberWords spells 0 to 999; beyond that digit by digit.
func numberWords(n int) string {
	switch {
	case n < 20:
		return ones[n]
	case n < 100 && n%10 == 0:
		return tens[n/10]
	case n < 100:
		return tens[n/10] + " " + ones[n%10]
	case n < 1000 && n%100 == 0:
		return ones[n/100] + " hundred"
	case n < 1000:
		return ones[n/100] + " hundred " + numberWords(n%100)
	}
	return numberWords(n/1000) + " thousand" + map[bool]string{true: "", false: " " + numberWords(n%1000)}[n%1000 == 0]
}

// spokenKinds are the rules of the built-in kinds: what people say of each, and
// nothing that its reader would not give back.
var spokenKinds = map[string]map[string]string{
	"number": {
		"n_digit":  strings.Join(ones[1:10], " | "),
		"n_teen":   strings.Join(ones[10:], " | "),
		"n_99":     "<n_digit> | <n_teen> | (" + strings.Join(tens[2:], " | ") + ") [<n_digit>]",
		"s_number": "(zero | <n_99> | (a | one) hundred) [percent] | maximum | minimum | half",
	},
	"duration": {
		"n_digit":   strings.Join(ones[1:10], " | "),
		"n_teen":    strings.Join(ones[10:], " | "),
		"n_99":      "<n_digit> | <n_teen> | (" + strings.Join(tens[2:], " | ") + ") [<n_digit>]",
		"d_seconds": "<n_99> (second | seconds)",
		"d_minutes": "<n_99> (minute | minutes) | a minute | <n_digit> and a half minutes | (a | one) minute and a half | half a minute",
		"d_hours":   "<n_99> (hour | hours) | an hour | <n_digit> and a half hours | (an | one) hour and a half | half an hour | a quarter of an hour",
		"s_duration": "<d_seconds> | <d_minutes> | <d_hours>\n" +
			"  | (an | <n_99>) (hour | hours) [and] <n_99> (minute | minutes)\n" +
			"  | (a | <n_99>) (minute | minutes) [and] <n_99> (second | seconds)",
	},
	"clock": {
		"n_digit":  strings.Join(ones[1:10], " | "),
		"c_hour":   strings.Join(ones[1:13], " | "),
		"c_minute": "oh <n_digit> | " + strings.Join(ones[10:], " | ") + " | (" + strings.Join(tens[2:6], " | ") + ") [<n_digit>]",
		"c_half":   "(a | p) m | in the (morning | afternoon | evening)",
		"c_time":   "<c_hour> [<c_minute>] [<c_half>] | <c_hour> o'clock [<c_half>] | (half past | quarter past | quarter to) <c_hour> | noon | midnight",
		"s_clock":  "<c_time> [tomorrow] | tomorrow at <c_time> | <c_hour> [<c_minute>] [p m] tonight",
	},
}
