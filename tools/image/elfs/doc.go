// Package elfs knows which shared libraries a tree of files needs: it finds
// what is missing of the closure over NEEDED, looking where the loader of a
// Debian arm64 system looks without a cache: RUNPATH, then the multi-arch
// folder, then /usr/lib. Libraries opened by name at run time are not seen and
// must be named by whoever knows of them.
package elfs
