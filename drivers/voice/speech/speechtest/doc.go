// Package speechtest holds the suites that every speech engine runs: one
// function for each interface of drivers/voice/speech. An engine joins with a
// fixture of a few lines; a fake that stands in for it in other tests runs the
// same suite, so that fakes do not drift.
//
// The suites check what the voice path relies on: results on real sound,
// silence and nonsense, use from several goroutines, cancelling, closing twice
// and at the wrong time, independence of how sound is cut up. They do not
// measure quality or speed.
package speechtest
