// Package event holds the events that plugins and the mind exchange. An event
// is a fact that has happened; whoever hears it cannot change the turn. The
// bus that carries them lives in agent/bus.
package event
