// Package emulator boots an image of HomeAgent in QEMU and lets a program look
// at it from outside. Tests, benchmarks and power cuts stand on it.
//
// A Disk is a card: a private copy of the image, padded to the power of two that
// an emulated Pi asks for. The image itself is never written. While no machine
// runs on it, its FAT partitions can be read and written, U-Boot's environment
// changed, bytes damaged and the card enlarged. The order of things:
//
//	disk, err := emulator.NewDisk("homeagent-rpi3-64-1.img", "card.img", 0)
//	err = disk.WriteFile(disk.Layout.Setup, "homeagent.txt", text)
//	m, err := emulator.Start(ctx, emulator.Config{Board: emulator.Virt, Disk: disk})
//	defer m.Close()
//	match, err := m.Log().Wait(ctx, regexp.MustCompile(`ready at (\S+)`))
//	http.Get("http://" + m.Address(80) + "/")
//	m.Kill()                              // the power is cut
//	m, err = emulator.Start(ctx, ...)     // and comes back, with the same card
//
// Machine is one run of QEMU. Two boards are emulated: Virt, QEMU's own machine
// with a Cortex-A72, two processors and PCI, which has every device the tests
// need; and Pi3, a Raspberry Pi 3 with its SD controller and a USB network
// adapter, single threaded, because the parked processors of a multi-threaded
// one spin. Virt is booted directly: kernel and initial RAM disk are taken out
// of the card's slot. Pi3 starts that way or by the card's own U-Boot, as the
// board's ROM would load it.
//
// The serial console goes into a Log that can be waited on. Ports of the guest
// are forwarded from ports of this computer that QEMU chooses itself, so that
// none is taken twice. A Sound is a sound card that is there from the start, on
// Virt: what is played into it comes out of the guest's microphone, and what the
// guest's speaker says can be read; on a busy computer it loses pieces. The guest
// reaches this computer as 10.0.2.2.
//
// Where time matters, as with sound, Config.Instructions gives the guest a clock
// that goes with its own work: it then never does too little in one of its
// seconds, and what stretches on a busy computer is the second. A sound card that
// loses nothing is the guest's own snd-aloop, both ends of which go by that clock.
//
// Every goroutine of a Machine ends with Close, which also removes what Start
// made. A Machine is safe for concurrent use; a Disk belongs to one goroutine.
// QEMU dies with the thread that started it, so that nothing is left running.
//
// What cannot be seen here: the board's ROM and start.elf (so no tryboot),
// Wi-Fi, real timing, and a card that tears its writes.
package emulator
