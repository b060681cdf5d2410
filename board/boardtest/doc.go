// Package boardtest holds the tests of what makes the image: the shell of
// board/ and overlay/, and the numbers they share.
//
// It has no code of its own. The tests look at the files as they lie in the
// tree: every script passes shellcheck; board/common/layout.env agrees with
// U-Boot's configuration and environment and with genimage's template; the
// accounts have no password; the commands that scripts call by name are listed
// for both images. The partition table's functions run on real image files,
// made by sfdisk, whole and torn. Where a program is absent the test skips and
// names it.
package boardtest
