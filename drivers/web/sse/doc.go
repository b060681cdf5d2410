// Package sse writes and reads server-sent events (the HTML standard, section
// 9.2): the form in which answers and events of the agent reach page and
// homectl. A Writer belongs to one request and may be used by one goroutine at
// a time; a Reader is bounded, because a stranger may stand at the other end.
package sse
