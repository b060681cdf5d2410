package emulator

import (
	"fmt"
	"io"
	"strconv"
)

// Board is an emulated machine.
type Board string

const (
	// Virt is QEMU's own machine: a Cortex-A72, two processors, PCI.
	Virt Board = "virt"
	// Pi3 is a Raspberry Pi 3 B: SD card, USB network, 1 GiB, one processor in use.
	Pi3 Board = "raspi3b"
)

// Network says how the guest reaches this computer and the world.
type Network string

const (
	// Forwarded is a network with this computer at 10.0.2.2 and the ports of
	// Config.Forward reachable from here. It is what "" means.
	Forwarded Network = ""
	// Isolated is Forwarded without any way from the guest to the outside or to
	// this computer: no network as far as the guest can tell, but its ports answer.
	Isolated Network = "isolated"
	// NoNetwork is a board without a network device.
	NoNetwork Network = "none"
)

// Config describes one run of a machine. Board and Disk are needed, the rest has
// defaults.
type Config struct {
	Board Board
	Disk  *Disk

	// UBoot starts the card's own U-Boot, which chooses the slot by its
	// environment; only Pi3 can. Else kernel and RAM disk of Slot ("A" if empty)
	// are started directly.
	UBoot bool
	Slot  string
	// Append is added to the kernel's command line of a direct boot.
	Append string
	// Kernel, Initrd and CommandLine replace what the card has, for a card that
	// has none. Kernel alone replaces U-Boot.
	Kernel, Initrd, CommandLine string

	// Memory is the guest's memory in MiB, 1024 if 0. A Pi3 always has 1024; give
	// it "mem=464M" in Append instead.
	Memory int
	// CPUs is 2 if 0; Virt only.
	CPUs int
	// Clock is what the guest's clock shows at the start: "2019-05-01T00:00:00",
	// or "" for the time of now. A Pi3 has no clock and begins in 1970.
	Clock string
	// Instructions, where it is not 0, couples the guest's time to its work: one
	// instruction lasts 2^(Instructions-1) ns of it. The guest is then never too
	// slow for its own clock, however slow this computer is; Virt only.
	Instructions int

	Network Network
	// Forward maps ports of the guest to ports of this computer's loopback; 0 lets
	// QEMU choose, see Machine.Address. Nil forwards 80 and 22 that way.
	Forward map[int]int

	// Sound is the guest's sound card, nil for none; Virt only.
	Sound *Sound
	// Keyboard lets Machine.Type reach the serial console; Virt only. Without a
	// network it is the only way in, with "homeagent.debug" in Append.
	Keyboard bool
	// Watchdog is an i6300esb that resets the guest when it is not fed; Virt only.
	Watchdog bool
	// NoReboot ends the machine where the guest would restart.
	NoReboot bool
	// WriteLog is a file that receives every write to the card in the order the
	// guest made them, in the format of Linux's dm-log-writes, "" for none.
	WriteLog string

	// LogFile keeps the serial log, Echo receives it as it comes; both may be empty.
	LogFile string
	Echo    io.Writer
	// Extra is handed to QEMU as it is.
	Extra []string
}

// descriptors that Start hands to QEMU, as numbers in its process.
const (
	fdMonitor = 3
	fdSerial  = 4 // and the next one on a board with two consoles
)

// guestIP is the guest's address in QEMU's network.
const guestIP = "10.0.2.15"

// boot is what is started, with files of this computer.
type boot struct {
	kernel, initrd, dtb, commandLine string
}

// defaulted checks a Config and fills in what is missing.
func (c Config) defaulted() (Config, error) {
	switch c.Board {
	case Virt, Pi3:
	default:
		return c, fmt.Errorf("board %q is not emulated, only %s and %s", c.Board, Virt, Pi3)
	}
	if c.Disk == nil {
		return c, fmt.Errorf("a card is needed")
	}
	if c.Board == Pi3 && (c.Sound != nil || c.Keyboard || c.Watchdog || c.Instructions != 0 || c.CPUs != 0 || c.Memory != 0) {
		return c, fmt.Errorf("%s has no sound card, no serial input, no watchdog of its own and a fixed memory", Pi3)
	}
	if c.Board == Virt && c.UBoot {
		return c, fmt.Errorf("%s starts a kernel directly: the card's U-Boot is for a Raspberry Pi", Virt)
	}
	if c.Slot == "" {
		c.Slot = "A"
	}
	if c.Memory == 0 {
		c.Memory = 1024
	}
	if c.CPUs == 0 {
		c.CPUs = 2
	}
	if c.Forward == nil {
		c.Forward = map[int]int{80: 0, 22: 0}
	}
	return c, nil
}

