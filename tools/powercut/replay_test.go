package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"homeagent/agent/plugin"
	"homeagent/memory"
	"homeagent/tools/emulator"
	"homeagent/tools/powercut/ledger"
	"homeagent/tools/powercut/stores"
	"homeagent/tools/powercut/writelog"
)

const mib = 1 << 20

// sizes of the made-up card, in MiB from its begin.
const (
	madeSetup, madeSetupSize = 1, 4
	madeData, madeDataSize   = 12, 20
	madeCard                 = 64
)

func shell(t *testing.T, script string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", append([]string{"-euc", script, "sh"}, args...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// madeHouse is a folder with a recorded run: a card on whose data partition a
// house has kept two facts, one after the other, and the writes between.
func madeHouse(t *testing.T, acked ...string) (bench, string) {
	t.Helper()
	for _, p := range []string{"sfdisk", "mkfs.vfat", "mke2fs", "e2fsck", "debugfs", "mcopy"} {
		if _, err := exec.LookPath(p); err != nil {
			t.Skipf("skipped: %s is not installed; tools/setup brings it", p)
		}
	}
	if os.Getuid() != 0 {
		t.Skip("skipped: mounting needs root")
	}
	dir := inMemory(t)
	card := filepath.Join(dir, "card.img")
	shell(t, `truncate -s "$2M" "$1"
printf 'label: dos\nstart=1MiB, size=4MiB, type=c\nstart=5MiB, size=1MiB\nstart=6MiB, size=1MiB\nstart=7MiB, size=57MiB, type=5\nstart=8MiB, size=1MiB\nstart=10MiB, size=1MiB\nstart=12MiB, size=20MiB\n' | sfdisk -q "$1"
truncate -s 4M "$1.setup"; mkfs.vfat "$1.setup" >/dev/null
printf 'llm_key=%s\n' given-key >"$1.txt"; mcopy -i "$1.setup" "$1.txt" ::homeagent.txt; mcopy -i "$1.setup" "$1.txt" ::boot.bin
truncate -s 20M "$1.data"; mke2fs -q -F -b 4096 "$1.data"
dd if="$1.setup" of="$1" bs=1M seek=1 conv=notrunc status=none; dd if="$1.data" of="$1" bs=1M seek=12 conv=notrunc status=none`, card, fmt.Sprint(madeCard))
	layout := filepath.Join(dir, "layout.env")
	if err := os.WriteFile(layout, []byte("DISK_SIGNATURE=48414745\nENV_OFFSET_1=512\nENV_OFFSET_2=4096\nENV_SIZE=512\nSETUP_PART=1\nSLOT_A_PART=2\nSLOT_B_PART=3\nEXTENDED_PART=4\nROOT_A_PART=5\nROOT_B_PART=6\nDATA_PART=7\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	now, err := os.ReadFile(card)
	if err != nil {
		t.Fatal(err)
	}
	must(t, os.WriteFile(filepath.Join(dir, recordedBefore), now, 0o600))
	log, list := newMadeLog(), &bytes.Buffer{}
	l := ledger.New(list)
	note := func(w ledger.Write, at uint64) {
		op, err := l.Tried(w)
		must(t, err)
		must(t, l.Acked(op, w, at))
	}
	note(ledger.Write{Kind: ledger.Given, Name: "llm_key", Value: "given-key"}, 0)
	for _, who := range []string{"Anna", "Bert"} {
		must(t, mounted(t.Context(), card+".data", filepath.Join(dir, "make"), func(top string) error {
			m, _, err := memory.Open(filepath.Join(top, stores.Folder), memory.Options{})
			if err != nil {
				return err
			}
			if err := m.Commit(context.Background(), []plugin.Triple{{Subject: who, Relation: "likes", Object: "tea"}}, "test"); err != nil {
				return err
			}
			return m.Close()
		}))
		data, err := os.ReadFile(card + ".data")
		must(t, err)
		next := append(bytes.Clone(now[:madeData*mib]), append(data, now[(madeData+madeDataSize)*mib:]...)...)
		log.difference(now, next)
		now = next
		if strings.Contains(strings.Join(acked, " "), who) {
			note(ledger.Write{Kind: ledger.Fact, Name: who, Value: "likes tea"}, log.n)
		}
	}
	for _, who := range acked {
		if who != "Anna" && who != "Bert" {
			note(ledger.Write{Kind: ledger.Fact, Name: who, Value: "likes tea"}, log.n)
		}
	}
	must(t, os.WriteFile(filepath.Join(dir, recordedCard), now, 0o600))
	must(t, os.WriteFile(filepath.Join(dir, recordedLog), log.done(), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, recordedList), list.Bytes(), 0o600))
	text, err := os.ReadFile(layout)
	must(t, err)
	parts, err := emulator.ParseLayout(text)
	must(t, err)
	work := inMemory(t)
	return bench{options: options{layout: layout, overlay: "../../overlay", work: work, replayed: 30, seed: 3, recorded: dir}, log: io.Discard, parts: parts}, dir
}

// inMemory is a new folder, in memory where there is such a place: every store
// syncs, and a disk would make this slow.
func inMemory(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "powercut-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// madeLog is a log of writes made of the differences between images.
type madeLog struct {
	bytes.Buffer
	n uint64
}

func newMadeLog() *madeLog {
	l := &madeLog{}
	l.Write(make([]byte, 512))
	return l
}

func (l *madeLog) entry(sector, n, flags uint64, data []byte) {
	var b [512]byte
	for i, v := range []uint64{sector, n, flags} {
		binary.LittleEndian.PutUint64(b[8*i:], v)
	}
	l.Write(b[:])
	l.Write(data)
	l.n++
}

// difference logs what turns one image into another, in the order of the disk,
// and a flush. The order of a file system's own writes is not known here, so
// only the ends are moments at which a cut is fair.
func (l *madeLog) difference(a, b []byte) {
	for at := 0; at < len(b); at += block {
		if !bytes.Equal(a[at:at+block], b[at:at+block]) {
			l.entry(uint64(at/512), block/512, 0, b[at:at+block])
		}
	}
	l.entry(0, 0, writelog.Flush, nil)
}

func (l *madeLog) done() []byte {
	b := l.Bytes()
	for i, v := range []uint64{writelog.Magic, 1, l.n} {
		binary.LittleEndian.PutUint64(b[8*i:], v)
	}
	binary.LittleEndian.PutUint32(b[24:], 512)
	return b
}

// Every moment at a flush is sound, and a fact that was never kept is missed at
// every moment behind its acknowledgement.
func TestReplay(t *testing.T) {
	for _, row := range []struct {
		name  string
		acked []string
		lost  int
	}{
		{"all kept", []string{"Anna", "Bert"}, 0},
		{"one never kept", []string{"Anna", "Nobody"}, 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			b, dir := madeHouse(t, row.acked...)
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			run, err := openRecorded(dir)
			must(t, err)
			defer run.file.Close()
			var said bytes.Buffer
			b.log = &said
			lost, err := replayFlushes(ctx, &b, run)
			if err != nil {
				t.Fatalf("%v\n%s", err, said.String())
			}
			if lost != row.lost {
				t.Errorf("%d lost, want %d\n%s", lost, row.lost, said.String())
			}
		})
	}
}

// replayFlushes replays a run with cuts at its flushes only.
func replayFlushes(ctx context.Context, b *bench, run *recordedRun) (int, error) {
	b.point = func(name string) bool { return strings.HasPrefix(name, "flush") }
	b.replayed = 2
	t, err := b.replay(ctx, run)
	if err == nil && t.cuts != 2 {
		err = fmt.Errorf("%d cuts", t.cuts)
	}
	return t.lost + t.damaged, err
}

func TestDifferences(t *testing.T) {
	before := map[string][]byte{"u-boot.bin": {1}, "start.elf": {2}}
	if d := differences(before, map[string][]byte{"u-boot.bin": {1}, "start.elf": {2}, "more": nil}); len(d) != 0 {
		t.Errorf("%q", d)
	}
	if d := differences(before, map[string][]byte{"u-boot.bin": {9}}); len(d) != 2 {
		t.Errorf("%q", d)
	}
}
