// Package sphinx recognizes the sentences of a closed grammar with CMU
// PocketSphinx. It also knows the pronunciation dictionary: which words the
// recognizer can hear at all, so that a name without a pronunciation is found
// when it is set and not when it is spoken.
//
// The words: a grammar is JSGF text ("#JSGF V1.0; grammar home; public <cmd>
// = …;"), all lower case. The acoustic model is a folder (mdef, means, …), the
// dictionary a text file, "word PHONE PHONE …" a line with "word(2)" for a
// second way to say it. Debian's package pocketsphinx-en-us has both.
//
// The shared library is opened by dlopen when the first Decoder is made, not
// linked: it pulls BLAS, LAPACK and the Fortran runtime along, which a process
// that never decodes should not carry, and a machine without the library
// gets a message instead of a program that does not start. Nothing of
// PocketSphinx is needed to build. Both C interfaces are spoken: 0.8+5prealpha
// (Debian 12; what the tests run on) and 5.x (from its documentation, not run yet).
//
// A Decoder holds only the words of its grammar, about 12 MB instead of the
// 30 MB that the whole dictionary takes. It belongs to one goroutine at a
// time; Close frees it. The library writes nothing to stderr; its last
// error line becomes part of ours. Some damage to a model makes the library
// end the process: run it where that is survived.
//
// What it does not do: decide whether the speech was one of the sentences at
// all. A grammar finds a sentence in anything, see drivers/voice/engine for
// the gate.
package sphinx
