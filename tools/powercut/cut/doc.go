// Package cut makes out of the record of a disk's writes what a power cut would
// have left at some moment of it.
//
// A disk with a write cache keeps what was written before the last flush; of
// what came after, anything may be there. Three modes stand for that:
//
//	whole    everything up to and with the entry, as a disk without cache keeps it
//	torn     the entry itself has come through only in some of its 512-byte sectors
//	dropped  everything up to the last flush, then some of the writes and some not
//
// Everything that is drawn comes from the cut's own seed, so that a cut that
// found something can be made again.
//
// A Disk applies the record forward into one file; cuts are made in the order of
// their entries. A View reads a cut without copying the disk; Extract copies one
// partition of it.
package cut
