// Package home holds what the household has told about itself: rooms, devices
// and the names people use for them. It is read from config.yaml's section
// `home`; the grammar, the offline provider, the page and other systems all
// read the same value. It is immutable once parsed.
package home
