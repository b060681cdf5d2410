package plugin

import "unicode"

// LangOf guesses the language of a text: "zh" if it holds a Han character,
// "en" if it holds another letter, "" where there is nothing to guess by.
func LangOf(text string) string {
	letter := false
	for _, r := range text {
		if unicode.Is(unicode.Han, r) {
			return "zh"
		}
		letter = letter || unicode.IsLetter(r)
	}
	if letter {
		return "en"
	}
	return ""
}
