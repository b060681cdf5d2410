// Package house holds the rules of the source tree as tests: who may import
// whom, that every package says what it is for, that files stay readable, and
// that tests wait on conditions and never on the clock. It has no code of its own.
package house
