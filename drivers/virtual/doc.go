// Package virtual is the plugin of lamps and switches that exist only in
// memory: a fresh box can be tried without hardware, and a bench can pull
// devices out and put them back.
//
// A device is on or off. It comes from config.yaml's section `virtual`, or from
// a device of `home` whose tool is virtual_set, and keeps its state in the
// plugin's Store across restarts. The tools say that the devices are virtual,
// so that nobody takes a word of theirs for light in a room. An unplugged device
// keeps its tools; a call is then a clear error.
//
// Each change is published as event.System with the State
// "device:<name>:<on|off|unplugged|plugged>".
package virtual
