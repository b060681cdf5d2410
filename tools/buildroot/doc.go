// Package buildroot holds the BR2_EXTERNAL tree in buildroot/ to rules that can
// be checked without Buildroot, so that `make test` finds what would otherwise
// show an hour into a build, or on the box. Everything is read through a
// file system at the project's root, so that the tests break copies of it.
//
// The rules, one function each:
//
//   - Defconfigs: every line is an option that the version of Buildroot has, by
//     its own or by our Config.in, that a person may set, that is not a legacy
//     name, and with a value of its type. Buildroot itself drops what it does not
//     know without a word. Needs the list of that version's options.
//   - Symbols: no option of our Config.in files bears a name that Buildroot has or
//     once had.
//   - Paths: every path below $(BR2_EXTERNAL_HOMEAGENT_PATH) exists.
//   - Hashes: every package's source and licence files stand in its .hash file.
//   - Fragments: configuration fragments of kernel, busybox and U-Boot are
//     well-formed and say nothing twice.
//   - Commands: every command that the box's scripts call is a shell builtin, a
//     function of theirs, a file of the overlay, an applet of busybox on both
//     images, or in board/common/commands.list with an option that every board has.
//
// applets-debian-12.txt and applets-buildroot-2026.05.1.txt say which applets the
// two images' busybox have; Buildroot's is changed by buildroot/busybox.config as
// the build changes it. A command whose name is computed is not seen.
//
// The script check in this folder is the other half: it takes a Buildroot
// checkout and lets Buildroot resolve every board. The script image builds one.
package buildroot
