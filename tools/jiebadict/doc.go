// Command jiebadict brings the dictionaries of words into the models folder: the
// full one as it lies in the module gojieba, and one of its most frequent words
// for boards that are short of memory. The same module gives the same bytes. It
// is run by tools/setup and by the image's assembler.
//
//	jiebadict [-dir FOLDER] [-from FOLDER] [-check]
//
// -dir is the models folder, by default $HOMEAGENT_MODELS, else homeagent/models
// in the user's cache folder. -from is a folder of dictionary files instead of
// the module's. -check only reports.
//
// A folder appears whole or not at all; one that is as it should be is left alone.
//
// Exit codes: 0 all is there; 1 something failed or, with -check, is missing or
// differs; 2 wrong usage.
package main
