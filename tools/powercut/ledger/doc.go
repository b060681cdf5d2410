// Package ledger is the list of what a house has acknowledged, kept outside the
// house by whoever asked it, and the comparison of that list with what is found
// after a power cut.
//
// Every write is noted twice: tried, before it is sent, and acked, once the
// house has said that it is done. A write that was tried and never acknowledged
// may be found or not; one that was acknowledged must be found, unless a later
// try may have changed it again.
//
// Position is a point in the record of the disk's writes, in entries; a write
// with position n must be found on a disk that holds at least the first n
// entries. Where cuts are real the positions are zero and everything counts.
//
// A Ledger is safe for concurrent use. It is kept as JSON, one note a line, so
// that a run can be judged again.
package ledger
