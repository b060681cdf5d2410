package main

import (
	"strings"
	"testing"
)

const sample = `[    0.000000] Memory: 417228K/475136K available (19328K kernel code, 4726K rwdata, 14608K rodata, 11392K init, 1040K bss, 55860K reserved, 0K cma-reserved)
MemTotal:         436512 kB
MemFree:          300000 kB
MemAvailable:     350000 kB
HugePages_Total:       0
process 5600 /usr/bin/homed -data /var/lib/homeagent -listen :80
process 9100 /usr/bin/homed-agent
process 6300 /usr/bin/homed door
process 90000 /usr/bin/homed-agent engines -models /usr/share
process 120 /bin/sh /usr/lib/homeagent/run-homed
process 471 sh -c dmesg | grep -m1 'Memory: .*available'; cat /proc/meminfo
process 300 homed boot -setup /setup
`

func TestParseUsage(t *testing.T) {
	u, err := parseUsage(sample)
	if err != nil {
		t.Fatal(err)
	}
	if u.given != 475136 || u.used() != 125136 || len(u.procs) != 7 || u.procs[0].pss != 90000 {
		t.Errorf("%+v", u)
	}
	got := map[string]string{}
	for _, p := range u.procs {
		got[p.command[:min(len(p.command), 24)]] = p.name()
	}
	for command, want := range map[string]string{"/usr/bin/homed -data /va": "supervisor", "/usr/bin/homed-agent": "agent", "/usr/bin/homed door": "door",
		"/usr/bin/homed-agent eng": "engines", "/bin/sh /usr/lib/homeage": "", "homed boot -setup /setup": ""} {
		if name, ok := got[command]; !ok || name != want {
			t.Errorf("%q is %q, want %q", command, name, want)
		}
	}
	for _, bad := range []string{"", "MemTotal: 3 kB\n", strings.Replace(sample, "417228K/475136K", "much", 1), strings.Replace(sample, "process 5600", "process x", 1)} {
		if _, err := parseUsage(bad); err == nil {
			t.Errorf("%.40q was taken", bad)
		}
	}
}

func FuzzParseUsage(f *testing.F) {
	f.Add(sample)
	f.Add("Memory: 1K/2K available\nMemAvailable: 1 kB\nprocess 1\n")
	f.Fuzz(func(t *testing.T, text string) {
		u, err := parseUsage(text)
		if err != nil {
			return
		}
		for _, p := range u.procs {
			p.name()
		}
	})
}

func TestCopyTakesLinesOnly(t *testing.T) {
	var out strings.Builder
	r := newReport(&out)
	if err := r.Copy([]byte(`{"name":"image.download_mb","value":90.5,"unit":"MB","n":1}` + "\n")); err != nil || !strings.Contains(out.String(), "90.5") {
		t.Errorf("%q, %v", out.String(), err)
	}
	if err := r.Copy([]byte("no\n")); err == nil {
		t.Error("noise was printed")
	}
}
