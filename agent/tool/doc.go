// Package tool holds what a tool is: its definition as the model sees it, a
// call, a result, and the Tracker that stands around each call. It runs
// nothing; the mind does, and plugins provide the handlers.
package tool
