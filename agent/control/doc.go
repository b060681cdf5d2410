// Package control knows the closed list of control intents: stop, cancel, mute,
// louder, softer, ring off, confirm, deny. An intent counts only when it is the
// whole utterance; "stop" is one, "stop the music at nine" is a sentence for the
// provider. The list is data in words.go, in Chinese and English.
//
// The package decides about words alone. Who acts on an intent, and whether
// there is anything to confirm or deny, the caller knows: agent/mind asks before
// an input is queued and publishes event.Control.
package control
