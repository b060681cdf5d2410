package words

import (
	"errors"
	"fmt"
	"strings"
)

// The languages of the house, as they appear in every field called lang.
const (
	Chinese = "zh"
	English = "en"
)

// Speaker is what has words in both languages.
type Speaker interface {
	// In returns the words in Chinese for "zh" and in English for anything else.
	In(lang string) string
}

// Text is one sentence in both languages.
type Text struct {
	ZH, EN string
}

// In returns the sentence in Chinese for "zh" and in English for anything else.
func (t Text) In(lang string) string {
	if lang == Chinese {
		return t.ZH
	}
	return t.EN
}

// Format makes a Text from one format for each language, over the same
// arguments. An argument that has words in both languages, or is an error that
// wraps such, appears in the language of the format.
func Format(zh, en string, args ...any) Text {
	return Text{ZH: sprintf(Chinese, zh, args), EN: sprintf(English, en, args)}
}

func sprintf(lang, format string, args []any) string {
	if len(args) == 0 {
		return format
	}
	said := make([]any, len(args))
	for i, a := range args {
		switch v := a.(type) {
		case Speaker:
			said[i] = v.In(lang)
		case error:
			said[i] = In(v, lang)
		default:
			said[i] = a
		}
	}
	return fmt.Sprintf(format, said...)
}

// Error is an error with its words in both languages.
type Error struct {
	Text
	// Err is the cause, nil if there is none. The words already say what of it
	// is of use to a person.
	Err error
}

// Errorf makes an Error as Format makes a Text. The first error among the
// arguments is its cause.
func Errorf(zh, en string, args ...any) *Error {
	e := &Error{Text: Format(zh, en, args...)}
	for _, a := range args {
		if err, ok := a.(error); ok {
			e.Err = err
			break
		}
	}
	return e
}

// Error is the English sentence.
func (e *Error) Error() string { return e.EN }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// In returns the words of an error in the language: those of the error itself
// or, inside the English text around it, those of the first cause that has
// words. An error without any is shown as it is.
func In(err error, lang string) string {
	if s, ok := err.(Speaker); ok {
		return s.In(lang)
	}
	text := err.Error()
	var s interface {
		error
		Speaker
	}
	if errors.As(err, &s) {
		return strings.Replace(text, s.Error(), s.In(lang), 1)
	}
	return text
}

// FromEnv is the language of a person's environment: the first that is set of
// LC_ALL, LC_MESSAGES and LANG decides, Chinese where it begins with "zh",
// English else. With none of them set it is Chinese.
func FromEnv(getenv func(string) string) string {
	for _, k := range []string{"LC_ALL", "LC_MESSAGES", "LANG"} {
		if v := getenv(k); v != "" {
			if strings.HasPrefix(strings.ToLower(v), Chinese) {
				return Chinese
			}
			return English
		}
	}
	return Chinese
}
