package emulator

import (
	"bufio"
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Layout is where things lie on a card, as board/common/layout.env says.
type Layout struct {
	// Signature is the MBR's disk signature, eight hexadecimal digits; the kernel
	// finds its root by it.
	Signature string
	// Setup, SlotA, SlotB, RootA, RootB and Data are partition numbers.
	Setup, SlotA, SlotB, RootA, RootB, Data int
	// Environment are the byte offsets of U-Boot's two copies, EnvironmentSize the
	// size of each.
	Environment     [2]int64
	EnvironmentSize int
}

// ParseLayout reads the text of layout.env: KEY=VALUE lines, as a shell would,
// without its expansions. Unknown keys are left alone: the file has more readers.
func ParseLayout(text []byte) (Layout, error) {
	var l Layout
	ints := map[string]*int{
		"SETUP_PART": &l.Setup, "SLOT_A_PART": &l.SlotA, "SLOT_B_PART": &l.SlotB,
		"ROOT_A_PART": &l.RootA, "ROOT_B_PART": &l.RootB, "DATA_PART": &l.Data,
		"ENV_SIZE": &l.EnvironmentSize,
	}
	offsets := map[string]*int64{"ENV_OFFSET_1": &l.Environment[0], "ENV_OFFSET_2": &l.Environment[1]}
	seen := map[string]bool{}
	for in := bufio.NewScanner(bytes.NewReader(text)); in.Scan(); {
		line, _, _ := strings.Cut(in.Text(), "#")
		key, value, ok := strings.Cut(strings.TrimSpace(line), "=")
		if !ok {
			continue
		}
		value = strings.Trim(value, `"'`)
		var err error
		switch {
		case key == "DISK_SIGNATURE":
			l.Signature = strings.TrimPrefix(strings.ToLower(value), "0x")
			_, err = strconv.ParseUint(l.Signature, 16, 32)
		case ints[key] != nil:
			*ints[key], err = strconv.Atoi(value)
		case offsets[key] != nil:
			*offsets[key], err = strconv.ParseInt(value, 10, 64)
		default:
			continue
		}
		if err != nil {
			return Layout{}, fmt.Errorf("layout: %s: %w", key, err)
		}
		seen[key] = true
	}
	for key := range ints {
		if !seen[key] {
			return Layout{}, fmt.Errorf("layout: %s is missing", key)
		}
	}
	for _, key := range []string{"DISK_SIGNATURE", "ENV_OFFSET_1", "ENV_OFFSET_2"} {
		if !seen[key] {
			return Layout{}, fmt.Errorf("layout: %s is missing", key)
		}
	}
	if l.EnvironmentSize < 16 || l.EnvironmentSize > 1<<20 || l.Environment[0] < 512 || l.Environment[1] < 512 {
		return Layout{}, fmt.Errorf("layout: an environment of %d bytes at %v cannot be", l.EnvironmentSize, l.Environment)
	}
	return l, nil
}

// Slot is the boot partition and the root partition of slot "A" or "B".
func (l Layout) Slot(name string) (boot, root int, err error) {
	switch name {
	case "A":
		return l.SlotA, l.RootA, nil
	case "B":
		return l.SlotB, l.RootB, nil
	}
	return 0, 0, fmt.Errorf("there is no slot %q, only A and B", name)
}

// CommandLine is the kernel's command line that the boot script of a slot makes,
// with the console of the emulated board.
func (l Layout) CommandLine(slot, console string) (string, error) {
	_, root, err := l.Slot(slot)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("console=%s root=PARTUUID=%s-%02x ro rootwait homeagent.slot=%s quiet", console, l.Signature, root, slot), nil
}

var (
	bootArguments = regexp.MustCompile(`(?m)^setenv bootargs "([^"\n]*)"`)
	consoleOption = regexp.MustCompile(`\bconsole=\S+`)
	scriptOption  = regexp.MustCompile(`\$\{\w+\}`)
)

// loaderCommandLine reads the command line out of a slot's U-Boot script, with
// the variables that U-Boot would have, or takes the text of a cmdline.txt. The
// console is the emulated board's.
func (l Layout) loaderCommandLine(text, slot, console string) (string, error) {
	_, root, err := l.Slot(slot)
	if err != nil {
		return "", err
	}
	if m := bootArguments.FindStringSubmatch(text); m != nil {
		text = m[1]
	} else if strings.Contains(text, "\x00") {
		return "", fmt.Errorf("slot %s: its boot script sets no bootargs", slot)
	}
	text = strings.NewReplacer("${rp}", strconv.Itoa(root), "${try}", slot).Replace(text)
	text = scriptOption.ReplaceAllString(text, "")
	text = consoleOption.ReplaceAllString(text, "console="+console)
	return strings.Join(strings.Fields(text), " "), nil
}
