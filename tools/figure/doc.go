// Package figure prints what a measurement has found, one JSON object a line, as
// docs/benchmarks.md describes: the name, the value with its unit, how many
// samples are behind it, and on which machine and commit it was taken. What is
// measured, and how exactly, is the measuring program's.
package figure
