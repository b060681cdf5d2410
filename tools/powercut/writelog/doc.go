// Package writelog reads the record of everything that was written to a disk,
// as QEMU's block driver blklogwrites keeps it in the format of Linux's
// dm-log-writes: a superblock of one sector, then for each request a sector that
// describes it, followed by its data. All numbers are little endian.
//
//	superblock  magic u64, version u64, entries u64, sector size u32
//	entry       sector u64, sectors u64, flags u64, length of a mark u64
//
// An entry is appended when its request has been carried out and before the
// guest hears of it. So a flush in the log stands behind every write that the
// guest knew to be done when it asked for the flush. QEMU counts entries in the
// superblock at each flush, again before the guest hears of it: the count that is
// read after a write was acknowledged covers the flush that made it durable.
//
// A discard says what was given up and carries no data; its range may read as
// anything. A write that carries FLUSH is what QEMU makes of a write that must
// be durable at once: all before it and it itself are durable.
//
// A log of a machine that was killed may hold less than its superblock counts,
// or more; Open takes what is whole, and at most what is counted. The bytes come
// from a file that another program wrote, so nothing in them is believed: sizes
// are held against the file.
package writelog
