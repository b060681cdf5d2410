package debian

import "strings"

// CompareVersions orders two Debian versions as dpkg does: below zero where a
// is older than b, zero where they are equal.
func CompareVersions(a, b string) int {
	ea, ra := cutEpoch(a)
	eb, rb := cutEpoch(b)
	if c := compareDigits(ea, eb); c != 0 {
		return c
	}
	ua, da := cutRevision(ra)
	ub, db := cutRevision(rb)
	if c := comparePart(ua, ub); c != 0 {
		return c
	}
	return comparePart(da, db)
}

func cutEpoch(v string) (epoch, rest string) {
	if e, r, ok := strings.Cut(v, ":"); ok {
		return e, r
	}
	return "", v
}

func cutRevision(v string) (upstream, revision string) {
	if i := strings.LastIndexByte(v, '-'); i >= 0 {
		return v[:i], v[i+1:]
	}
	return v, ""
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// weight orders the characters of a non-digit run: a tilde before the end,
// the end (and a digit) before letters, letters before the rest.
func weight(s string, i int) int {
	switch {
	case i >= len(s) || isDigit(s[i]):
		return 0
	case s[i] == '~':
		return -1
	case s[i] >= 'a' && s[i] <= 'z' || s[i] >= 'A' && s[i] <= 'Z':
		return int(s[i])
	default:
		return int(s[i]) + 256
	}
}

// comparePart alternates between runs of other characters and runs of digits.
func comparePart(a, b string) int {
	for a != "" || b != "" {
		i := 0
		for ; i < len(a) && !isDigit(a[i]) || i < len(b) && !isDigit(b[i]); i++ {
			if c := weight(a, i) - weight(b, i); c != 0 {
				return c
			}
		}
		a, b = a[min(i, len(a)):], b[min(i, len(b)):]
		na, nb := digits(a), digits(b)
		if c := compareDigits(a[:na], b[:nb]); c != 0 {
			return c
		}
		a, b = a[na:], b[nb:]
	}
	return 0
}

func digits(s string) int {
	n := 0
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	return n
}

// compareDigits compares numbers of any length.
func compareDigits(a, b string) int {
	a, b = strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	return strings.Compare(a, b)
}
