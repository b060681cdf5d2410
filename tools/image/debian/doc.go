// Package debian knows what the image takes from Debian: the lock file that
// pins it, the resolver that writes the lock, and the store that brings the
// pinned files through apt's own transport.
//
// A pin names one file of the archive by its path below the mirror, its size
// and its SHA-256, so that a mirror can serve something else only by failing
// the check. The mirror itself is never pinned: it is the one that the
// machine's own apt sources name (Mirrors).
//
// The resolver closes the seeds over Depends and Pre-Depends. It ignores
// version constraints: all packages but the ones whose suite a seed names come
// from one stable release, and what the image really needs is proved
// afterwards by the check of its ELF files. Maintainer scripts never run, so
// the packages only they need are named in the seeds as "without".
package debian
