// Package bus carries events from whoever publishes to whoever subscribed.
//
// Publish never waits. Each subscription has one goroutine and a queue of at
// most 256 events; one that falls behind loses its oldest events, which is
// logged once it catches up. Control events are never lost and stand before
// all others in the queue of a subscription: whoever subscribes to
// event.Control alone hears a "stop" the moment it is said.
//
// A subscription ends with the function that Subscribe returned or with Close.
// A handler that panics is reported and called again for the next event. A
// handler that never returns blocks only itself.
package bus
