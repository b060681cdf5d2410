// Package remount makes a file system that is mounted read-only writable for a
// moment, as the boot partition of an appliance is while one file on it changes.
// It needs the right to mount.
package remount
