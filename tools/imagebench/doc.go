// Command imagebench measures the image as it stands, in the emulator, and prints
// one JSON object a line, as docs/benchmarks.md describes.
//
//	imagebench [-image FILE] [-only REGEXP] [-boots 3]
//
// boot: from the start of the kernel (which QEMU loads itself, so it is the start of QEMU) to the
// first answer of the page, on a new card (boot.page_first_s.*: the data
// partition grows, keys are made) and on a card that has been used and lost its
// power (boot.page_s.*). boot.power_page_s.raspi3b begins with U-Boot instead.
// The median of the boots is printed.
//
// idle: mem.idle_mb.* is the memory of the whole system without voice
// engines: what the board has given to the kernel (the "Memory:" line of its
// log, kernel included) less MemAvailable, after three minutes in which nobody
// spoke. It is the kernel's own image, tables and caches that cannot be given
// back, files in memory, and all processes. What it consists of goes to
// standard error; pss.*_mb.* are the house's processes.
//
// wear: what was written to the data partition while idle, for an hour, from the
// kernel's count of sectors over -idle.
//
// voice: mem.voice_mb.512: the same measure on virt with mem=464M, whose clock goes by its work, its highest
// value while a wake word, a command, its answer and distilling go through ten times.
//
// sizes are printed by tools/image -sizes. Emulated time is not a board's.
package main
