package provider

import (
	"errors"
	"fmt"
	"time"
)

// Kind is the class of a provider's failure; it decides what happens next.
type Kind string

const (
	Auth      Kind = "auth"        // 401, 403: the key is wrong; final
	Balance   Kind = "balance"     // 402: no credit; final
	Invalid   Kind = "invalid"     // 400, 404, 422: the request is wrong; final
	RateLimit Kind = "rate_limit"  // 429: retried, RetryAfter honoured
	Server    Kind = "server"      // 5xx: retried with backoff
	Network   Kind = "network"     // refused, reset, DNS, TLS, clock: retried, then the next in the chain
	Silent    Kind = "silent"      // no byte within the deadline: the next in the chain
	Malformed Kind = "malformed"   // bytes that are no answer: retried once
	Canceled  Kind = "canceled"    // the caller ended it
	Open      Kind = "unavailable" // the circuit breaker keeps it out for now
)

// Final reports whether trying the same provider again cannot help.
func (k Kind) Final() bool { return k == Auth || k == Balance || k == Invalid || k == Canceled }

// Error is a failure of a provider. Message holds the provider's own words
// with every secret removed.
type Error struct {
	Provider   string
	Kind       Kind
	Status     int           // HTTP status, 0 if none
	RetryAfter time.Duration // 0 if not given
	Message    string
	Err        error
}

func (e *Error) Error() string {
	s := "provider " + e.Provider + ": " + string(e.Kind)
	if e.Status != 0 {
		s += fmt.Sprintf(" (HTTP %d)", e.Status)
	}
	if e.Message != "" {
		s += ": " + e.Message
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// OwnWords is the provider's own sentence for people about why it was not
// reached, where its cause brings one in both languages (an error with a method
// In(lang)): it names what to do, a wrong clock say, better than the Kind can.
// ok is false where there is none. lang is "zh" or "en".
func (e *Error) OwnWords(lang string) (sentence string, ok bool) {
	var own interface{ In(lang string) string }
	if e.Kind != Network || !errors.As(e.Err, &own) {
		return "", false
	}
	return own.In(lang), true
}