// console is the device that the kernel of the board calls its serial console.
func (b Board) console() string {
	if b == Pi3 {
		return "ttyAMA0,115200"
	}
	return "ttyAMA0"
}

// serials is how many serial lines the board has; a Pi's U-Boot may use the second.
func (b Board) serials() int {
	if b == Pi3 {
		return 2
	}
	return 1
}

// typedInto tells whether what is typed goes into a serial line.
func (c Config) typedInto(line int) bool { return c.Keyboard && line == 0 }

// arguments is QEMU's command line for a checked Config.
func (c Config) arguments(b boot) []string {
	args := []string{"-nodefaults", "-display", "none", "-no-user-config",
		"-chardev", "socket,id=qmp,fd=" + strconv.Itoa(fdMonitor), "-mon", "chardev=qmp,mode=control"}
	for i := range c.Board.serials() {
		id := "serial" + strconv.Itoa(i)
		console := fmt.Sprintf("file,id=%s,path=/dev/fd/%d", id, fdSerial+i)
		if c.typedInto(i) {
			console = fmt.Sprintf("socket,id=%s,fd=%d", id, fdSerial+i)
		}
		args = append(args, "-chardev", console, "-serial", "chardev:"+id)
	}
	card := "sd"
	if c.Board == Pi3 {
		// One thread for all processors: idle ones would spin in threads of their own.
		args = append(args, "-M", "raspi3b", "-accel", "tcg,thread=single")
	} else {
		card = "virtio"
		args = append(args, "-M", "virt", "-cpu", "cortex-a72", "-smp", strconv.Itoa(c.CPUs), "-m", strconv.Itoa(c.Memory))
	}
	if c.Instructions != 0 {
		args = append(args, "-icount", fmt.Sprintf("shift=%d,sleep=on", c.Instructions-1))
	}
	if c.Clock != "" {
		args = append(args, "-rtc", "base="+c.Clock)
	}
	args = append(args, "-kernel", b.kernel)
	if b.initrd != "" {
		args = append(args, "-initrd", b.initrd)
	}
	if b.dtb != "" {
		args = append(args, "-dtb", b.dtb)
	}
	if b.commandLine != "" {
		args = append(args, "-append", b.commandLine)
	}
	if c.WriteLog != "" {
		args = append(args, "-drive", fmt.Sprintf("if=%s,driver=blklogwrites,file.driver=file,file.filename=%s,log.driver=file,log.filename=%s",
			card, c.Disk.Path, c.WriteLog))
	} else {
		args = append(args, "-drive", fmt.Sprintf("if=%s,format=raw,file=%s", card, c.Disk.Path))
	}
	args = append(args, c.networkArguments()...)
	if c.Sound != nil {
		args = append(args, c.Sound.arguments()...)
	}
	if c.Watchdog {
		args = append(args, "-device", "i6300esb", "-action", "watchdog=reset")
	}
	if c.NoReboot {
		args = append(args, "-no-reboot")
	}
	return append(args, c.Extra...)
}

func (c Config) networkArguments() []string {
	if c.Network == NoNetwork {
		return []string{"-nic", "none"}
	}
	net := "user,id=net0"
	if c.Network == Isolated {
		net += ",restrict=on"
	}
	for _, guest := range sortedPorts(c.Forward) {
		net += fmt.Sprintf(",hostfwd=tcp:127.0.0.1:%d-%s:%d", c.Forward[guest], guestIP, guest)
	}
	device := "virtio-net-pci,netdev=net0"
	if c.Board == Pi3 {
		device = "usb-net,netdev=net0"
	}
	return []string{"-netdev", net, "-device", device}
}
