// Package kernel reads what Debian's kernel package and depmod say about
// modules: which file holds a module, what must be loaded before it, and what
// is built in.
package kernel
