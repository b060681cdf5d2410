// Package sparse copies pieces of disk images, whose holes stay holes: a card of
// a gigabyte that holds little costs little to copy and to keep.
package sparse
