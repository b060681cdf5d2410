// Package words holds sentences for people in the two languages of the house,
// Chinese and English: plain ones (Text), errors (Error), and the choice of a
// language from the environment.
//
// What a sentence says is decided where the trouble is found; it names the next
// step. An Error reads in English as an error and in log lines; In chooses the
// reader's language. Values are immutable and may be shared.
package words
