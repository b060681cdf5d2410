package ledger

import (
	"fmt"
	"slices"
	"strings"
)

// Found is what a house holds. A nil map was not looked at.
type Found struct {
	// Inputs and Answers are texts by the input's id. An input that waits has no answer.
	Inputs, Answers map[string]string
	// Facts holds those that were asked for, as FactKey.
	Facts map[string]bool
	// Timers and Tokens are labels and names.
	Timers, Tokens map[string]bool
	// Secrets, Config: values by name.
	Secrets, Config map[string]string
	// Given are values found on the setup partition or in the house, by name.
	Given   map[string]string
	Claimed *bool
	// Damage says what could not be opened, was set aside or is not sound.
	Damage []string
}

// FactKey is a fact in Found.Facts.
func FactKey(subject, rest string) string { return subject + " " + rest }

// Nothing is what a house holds that cannot be opened at all.
func Nothing() Found {
	return Found{Inputs: map[string]string{}, Answers: map[string]string{}, Facts: map[string]bool{}, Timers: map[string]bool{},
		Tokens: map[string]bool{}, Secrets: map[string]string{}, Config: map[string]string{}, Given: map[string]string{}, Claimed: new(bool)}
}

// Judge names damage and each loss in a sentence.
func Judge(due []Expectation, f Found) (all []string) {
	for _, d := range f.Damage {
		all = append(all, "damaged: "+d)
	}
	return append(all, Missing(due, f)...)
}

// Missing holds what was found against what is due and names each loss in a sentence.
func Missing(due []Expectation, f Found) (lost []string) {
	for _, e := range due {
		if why := missing(e, f); why != "" {
			lost = append(lost, why)
		}
	}
	return lost
}

// missing says how an expectation is not met, "" if it is.
func missing(e Expectation, f Found) string {
	switch e.Kind {
	case Input:
		return value(e, f.Inputs)
	case Answer:
		return value(e, f.Answers)
	case Secret:
		return value(e, f.Secrets)
	case Config:
		return value(e, f.Config)
	case Given:
		return value(e, f.Given)
	case Fact:
		if f.Facts != nil && !f.Facts[FactKey(e.Name, e.Value)] {
			return fmt.Sprintf("fact %s %s is missing", e.Name, e.Value)
		}
	case Timer:
		return presence(e, f.Timers)
	case Token:
		return presence(e, f.Tokens)
	case Claim:
		if f.Claimed != nil && !*f.Claimed {
			return "the owner's account is missing"
		}
	default:
		return fmt.Sprintf("a write of the kind %q cannot be judged", e.Kind)
	}
	return ""
}

func value(e Expectation, found map[string]string) string {
	if found == nil {
		return ""
	}
	got, ok := found[e.Name]
	switch {
	case ok && e.allows(got):
		return ""
	case !ok && e.allows(""): // "" removes a secret
		return ""
	case !ok:
		return fmt.Sprintf("%s %s is missing", e.Kind, e.Name)
	}
	if e.Kind == Secret || e.Kind == Given {
		return fmt.Sprintf("%s %s has another value", e.Kind, e.Name)
	}
	return fmt.Sprintf("%s %s is %q, want %s", e.Kind, e.Name, got, strings.Join(quoted(append([]string{e.Value}, e.Or...)), " or "))
}

func presence(e Expectation, found map[string]bool) string {
	if found == nil {
		return ""
	}
	got := ""
	if found[e.Name] {
		got = Present
	}
	if e.allows(got) {
		return ""
	}
	if got == "" {
		return fmt.Sprintf("%s %q is missing", e.Kind, e.Name)
	}
	return fmt.Sprintf("%s %q is there again", e.Kind, e.Name)
}

func quoted(all []string) []string {
	slices.Sort(all)
	all = slices.Compact(all)
	for i, s := range all {
		all[i] = fmt.Sprintf("%q", s)
	}
	return all
}
