// Package home holds what the household has told about itself: rooms, devices
// and the names people use for them. It is read from config.yaml's section
// `home`; the grammar, the offline provider, the page and other systems all
// read the same value. It is immutable once parsed.
//
// Parse is strict: an unknown key, a room that does not exist or a name that
// two things share is an error with its line, in Chinese and English, because
// a name that is silently ignored shows up weeks later as a lamp that does not
// listen. Default is the household of a fresh box: three rooms with a virtual
// lamp each, so that everything can be tried before anything is wired.
//
// The package does not know what a tool does, how a name is pronounced
// (agent/intent checks that) or where the file lies.
package home
