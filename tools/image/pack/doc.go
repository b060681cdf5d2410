// Package pack writes the two archives of the image: the first boot stage as
// a cpio archive in the kernel's "newc" form, and a folder as a tar stream
// that belongs to root. Both depend on names, modes and content alone, never
// on the machine: times are given, entries are sorted.
package pack
