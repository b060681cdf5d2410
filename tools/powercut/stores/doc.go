// Package stores opens everything that a house keeps, by the house's own code,
// on a copy of its partitions, and tells what is in it: the queue, state.db with
// context, journal and timers, graph.db, door.db, config.yaml, the secrets, the
// saved clock and homeagent.txt.
//
// Looking changes the copy: the stores recover as they do at a start. What the
// house sets aside, cannot read or finds unsound is Damage, even where no
// acknowledged write is missing. A record that a cut has torn off the end of a
// log is none, for it was never acknowledged.
package stores
