package distill

import (
	"strings"
	"unicode"

	"homeagent/agent/pattern"
)

// keyed are the shapes of keys and tokens of well-known makers, private keys and
// web tokens.
var keyed = pattern.New(`(?i)\b(sk|pk|rk|ghp|gho|ghs|glpat|xox[abposr]|hf|npm|dop_v1)[-_][a-z0-9_-]{12,}` +
	`|\bAKIA[0-9A-Z]{12,}|\bAIza[0-9A-Za-z_-]{20,}|\beyJ[0-9A-Za-z_-]{8,}\.[0-9A-Za-z_-]{8,}|-----BEGIN [A-Z ]*PRIVATE KEY` +
	`|\bbearer\s+[a-z0-9._~+/-]{16,}|://[^/\s:@]+:[^/\s@]+@`)

// guarded are words beside which stands what others must not learn.
var guarded = pattern.New(`(?i)密码|口令|验证码|密钥|私钥|暗号|银行卡号|信用卡号|卡号|身份证号|助记词|令牌` +
	`|\bpass(word|code|phrase|wd)s?\b|\bpin( code| number)?\b.{0,12}\d|\bpin code\b|\bapi[ _-]?keys?\b|\bsecret keys?\b|\bprivate keys?\b|\btokens?\b.{0,4}(is|:|=)` +
	`|\b(credit|debit|bank) card number|\bcard number|\bcvv\b|\bssn\b|social security number|\bseed phrase|\b(access|door|alarm|entry|gate|verification) code`)

// Secret tells whether a text holds what looks like a key or a token: long
// strings of mixed signs, or one of a known shape.
func Secret(s string) bool {
	if keyed.MatchString(s) {
		return true
	}
	for word := range strings.FieldsFuncSeq(s, func(r rune) bool { return unicode.IsSpace(r) || r > 0x7f || strings.ContainsRune(`,;"'()<>`, r) }) {
		if dense(word) {
			return true
		}
	}
	return false
}

// dense tells whether a word is 20 or more signs of which digits and letters
// change too often for a word, a number or an address.
func dense(word string) bool {
	if len(word) < 20 || strings.Contains(word, "://") || strings.Count(word, "/") > 1 {
		return false
	}
	digits, lower, upper, changes := 0, 0, 0, 0
	class, before := 0, 0
	for _, b := range []byte(word) {
		switch {
		case b >= '0' && b <= '9':
			digits++
			class = 1
		case b >= 'a' && b <= 'z':
			lower++
			class = 2
		case b >= 'A' && b <= 'Z':
			upper++
			class = 3
		case b == '.' || b == '@':
			return false // an address or a file
		default:
			continue
		}
		if before != 0 && class != before {
			changes++
		}
		before = class
	}
	return changes >= 5 && digits > 1 && lower+upper > 1
}

// Guarded tells whether a text speaks of a password, a PIN or a number of that
// kind: what is remembered only where the user asks for it.
func Guarded(s string) bool { return guarded.MatchString(s) }

// withoutSecrets returns a text without the sentences that hold a secret or
// speak of one: what may be sent to a provider.
func withoutSecrets(s string) string {
	if !Secret(s) && !Guarded(s) {
		return s
	}
	var kept []string
	for _, sentence := range sentences(s) {
		if t := sentence.text; !Secret(t) && !Guarded(t) {
			kept = append(kept, t+sentence.end)
		}
	}
	out := strings.Join(kept, " ")
	if Secret(out) || Guarded(out) { // it went over the seam of two sentences
		return ""
	}
	return out
}
