package problem

import (
	"strconv"
	"strings"
)

// The languages of the house, as they appear in every field called lang.
const (
	Chinese = "zh"
	English = "en"
)

// maxRanges bounds how many entries of an Accept-Language header are looked at.
const maxRanges = 32

// Lang maps a language tag such as "zh-Hant-TW" or "en_GB" to Chinese or
// English; anything else gives "".
func Lang(tag string) string {
	tag = strings.ToLower(strings.TrimSpace(tag))
	if i := strings.IndexAny(tag, "-_"); i >= 0 {
		tag = tag[:i]
	}
	switch tag {
	case Chinese, English:
		return tag
	}
	return ""
}

// Accept chooses from an Accept-Language header (RFC 9110, section 12.5.4) by
// weight, the earlier one among equals. It gives "" where the header names
// neither language with a weight above 0.
func Accept(header string) string {
	best, weight := "", 0.0
	for i, part := range strings.SplitN(header, ",", maxRanges+1) {
		if i == maxRanges {
			break
		}
		tag, params, _ := strings.Cut(part, ";")
		l := Lang(tag)
		if l == "" {
			continue
		}
		q := 1.0
		if v, ok := strings.CutPrefix(strings.ReplaceAll(strings.TrimSpace(params), " ", ""), "q="); ok {
			f, err := strconv.ParseFloat(v, 64)
			if err != nil || !(f >= 0 && f <= 1) {
				continue
			}
			q = f
		}
		if q > weight {
			best, weight = l, q
		}
	}
	return best
}
