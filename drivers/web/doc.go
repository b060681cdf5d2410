// Package web is the agent's side of the page and of /api/v1: a plugin that
// owns no socket. It dials the door, keeps the one link to it, and answers the
// requests that the door has let in.
//
//	POST /api/v1/chat          say something; the answer comes as events
//	GET  /api/v1/chat/{id}     take the answer to an earlier input up again
//	GET  /api/v1/chat/history  the last things said and done
//	GET  /api/v1/events        what happens, as events, with what came shortly before
//	GET  /api/v1/status        the agent's part of the status
//	GET  /api/v1/home          rooms and devices with their names
//	*    /api/v1/<name>[/...]  the endpoint that a plugin registered under the name
//
// It offers two channels: "web" for every "web:<session>" of the page and of
// tokens, and "console" for the unix socket, which homectl uses. An answer goes
// to whoever waits for that input and to every open page of the session. Who
// went away loses nothing: the answer can be taken up again by the input's id,
// and the history has it.
//
// Events of a chat, in order: accepted{id}, then any number of draft{text},
// notice{text}, withdraw{} and message{text, files}, then final{text, files} or
// error, a problem document. Drafts are pieces of an answer that is still
// growing; withdraw takes them all back.
//
// The packages below it: door (the process that listens), link (the connection
// between the two), ui (the page's files), client (for homectl), sse and problem
// (the forms that both sides write and read).
package web
