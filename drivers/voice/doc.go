// Package voice is the plugin that listens and speaks. One session owns one
// microphone and one mouth:
//
//	microphone -> ring buffer -> wake word -> endpoint -> recognition -> InjectInput
//	speaker <- mouth <- synthesizer <- Send on channel "voice" <- agent
//
// The live session uses the configured devices. A recording handed to the
// endpoint `hear` gets a session of its own that runs the same code on a
// wav: device in real time, with a mouth that collects the answer's sound.
//
// Words: a hit is a wake word that was heard; an utterance is what was said
// after it, from the first to the last sample of speech; a turn is an input
// that the agent was given and has not answered yet; barge-in is a hit while
// the mouth speaks, which falls silent at once.
//
// Life and locking: a session's state belongs to one goroutine, its loop. The
// microphone, the mouth, one recognition and one InjectInput run beside it and
// report by channels; others reach the loop through session.do. Only the mouth
// is also stopped from outside, at once, because "stop" must not wait for a
// loop that waits for an engine. Every state has a deadline, every call of an
// engine too, and what hangs is left behind and reported.
//
// Units: positions are samples at 16 kHz since the session began and are never
// reset; a detector and an endpointer count from where they were opened.
//
// Not here: the wake word's mathematics (drivers/voice/wake), the local engines
// and their process (drivers/voice/engine), sound devices (drivers/audio, by
// way of the API's Audio service), what a command means (agent/intent), volume.
// There is no echo cancelling yet: while the box speaks a wake word in its own
// answer is ignored, and the detector forgets what it heard afterwards.
package voice
