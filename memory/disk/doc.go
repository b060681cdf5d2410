// Package disk is the file layer of the house: how a state file is replaced so
// that a power cut leaves the old or the new content, and an append-only log
// whose torn tail is cut off when it is opened. Every file that must survive
// is written through it; databases (bbolt, SQLite) bring their own layer.
//
// FS is the seam for tests: OS is the real thing, disktest the one that fails,
// stops or tears at its n-th call.
package disk
