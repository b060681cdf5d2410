// Package e2e boots the image and tests it from outside: by its page, by SSH, by
// its sound card, and by what lies on its card afterwards. Its tests carry the
// build tag e2e; `make e2e` builds the image and runs them.
//
//	house_test.go    one emulated box: claimed by its page, entered by SSH
//	peers_test.go    what stands on this computer for it: a language model that
//	                 follows a script, a transcription and a speech service
//	page_test.go     first boot, the settings file, growth, the page, homectl
//	spoken_test.go   wake word and command by the sound card, the answer from it
//	loopback_test.go the sound card: snd-aloop in the guest
//	cut_test.go      the power is cut in the middle of a turn
//	bad_test.go      bad input: damaged, full and missing data, wrong clocks, a
//	                 broken settings file, too many microphones, no network
//	fault_test.go    what bad_test.go damages, and looks for afterwards
//	slots_test.go    the emulated Pi: U-Boot, slot B, a trial that fails
//
// What happens where: the wake word, the endpoint, the mind and the memory run in
// the guest on the image's own programs, which use a real sound driver of its
// kernel. An emulated processor is some twenty times slower than this one, so
// recognition and the voice are services on this computer, as a household may have
// them; each test's log says which. The clock of TestHouse's box goes with its own
// work (emulator.Config.Instructions): a busy computer makes the box slow, and a
// second of it long, but its sound whole.
//
// A test that lacks something (QEMU, models, recordings) skips and names it. A
// summary of what was skipped comes at the end.
package e2e
