package intent

import (
	"fmt"
	"strings"
)

// Error is one thing wrong in a file of intents, told for the person who wrote
// it. Error gives it in English, Text in "zh" or "en".
type Error struct {
	Line   int
	Intent string // "" where it is not in one
	Err    error
}

func (e *Error) Error() string { return e.Text("en") }

// Text tells the error in the language "zh" or "en"; any other is English.
func (e *Error) Text(lang string) string {
	var parts []string
	add := func(zh, en string, arg any) {
		if lang == "zh" {
			en = zh
		}
		parts = append(parts, fmt.Sprintf(en, arg))
	}
	add("%s", "%s", "intents")
	if e.Line > 0 {
		add("第 %d 行", "line %d", e.Line)
	}
	if e.Intent != "" {
		add("意图 %s", "intent %s", e.Intent)
	}
	reason := e.Err.Error()
	if f, ok := e.Err.(*fault); ok && lang == "zh" {
		reason = f.zh
	}
	parts = append(parts, reason)
	if lang == "zh" {
		return strings.Join(parts, "：")
	}
	return strings.Join(parts, ": ")
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// fault is a sentence in both languages.
type fault struct{ zh, en string }

func (f *fault) Error() string { return f.en }

// faultf formats both sentences with the same arguments.
func faultf(zh, en string, args ...any) error {
	return &fault{fmt.Sprintf(zh, args...), fmt.Sprintf(en, args...)}
}
