// Package wake hears a wake word of the user's own choice, learned from a few
// takes, in pure Go.
//
// # How it works
//
// Sound passes a mel front end and a convolutional network, Google's speech
// embedding, which gives 96 numbers every 80 ms about the last 775 ms (see
// Embedder). Both are computed as a stream: no convolution is padded in time, so
// every value is computed once, and equals the published graphs in ONNX Runtime
// to within 1e-3 (held by a test).
//
// Enrol cuts templates out of the takes (embeddings from 0.25 s after the word's
// start to 0.10 s after its end), says each take again in noise, faster, slower,
// softer and with other people speaking around it, and fits a logistic
// regression on eight embeddings in a row against a Bank of other people's
// speech. A Detector adds two scores for each embedding, both measured in
// spreads over the bank: the nearness of the two nearest takes by dynamic time
// warping, and the regression. The threshold is set per word: where the bank
// would wake it about once in two hours, and higher where the word's own takes
// leave room for it, as most do.
//
// # Parts
//
//	mel.go, embed.go, conv.go  sound to embeddings
//	whiten.go, bank.go         what other people sound like
//	trim.go, augment.go        where the word is in a take; saying it again
//	dtw.go, regression.go, score.go, calibrate.go  the two scores and the threshold
//	enrol.go, report.go        judging takes, learning a word
//	word.go                    an enrolled word as a file
//	detector.go                speech.Detector
//
// wakefile is the container of all files; waketest helps tests. The files
// come from tools/wakemodel and tools/wakebank.
//
// # Units, life and locking
//
// Sound is 16 kHz mono, positions are samples. Model, Bank and Word are constants
// once made and shared freely; Embedder and Detector belong to one goroutine
// each and are dropped when no longer used, there is nothing to close. Enrol
// starts goroutines and returns when they have ended. A Bank is needed only to
// enrol; a Word carries what listening needs.
//
// # What it does not do
//
// It knows no word of its own, does not cancel the echo of the speaker, and does
// not tell people apart: a word enrolled by one voice also answers to similar
// ones. Loud noise makes it miss; it was not measured in far rooms, with music
// or with children.
package wake
