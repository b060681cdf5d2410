// Package plugin is the SDK: everything a sense or a hand of the agent needs,
// and all it may know. A plugin speaks to the agent through three channels:
// tools, the seven stages of a turn, and events.
//
// Its life: New has no effect. The host calls Start once with the API; a Start
// that fails has undone itself. Stop ends every goroutine the plugin owns and
// waits for them; calling it twice is harmless. After Stop the host has taken
// back every tool, stage, subscription, channel and opener the plugin had
// registered, so a plugin need not undo its registrations itself.
//
// Registrations are accepted only between Start's call and Stop's. Handlers may
// be called from several goroutines; stage handlers of one turn are called one
// after another. A handler that panics or outlives its deadline is reported and
// skipped; it never takes the agent down.
//
// The package imports no implementation. agent/host implements API;
// agent/plugin/plugintest is the suite that every plugin runs.
package plugin
