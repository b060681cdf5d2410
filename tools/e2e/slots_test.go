//go:build e2e

package e2e

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"

	"homeagent/tools/emulator"
)

// TestPi boots the card on an emulated Raspberry Pi 3 by its own U-Boot.
func TestPi(t *testing.T) {
	t.Run("slot A", func(t *testing.T) {
		b := newBox(t, emulator.Config{Board: emulator.Pi3, Disk: card(t, 0), UBoot: true})
		b.start()
		b.answers()
		b.claim()
		b.ready()
		b.runsFrom("A")
	})
	t.Run("the kernel alone", func(t *testing.T) {
		// As tools start it that have no use for U-Boot; the command line is the slot's own.
		b := newBox(t, emulator.Config{Board: emulator.Pi3, Disk: card(t, 0)})
		b.start()
		b.answers()
		b.runsFrom("A")
	})
	t.Run("slot B", func(t *testing.T) {
		disk := card(t, 0)
		if err := disk.SetEnvironment(map[string]string{"slot": "B"}); err != nil {
			t.Fatal(err)
		}
		b := newBox(t, emulator.Config{Board: emulator.Pi3, Disk: disk, UBoot: true})
		b.start()
		b.answers()
		b.runsFrom("B")
	})
	t.Run("a trial of a broken slot B ends in slot A", failedTrial)
}

// runsFrom checks by which slot the box runs.
func (b *box) runsFrom(slot string) {
	b.t.Helper()
	b.sshIsUp()
	line := b.run("cat /proc/cmdline")
	if !strings.Contains(line, "homeagent.slot="+slot) {
		b.t.Errorf("slot %s was asked for, the kernel's command line is %q", slot, line)
	}
	_, root, err := b.disk.Layout.Slot(slot)
	if err != nil {
		b.t.Fatal(err)
	}
	if mounts := b.run("cat /proc/self/mountinfo | awk '$5==\"/\"{for(i=6;i<NF;i++) if($i==\"-\") print $(i+2)}'"); !strings.HasSuffix(mounts, "p"+string(rune('0'+root))) {
		b.t.Errorf("slot %s: the root is %q", slot, mounts)
	}
}

// failedTrial lets U-Boot try a slot whose root is damaged.
func failedTrial(t *testing.T) {
	disk := card(t, 0)
	if err := disk.Overwrite(disk.Layout.RootB, 0, make([]byte, 4096)); err != nil {
		t.Fatal(err)
	}
	if err := disk.SetEnvironment(map[string]string{"slot": "B", "upgrade_available": "1", "bootcount": "0", "trial_failed": "0"}); err != nil {
		t.Fatal(err)
	}
	b := newBox(t, emulator.Config{Board: emulator.Pi3, Disk: disk, UBoot: true})
	b.start()
	ctx, cancel := context.WithTimeout(t.Context(), bootWait)
	defer cancel()
	if _, err := b.m.Log().Wait(ctx, regexp.MustCompile(`homeagent: slot A of`)); err != nil {
		t.Fatal(err)
	}
	if tries := strings.Count(b.m.Log().String(), "homeagent: slot B of"); tries != 3 {
		t.Errorf("slot B was tried %d times, want 3", tries)
	}
	b.answers()
	b.runsFrom("A")
	b.m.Kill()
	vars, err := disk.Environment()
	if err != nil && !errors.Is(err, emulator.ErrNoEnvironment) {
		t.Fatal(err)
	}
	if vars["slot"] != "A" || vars["trial_failed"] != "1" || vars["upgrade_available"] == "1" {
		t.Errorf("the environment afterwards: %v", vars)
	}
}
