// Command homed-agent is the mind with its memory and drivers, started by homed.
// `homed-agent engines` is the process of the speech engines, which the agent
// starts on need. This is the one place where everything is joined; see assemble.go.
package main
