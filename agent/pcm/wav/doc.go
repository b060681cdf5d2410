// Package wav reads and writes RIFF WAVE files as streams of signed 16-bit
// samples. It takes what strangers hand in: PCM of 8, 16, 24 and 32 bits, float
// of 32 and 64 bits, WAVE_FORMAT_EXTENSIBLE, RF64, 1 to 32 channels, 8 to
// 192 kHz, chunks of odd length, and the wrong lengths that programs leave
// behind when they write to a pipe. A file that ends early gives what is there
// and says so by Reader.Notice. Compressed WAV (A-law, ADPCM, MP3) is refused
// by name.
//
// Nothing is read ahead but one small block, so memory does not depend on the
// file's length or on what its header claims. A Reader changes neither rate nor
// channel count except for ReadMono, which mixes down; agent/pcm/resample does
// the rest. Error carries a sentence in Chinese and one in English for whoever
// handed the file in.
//
// Format: "Multimedia Programming Interface and Data Specifications 1.0"
// (IBM, Microsoft, 1991), its revision of 1994 for the extensible header, and
// EBU Tech 3306 for RF64.
package wav
