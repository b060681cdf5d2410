// Package recall is the one path by which memory is asked: what was said and
// written (package search), facts (package graph) and, where there are any,
// vectors are fused into one list, and of those that say the same one is kept.
//
// It knows its sources as small interfaces and keeps nothing itself.
package recall
