// Package note is how what runs before the house tells people something: boot
// scripts and `homed boot` add lines to one file in memory, homed reads it at
// its start, shows the notes in the status and has those spoken that ask for it.
//
// The file holds one JSON object a line: {"zh":"…","en":"…","say":true}. Read
// is generous: a line that is no such object, says nothing or is too long is
// counted and left out, and what is more than the bounds is left out too, so
// that no file keeps the house from starting. Add appends one line; a note
// that the file holds already is not written twice.
package note
