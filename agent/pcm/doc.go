// Package pcm holds the plain types in which sound crosses package borders:
// a sample format, a Source that is read and a Sink that is written. Samples
// are signed 16-bit integers, interleaved where there is more than one channel.
//
// The package opens nothing itself. Real devices live behind drivers/audio,
// which hands out Sources and Sinks through the plugin API's Audio service;
// the voice path asks for Voice (16 kHz mono) and never sees another rate.
package pcm
