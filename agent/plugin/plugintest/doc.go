// Package plugintest is for the tests of plugins. Bench is an agent without a
// mind: the real host with everything it registers, stores in memory, and
// inputs that are kept instead of dealt with. A test starts its plugin on it,
// calls its tools, leads a StageContext through its stages, publishes and waits
// for events, reads what it said on a channel.
//
// Conformance is the suite that every plugin runs: New without effect, starts
// and stops without a leak, a failed start that undoes itself, sound
// registrations, tools that end when their context does.
package plugintest
