package supervisor

import "testing"

func TestLimitsByTheMachinesMemory(t *testing.T) {
	tests := []struct {
		name, meminfo string
		mib           int
		want          limits
	}{
		{"512 MB board", "MemTotal:         437952 kB\nMemFree:  1 kB\n", 427, limits{agent: 96, door: 24, homed: 16, small: true}},
		{"512 MB board with little for graphics", "MemTotal:         475136 kB\n", 464, limits{agent: 96, door: 24, homed: 16, small: true}},
		{"1 GB board", "MemTotal:         930000 kB\n", 908, limits{agent: 160, door: 32}},
		{"8 GB board", "MemTotal:        8000000 kB\n", 7812, limits{agent: 160, door: 32}},
		{"not the first line", "MemFree: 12 kB\nMemTotal: 437952 kB\n", 427, limits{agent: 96, door: 24, homed: 16, small: true}},
		{"empty", "", 0, limits{agent: 160, door: 32}},
		{"garbage", "MemTotal: lots\nMemTotal:\n", 0, limits{agent: 160, door: 32}},
		{"another unit", "MemTotal: 5 MB\n", 0, limits{agent: 160, door: 32}},
		{"far too much", "MemTotal: 99999999999999999999 kB\n", 0, limits{agent: 160, door: 32}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			mib := memTotal([]byte(tt.meminfo))
			if mib != tt.mib {
				t.Errorf("%d MiB, want %d", mib, tt.mib)
			}
			if got := limitsFor(mib); got != tt.want {
				t.Errorf("limits %+v, want %+v", got, tt.want)
			}
		})
	}
	if goMemLimit(96) != "GOMEMLIMIT=96MiB" {
		t.Error(goMemLimit(96))
	}
	if machineMemory() == 0 {
		t.Error("this machine tells no memory")
	}
}

func FuzzMemTotal(f *testing.F) {
	f.Add([]byte("MemTotal:         437952 kB\n"))
	f.Add([]byte("MemTotal:\n\xff"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if n := memTotal(text); n < 0 {
			t.Fatalf("%d MiB", n)
		}
	})
}
