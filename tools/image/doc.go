// Command image assembles the card's image on plain Debian 12 from Debian's
// arm64 packages: no loop mounts, no root, and the same bytes each time.
//
//	image [-board rpi3-64|zero2w|rpi4-64] [-raw] [-out FOLDER] [-cache FOLDER]
//	image -lock
//	image -tarballs FOLDER
//	image -sizes [-board BOARD]
//
// Without -raw the compressed form and its sum are made too. -lock writes
// debian.lock anew from seeds.txt and what the mirror offers now. -tarballs lays
// what Buildroot builds from, and what Debian's archive keeps, into a folder.
// -sizes prints the sizes of the image that is there as JSON lines.
//
// The way of a build: debian.lock names every file taken from Debian, with its
// sum; what is missing is fetched from the mirror of the machine's own apt
// sources (package debian). manifest.txt says which files the root takes;
// shared libraries follow by need (package elfs), kernel modules by the lists
// in board/common (package kernel). homed, homectl and homed-agent are compiled
// against a folder of unpacked -dev packages. overlay/ goes on top, and the
// same name from two sources is an error. board/common/post-build.sh and
// post-image.sh, which Buildroot calls as well, make the last touches and the
// card.
//
// What depends on nothing but its inputs is kept in the cache folder under
// their sum: unpacked packages, U-Boot, the compressed kernel, the packed root.
// A folder there appears by a rename and is whole.
//
// The only time that gets in is that of the last commit, or SOURCE_DATE_EPOCH.
// What the machine's umask, user or folders are does not matter.
//
// Exit codes: 0 done; 1 something failed; 2 wrong usage.
package main
