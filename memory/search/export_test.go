package search

import "time"

// Exec runs a statement on the file.
func (x *Index) Exec(statement string) error {
	_, err := x.file.Write.Exec(statement)
	return err
}

// Span, SpansOf, ReadBlock and the like are for tests.
type Span = span

func (s span) Has(t time.Time) bool { return s.has(t) }

func SpansOf(text string, now time.Time) []span { return spansOf(text, now) }

func SpeaksOfTime(text string) bool { return speaksOfTime(text) }

func AsksWhen(text string) bool { return asksWhen(text) }

// Recoded reads a block and writes it again.
func Recoded(b []byte) ([]byte, error) {
	list, err := readBlock(nil, b)
	return appendBlock(nil, list), err
}

// Spoken parts a text into speaker and what is said.
func Spoken(text string) (speaker, said string) { return Passage{Text: text}.spoken() }
