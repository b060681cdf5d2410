package graph

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"homeagent/agent/plugin"
)

const (
	// firstConfidence is that of a fact heard once; hearing it again takes
	// away gain of what is missing to 1.
	firstConfidence = 0.6
	gain            = 0.4
)

// Origin is where facts come from.
type Origin struct {
	// Source is free text: a session, "user", "distiller".
	Source string
	// Turn is the id of the turn, "" outside one. The same fact from the same
	// turn counts once.
	Turn string
	// Speaker is the stable id of who said it ("qq:10001"), "" if unknown. It
	// decides whom a name means that everybody has another one for ("我妈").
	Speaker string
}

// Statement is a fact as it was told, with what is known about its two ends.
type Statement struct {
	plugin.Triple
	Origin
	// SubjectType and ObjectType say what kind of thing an end is ("person",
	// "狗"), "" if unknown. Two kinds that exclude each other are never taken
	// for the same thing.
	SubjectType, ObjectType string
	// SubjectID and ObjectID are stable ids: "device:lamp1", "qq:10001",
	// "phone:13800000000". They win over every name.
	SubjectID, ObjectID string
	// Confidence is 0 to 1; 0 is the default, that of a plain Commit.
	Confidence float64
	// Retracted means that the fact no longer holds: it becomes history, and
	// nothing takes its place. Relations that say so themselves ("no longer
	// lives in", 不再) need not be marked.
	Retracted bool
	// Heard is when it was said, now if zero. What was said before the standing
	// fact was goes straight into history.
	Heard time.Time
}

// cleanStatement cleans the fields and refuses what says nothing. A retraction
// worded as such is marked and loses its words.
func cleanStatement(s Statement) (Statement, error) {
	var err error
	if s.Triple, err = cleanTriple(s.Triple); err != nil {
		return s, err
	}
	if t, ok := retraction(s.Triple); ok {
		s.Triple, s.Retracted = t, true
	}
	var errs []error
	for _, f := range []struct {
		what string
		text *string
	}{
		{"subject type", &s.SubjectType}, {"object type", &s.ObjectType}, {"subject id", &s.SubjectID}, {"object id", &s.ObjectID},
		{"source", &s.Source}, {"turn", &s.Turn}, {"speaker", &s.Speaker},
	} {
		var err error
		*f.text, err = clean(f.what, *f.text)
		errs = append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return s, err
	}
	switch c := s.Confidence; {
	case math.IsNaN(c) || c <= 0:
		s.Confidence = firstConfidence
	case c > 1:
		s.Confidence = 1
	}
	return s, nil
}

// cleanTriple cleans the fields and refuses what says nothing.
func cleanTriple(t plugin.Triple) (plugin.Triple, error) {
	var errs [3]error
	t.Subject, errs[0] = clean("subject", t.Subject)
	t.Relation, errs[1] = clean("relation", t.Relation)
	t.Object, errs[2] = clean("object", t.Object)
	if err := errors.Join(errs[:]...); err != nil {
		return t, err
	}
	switch {
	case !visible(t.Subject):
		return t, fmt.Errorf("subject: %w", ErrEmpty)
	case !visible(t.Object) && !visible(t.Relation):
		return t, fmt.Errorf("relation and object: %w", ErrEmpty)
	}
	if !visible(t.Object) {
		t.Relation, t.Object = "", t.Relation
	}
	return t, nil
}

// identity cuts a stable id into kind and value. ok is false for text that is
// none: without a kind, or with nothing behind it.
func identity(id string) (kind, value string, ok bool) {
	kind, value, ok = strings.Cut(strings.ToLower(id), ":")
	kind, value = strings.TrimSpace(kind), strings.TrimSpace(value)
	if !ok || kind == "" || value == "" || strings.ContainsAny(kind, " /") {
		return "", "", false
	}
	if kind == "tel" || kind == "mobile" {
		kind = kindPhone
	}
	if kind == kindPhone {
		value = strings.Map(func(r rune) rune {
			if r >= '0' && r <= '9' || r == '+' {
				return r
			}
			return -1
		}, value)
		if value == "" {
			return "", "", false
		}
	}
	return kind, value, true
}

// Kinds of stable ids that are treated apart from accounts.
const (
	kindDevice = "device"
	kindPhone  = "phone"
)

// accounts are kinds by which a bare name is recognised as a stable id.
var accounts = map[string]bool{kindDevice: true, kindPhone: true, "qq": true, "wechat": true, "wx": true, "telegram": true,
	"user": true, "onebot": true, "mail": true, "email": true}

// nameIdentity is identity for a name, which may have a colon for any reason.
func nameIdentity(name string) (kind, value string, ok bool) {
	kind, value, ok = identity(name)
	if !ok || !accounts[kind] || strings.ContainsAny(value, " ") {
		return "", "", false
	}
	return kind, value, true
}
