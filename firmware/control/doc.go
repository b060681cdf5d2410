// Package control is the supervisor's narrow socket: one JSON object a line in,
// one JSON object a line out, over a Unix socket whose peers are known by their
// credentials. The door, homectl and the agent speak to the supervisor through
// it and through nothing else.
//
// The package holds the wire, a server that checks peers, and a client. What a
// command does is the Handler's; the supervisor provides it. A connection may
// carry several commands, one after another; each has a deadline.
package control
