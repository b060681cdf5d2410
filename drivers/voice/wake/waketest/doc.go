// Package waketest helps tests that need the wake word: where models and
// recordings lie on this machine, reading recordings through ffmpeg, and
// speech made by flite.
//
// Every helper skips the test, naming what is absent, where the machine lacks
// something. Nothing here is part of the product.
package waketest
