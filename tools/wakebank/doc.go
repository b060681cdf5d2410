// Command wakebank makes the speech bank of the wake word: other people's
// speech as embeddings, from which an enrolment learns what its word is not.
//
//	go run ./tools/wakebank -models DIR [-minutes N]
//
// It reads what Debian packages install, embeds it, and writes
// DIR/wake/bank.bin and, beside it, bank.txt, which says what went in and under
// which licence. DIR/wake must hold the files that wakemodel writes.
//
// Sound (each language is one speaker):
//
//	asterisk-core-sounds-en-wav  Allison Smith       CC BY-SA 3.0
//	asterisk-core-sounds-es-wav  Allison Smith       CC BY-SA 3.0
//	asterisk-core-sounds-fr-wav  June Wallack        CC BY-SA 3.0
//	asterisk-core-sounds-it-wav  Carlo Flora         CC BY-SA 3.0
//	asterisk-core-sounds-ru-wav  Maxim Topal         CC BY 3.0
//
// and noise that the command makes itself. The embeddings do not let the
//
// Prompts are taken in an order that a hash of their names gives, at four
// levels in turn, every fourth over noise. The same packages give the same
// bytes on the same kind of processor. About 20 s of processor time for 15
// minutes of sound.
//
// Exit codes: 0 done, 1 a package or model file is missing, 2 usage.
package main
