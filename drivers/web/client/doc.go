// Package client speaks /api/v1 to the door, for homectl and for programs of
// others: over the door's unix socket, where the user id of the process is the
// login, or over TCP with a token.
//
// An answer of status 400 or above comes back as *problem.Problem, whose words
// are in the language that was asked for. A Client is safe for concurrent use
// and holds no goroutine between calls; Close ends its idle connections.
package client
