// Package speech holds the interfaces between the voice path and its engines:
// wake word, endpoint, recognition, synthesis. All audio is pcm.Voice unless a
// type says otherwise. Engines are chosen by language; each kind has at least
// one local and one network implementation, and all of a kind run one suite,
// speech/speechtest.
package speech
