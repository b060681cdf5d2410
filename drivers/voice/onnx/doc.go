// Package onnx runs the two neural models of the voice path on ONNX Runtime:
// Silero v6, which tells speech from other sound every 32 ms, and Moonshine
// tiny, which writes down English.
//
// The runtime's shared library is opened by path at Open, never linked, and
// only the engines process calls Open: library and models take 100 to 200 MB.
// A process has one runtime, since the binding underneath keeps one; Open with
// the same path gives it again.
//
// Models are safe for several goroutines: Moonshine transcribes one utterance
// after another, a Stream of Silero belongs to one goroutine. Close of a model
// waits for nothing, so end its users first.
//
// Sound is 16 kHz mono. Two traps, both silent when missed: Silero v5 and v6
// want the 64 samples before each step in front of it, or they hear nothing;
// Moonshine answers long silence with an empty text, so trim first.
//
// What it does not do: decide where an utterance ends (drivers/voice/engine/server),
// Chinese or any other language.
package onnx
