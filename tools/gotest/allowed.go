package gotest

import "strings"

// allowed are parts of reasons that setting up this computer cannot remove.
func allowed() []string {
	return []string{
		"../shared",                                                                                           // recordings of people and lists that are no part of the project
		"root is absent", "needs root", "the right to mount is absent", "can be mounted", "cannot be mounted", // rights
		"is not for this machine", // hardware
		"WHOLEPATH_LONG",          // on request only
		"the fixture says",        // a case that an engine does not have
	}
}

// wrong are the skipped tests that must run.
func (s Summary) wrong() []Skip {
	var out []Skip
	for _, t := range s.Skipped {
		if !excused(t.Reason) {
			out = append(out, t)
		}
	}
	return out
}

func excused(reason string) bool {
	for _, part := range allowed() {
		if strings.Contains(reason, part) {
			return true
		}
	}
	return false
}
