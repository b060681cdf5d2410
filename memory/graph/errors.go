package graph

import (
	"errors"

	"homeagent/memory/sqlfile"
)

// Errors of the file are those of package sqlfile, under the names that the
// graph's callers know.
var (
	// ErrDamaged is wrapped when the file's content is no sound database.
	ErrDamaged = sqlfile.ErrDamaged
	// ErrNewer is wrapped when a newer program has written the file.
	ErrNewer = sqlfile.ErrNewer
	// ErrReadOnly is wrapped when the file or its folder may not be written.
	ErrReadOnly = sqlfile.ErrReadOnly
	// ErrBusy is wrapped when another program held the file for too long.
	ErrBusy = sqlfile.ErrBusy
)

var (
	// ErrTooLong is wrapped when a field is longer than MaxField.
	ErrTooLong = errors.New("text too long")
	// ErrEmpty is wrapped when a subject, or all of what a fact says, is empty.
	ErrEmpty = errors.New("text empty")
	// ErrNoCriteria is returned by a Purge that would take everything.
	ErrNoCriteria = errors.New("nothing says what to forget")
	// ErrUnknown is wrapped when a name or an id belongs to nothing in the graph.
	ErrUnknown = errors.New("not in the graph")
	// ErrState is wrapped when a pair is given a state it cannot be given.
	ErrState = errors.New("no such outcome")

	// ErrSame is wrapped by a Merge of an entity with itself.
	ErrSame = errors.New("one and the same already")
	// ErrDevices is wrapped by a Merge of two registered devices.
	ErrDevices = errors.New("two registered devices")
	// ErrContradiction is wrapped by a Merge of two that differ in a unique
	// attribute or in what kind of thing they are.
	ErrContradiction = errors.New("contradicting attributes")
	// ErrUndone is wrapped by an Undo of what was undone before.
	ErrUndone = errors.New("undone already")
	// ErrLaterMerge is wrapped by an Undo of a merge on which a later one
	// builds, which has to be undone first.
	ErrLaterMerge = errors.New("a later merge builds on it")
)
