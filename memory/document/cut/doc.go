// Package cut divides a long text into pieces of a size that can be searched
// and shown: at empty lines where it can, else at ends of lines, of sentences,
// at blanks, and at last between two characters. Nothing is altered: the pieces
// are parts of the text, in order, without the white space between them.
package cut
