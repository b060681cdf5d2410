// Command powercut cuts the power of emulated houses and counts what they had
// acknowledged and then did not know any more. The promise is none.
//
//	powercut [-image FILE] [-booted 50] [-replayed 950] [-seed N] [-work FOLDER]
//
// Booted: QEMU is killed at random moments of boot, first growth and use, on
// QEMU's virt and now and then on a Raspberry Pi 3 through U-Boot, and started
// again; the house is asked through its API for all it has acknowledged.
//
// Replayed: one run on virt is recorded write by write (package writelog) from
// the first boot on, with a user at work (package use) who notes for each
// acknowledgement how far the record was (package ledger). The disk is then made
// anew as it was at many moments (package cut), in every kind of place: the
// partition table, the growth, the file system's journal, each database, the
// rewrite of homeagent.txt. Of each: the table is mended by the box's own script,
// the FAT is checked and its files are compared (by mtools), the data partition
// is checked by e2fsck as the box does it, then once more as a whole, and mounted,
// every store is opened (package stores). That needs root for mounting; without
// root the replays are left out, and that is said.
//
// It prints one JSON object a line: powercut.booted, powercut.replayed and
// powercut.lost (acknowledged writes that were missing), and beside them
// powercut.writes, the number of acknowledged writes that stood on the lists, and
// powercut.damaged, the number of replayed cuts after which the house found
// something unsound or set a file aside, whether or not a write was missing. What
// was lost is named on standard error with the seed that finds it again. The
// exit status is 1 when anything was lost or damaged.
//
// What cannot be seen here: a card whose firmware forgets what it had called
// durable, and a brown-out that writes garbage.
package main
