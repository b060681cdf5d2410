// Package clips gives tests of the voice path their recordings: 16 kHz mono
// WAV files that lie beside the repository, in ../shared/audio, and the models
// folder of this machine. A test that asks for what is absent is skipped and
// says what was missing. It is no WAV reader for anything but tests.
package clips
