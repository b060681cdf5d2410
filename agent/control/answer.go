package control

// answers are the words of confirmation.
var answers = map[Intent]struct{ zh, en string }{
	Stop:    {"好，停了。", "Stopped."},
	Cancel:  {"好，取消了。", "Cancelled."},
	Mute:    {"已静音，说“大声点”就恢复。", `Muted. Say "louder" to undo it.`},
	Louder:  {"好，大声一点。", "Louder."},
	Softer:  {"好，小声一点。", "Softer."},
	RingOff: {"好，不响了。", "The ringing is off."},
	Confirm: {"好的。", "All right."},
	Deny:    {"好，不做了。", "All right, I won't."},
}

// Answer is the word of confirmation for an intent in lang, "zh" or else English.
func Answer(i Intent, lang string) string {
	if lang == "zh" {
		return answers[i].zh
	}
	return answers[i].en
}
