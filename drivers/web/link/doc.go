// Package link is the one connection between the door, which owns every
// listening socket, and the agent, which listens on nothing.
//
// The agent dials the door's unix socket, asks it by an HTTP Upgrade to speak
// the link, and proves itself with a secret that the supervisor gave to both
// at start. From then on the connection carries a yamux session in which the
// door opens streams. A stream begins with one line of JSON, its Header: an
// "api" stream carries HTTP/1.1 that the agent answers, a "stream" carries the
// bytes of a protocol whose connection the door has accepted and vetted.
//
// Hub is the door's side, Run the agent's. Either may restart: Run dials again
// with backoff and jitter, and a new link puts the old one out. Both ends bound
// the number of open streams, and a stream that does not tell its header in
// time is closed.
//
// The link carries no login of its own: whoever arrives by it has been let in
// by the door, which writes who it was into the headers named here after
// removing what the outside sent under those names.
package link
