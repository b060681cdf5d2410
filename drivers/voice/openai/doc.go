// Package openai speaks to any OpenAI-compatible speech service: Transcriber
// is a speech.Recognizer over POST <base>/audio/transcriptions, Speaker a
// speech.Synthesizer over POST <base>/audio/speech. Neither plays nor records.
//
// Both are safe for concurrent use and hold no goroutine between calls. Every
// request has a deadline, every body a bound. A redirect is refused, so that
// neither key nor recording goes where nobody sent it. The key is asked for at
// each request, sent only in the Authorization header, and appears in no error.
// Errors are *Error and have words for people in Chinese and English.
//
// Wire: audio goes out as WAV, 16 kHz, mono, 16 bit. WAV is asked for and what
// comes back is looked at: a WAV may carry a wrong length because it was
// streamed; MP3 and others are refused by name, for there is no decoder here.
package openai
