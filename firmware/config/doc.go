// Package config reads config.yaml: its sections, their defaults and their
// limits, and the notices for a person where the file says something the house
// does not understand. A broken file never keeps the box from starting: what
// can be used is used, the rest is named with its line.
//
// The package knows the sections of the house itself (daemon, agent, providers,
// memory, defaults, agents, models_dir). `home` and the sections of plugins are
// kept as YAML nodes; their owners parse them strictly. It also holds Handover,
// the document that the supervisor gives to each process it starts.
package config
