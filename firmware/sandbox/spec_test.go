package sandbox

import (
	"reflect"
	"testing"

	"homeagent/firmware/words"
)

func TestCheck(t *testing.T) {
	good := func() Spec {
		return Spec{Program: "x", UID: 1, GID: 1, Devices: []string{"/dev/snd"},
			View: []Mount{{Kind: Dev, Target: "/dev"}, {Source: "/a", Target: "/a"}}}
	}
	tests := []struct {
		name  string
		spoil func(s *Spec)
	}{
		{"no program", func(s *Spec) { s.Program = "" }},
		{"zero byte in the program", func(s *Spec) { s.Program = "a\x00b" }},
		{"zero byte in an argument", func(s *Spec) { s.Args = []string{"a\x00b"} }},
		{"zero byte in the environment", func(s *Spec) { s.Env = []string{"A=\x00"} }},
		{"root", func(s *Spec) { s.UID = 0 }},
		{"root's group", func(s *Spec) { s.GID = 0 }},
		{"root among the groups", func(s *Spec) { s.Groups = []int{5, 0} }},
		{"no user", func(s *Spec) { s.UID = -1 }},
		{"the user that means none", func(s *Spec) { s.UID = 1<<32 - 1 }},
		{"negative limit", func(s *Spec) { s.Limits.Output = -1 }},
		{"too little memory", func(s *Spec) { s.Limits.Memory, s.Cgroup = 1<<20, "/sys/fs/cgroup/x" }},
		{"memory without a group", func(s *Spec) { s.Limits.Memory = 64 << 20 }},
		{"processor without a group", func(s *Spec) { s.Limits.CPU = 50 }},
		{"score", func(s *Spec) { s.OOMScore = 1001 }},
		{"relative target", func(s *Spec) { s.View[1].Target = "a" }},
		{"target above", func(s *Spec) { s.View[1].Target = "/a/../b" }},
		{"the root as a target", func(s *Spec) { s.View[1].Target = "/" }},
		{"relative source", func(s *Spec) { s.View[1].Source = "a" }},
		{"tmpfs without a size", func(s *Spec) { s.View[1] = Mount{Kind: Tmpfs, Target: "/t"} }},
		{"link to nothing", func(s *Spec) { s.View[1] = Mount{Kind: Link, Target: "/t"} }},
		{"another kind", func(s *Spec) { s.View[1].Kind = 99 }},
		{"dev elsewhere", func(s *Spec) { s.View[0].Target = "/device" }},
		{"device outside of dev", func(s *Spec) { s.Devices = []string{"/etc/shadow"} }},
		{"device by a way round", func(s *Spec) { s.Devices = []string{"/dev/../etc/shadow"} }},
		{"the machine's terminals", func(s *Spec) { s.Devices = []string{"/dev/pts/0"} }},
		{"devices without dev", func(s *Spec) { s.View = s.View[1:] }},
	}
	s := good()
	if err := s.check(); err != nil {
		t.Fatal(err)
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := good()
			tt.spoil(&s)
			err := s.check()
			if err == nil {
				t.Fatal("accepted")
			}
			if words.In(err, words.Chinese) == err.Error() {
				t.Errorf("no words: %v", err)
			}
		})
	}
}

func TestGroupValues(t *testing.T) {
	got := groupValues(Limits{Memory: 100 << 20, PIDs: 50, CPU: 150})
	want := map[string]string{"memory.max": "113246208", "memory.swap.max": "0", "pids.max": "66", "cpu.max": "150000 100000"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v", got)
	}
	if got := groupValues(Limits{}); len(got) > 0 {
		t.Errorf("no limits: %v", got)
	}
}

func TestPrepareCgroupElsewhere(t *testing.T) {
	dir := t.TempDir()
	if _, err := PrepareCgroup(dir, "x"); err == nil || words.In(err, words.Chinese) == err.Error() {
		t.Errorf("a folder that is no control group: %v", err)
	}
}

func TestPidOf(t *testing.T) {
	for info, want := range map[string]int{"pos:\t0\nPid:\t12\nNSpid:\t12\t5\n": 12, "Pid:\t-1\n": -1, "": 0, "Pid:\tx\n": 0} {
		if got := pidOf(info); got != want {
			t.Errorf("%q: %d", info, got)
		}
	}
}
