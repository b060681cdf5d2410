// Package sqlfile opens a SQLite file the way every such file of the house is
// opened: created whole or not at all, looked at before it is trusted, set
// aside with a Notice where it is damaged or of a newer program.
//
// A File has one connection that writes and a few that read beside it, all with
// a busy_timeout, in WAL mode. The pages that a connection may cache are
// bounded, because the smallest board has 512 MB.
//
// The tables are the owner's: Layout says how they are made, how they are
// checked and how durable a transaction is. Errors that a person must hear of
// are told apart by ErrDamaged, ErrNewer, ErrReadOnly, ErrBusy and disk.IsFull.
package sqlfile
