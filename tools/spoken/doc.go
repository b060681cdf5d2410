// Package spoken holds what tests of speech need on both sides of the house: the
// sounds that go in, and the measure of the answer that comes out.
//
// Sounds are pcm.Voice, 16 kHz mono. Recordings of people come from
// ../shared/audio beside the repository and from Debian's pocketsphinx-testdata;
// where one is absent the test that asked for it skips and says so. flite speaks
// what must be understood without them. Takes are recordings of one person saying
// a wake word: three to enrol it with and another one to call with.
//
// The measure of an answer is the share of its content words that a recognizer,
// listening without a grammar, finds in the sound (Share, Enough); a Judge is that
// recognizer. Plausible looks at loudness and length.
package spoken
