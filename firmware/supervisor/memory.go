package supervisor

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
)

// smallBoard is where a machine stops being short of memory, in MiB: a board
// sold with 512 MB has some 420 to 480 left of it, one with 1 GB some 900.
const smallBoard = 700

// limits are the soft limits of the processes' heaps, in MiB; 0 sets none.
type limits struct {
	agent, door, homed int
	// small has the speech engines leave early and load one after the other.
	small bool
}

// limitsFor chooses by the machine's memory in MiB; 0 is a machine that did not tell.
func limitsFor(mib int) limits {
	if mib > 0 && mib < smallBoard {
		return limits{agent: 96, door: 24, homed: 16, small: true}
	}
	return limits{agent: 160, door: 32}
}

// goMemLimit is the variable of the environment for a limit.
func goMemLimit(mib int) string { return fmt.Sprintf("GOMEMLIMIT=%dMiB", mib) }

// memTotal reads the machine's memory in MiB, 0 if the text does not tell.
func memTotal(meminfo []byte) int {
	for line := range bytes.Lines(meminfo) {
		f := bytes.Fields(line)
		if len(f) >= 2 && string(f[0]) == "MemTotal:" {
			kib, err := strconv.ParseUint(string(f[1]), 10, 40)
			if err != nil || len(f) > 2 && string(f[2]) != "kB" {
				return 0
			}
			return int(kib >> 10)
		}
	}
	return 0
}

// machineMemory is that of this machine.
func machineMemory() int {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	return memTotal(text)
}
