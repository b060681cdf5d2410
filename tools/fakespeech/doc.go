// Package fakespeech is a strict stand-in for an OpenAI-compatible speech
// service: POST /v1/audio/transcriptions and POST /v1/audio/speech. It is a
// handler for a test's own server; tools/fakespeech/serve runs it by itself.
//
// Strict means: what a real service might overlook is refused here with a 400
// that says why, and remembered as a complaint that a test asks for at its end
// (Complaints). It checks the key, the fields and their types, and the sound:
// 16 kHz, mono, 16 bit, lengths in the header that are true, not too short, not
// too long, neither silent nor clipped. It understands nothing: transcripts are
// given beforehand and handed out in order. What it says is a hum, not speech,
// whose length follows the text's.
//
// Faults make it fail like services do: by status, by silence, in the middle.
package fakespeech
