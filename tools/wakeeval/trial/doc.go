// Package trial tries the wake word on recordings of people: takes enrol a word,
// other recordings of the same person must wake it, speech of others must not.
//
// A corpus is a folder with manifest.tsv (file, kind, keyword, speaker,
// word_start_s, word_end_s, ... in its first line's order) and the recordings it
// names, of any format that ffmpeg reads. Speech whose speaker begins with
// "ast" is left out of the strangers: the bank was made from it.
//
// Every choice (takes, noise, carrier sentences) comes from a hash of the file's
// name, so a trial is repeated by running it again. A recording is tried as it is
// ("clean"), with household noise 10 dB below the word ("noise10"), and cut
// out and put between other people's words ("running").
package trial
