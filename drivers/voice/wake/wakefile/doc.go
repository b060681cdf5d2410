// Package wakefile is the container of every file the wake word needs: the
// weights of the speech embedding, the tables of its mel front end, the bank of
// other people's speech, and an enrolled word.
//
// One file is a list of named arrays behind a header and in front of a
// checksum. All integers are little-endian:
//
//	 8 bytes  magic "HAWAKE\r\n" (the line break shows a file that a text transfer damaged)
//	 8 bytes  kind, padded with zeros: "embed", "mel", "bank" or "word"
//	 4 bytes  version of that kind, from 1
//	 4 bytes  number of sections, at most 256
//	sections:
//	   1 byte   length of the name, 1 to 64
//	   n bytes  name
//	   1 byte   element type: 1 byte, 2 int8, 3 float32
//	   1 byte   number of dimensions, 0 to 4
//	   4 bytes  each dimension
//	   n bytes  elements, last dimension fastest
//	32 bytes  SHA-256 of everything before
//
// Nothing may follow the checksum, no two sections share a name, and what
// Decode accepts Encode writes back byte for byte.
//
// The package knows bytes and shapes only; what a section means is said where
// it is read, in package wake. It opens no files.
package wakefile
