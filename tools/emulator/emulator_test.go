package emulator

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func layout(t testing.TB) Layout {
	t.Helper()
	text, err := os.ReadFile("../../board/common/layout.env")
	if err != nil {
		t.Fatal(err)
	}
	l, err := ParseLayout(text)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestLayout(t *testing.T) {
	good := "DISK_SIGNATURE=0x48414745\nENV_OFFSET_1=1048576 # raw\nENV_OFFSET_2='2097152'\nENV_SIZE=16384\nSETUP_PART=1\n" +
		"SLOT_A_PART=2\nSLOT_B_PART=3\nROOT_A_PART=5\nROOT_B_PART=6\nDATA_PART=7\nOTHER=word\n"
	for _, row := range []struct{ name, text, wrong string }{
		{"whole", good, ""},
		{"a key is missing", strings.Replace(good, "DATA_PART=7", "", 1), "DATA_PART is missing"},
		{"no number", strings.Replace(good, "DATA_PART=7", "DATA_PART=seven", 1), "DATA_PART"},
		{"no environment", strings.Replace(good, "ENV_SIZE=16384", "ENV_SIZE=0", 1), "cannot be"},
		{"empty", "", "missing"},
	} {
		t.Run(row.name, func(t *testing.T) {
			l, err := ParseLayout([]byte(row.text))
			if row.wrong != "" {
				if err == nil || !strings.Contains(err.Error(), row.wrong) {
					t.Fatalf("error %v, want %q in it", err, row.wrong)
				}
				return
			}
			if err != nil || l.Signature != "48414745" || l.RootB != 6 || l.Environment != [2]int64{1 << 20, 2 << 20} {
				t.Errorf("%+v, %v", l, err)
			}
		})
	}
	layout(t) // the project's own
}

func TestLoaderCommandLine(t *testing.T) {
	l := layout(t)
	for _, row := range []struct{ name, text, want string }{
		{"a boot script", "\x27\x05\x19\x56\x00\x00setenv extra\nsetenv bootargs \"console=ttyS1,115200 root=PARTUUID=48414745-0${rp} ro homeagent.slot=${try} quiet panic=10 ${extra}\"\nbooti\n",
			"console=ttyAMA0 root=PARTUUID=48414745-06 ro homeagent.slot=B quiet panic=10"},
		{"a line of its own", "console=ttyAMA10 root=PARTUUID=48414745-06 ro homeagent.slot=B\n", "console=ttyAMA0 root=PARTUUID=48414745-06 ro homeagent.slot=B"},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got, err := l.loaderCommandLine(row.text, "B", "ttyAMA0"); err != nil || got != row.want {
				t.Errorf("%q, %v; want %q", got, err, row.want)
			}
		})
	}
	if got, err := l.CommandLine("A", "ttyAMA0"); err != nil || !strings.Contains(got, "root=PARTUUID=48414745-05 ro") {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := l.CommandLine("C", "ttyAMA0"); err == nil {
		t.Error("there is a slot C")
	}
}

// table is a disk with a primary, an extended and two logical partitions.
func table() []byte {
	disk := make([]byte, 8192*sector)
	entry := func(at, i int, kind byte, start, count uint32) {
		e := disk[at*sector+446+16*i:]
		e[4] = kind
		binary.LittleEndian.PutUint32(e[8:], start)
		binary.LittleEndian.PutUint32(e[12:], count)
		disk[at*sector+510], disk[at*sector+511] = 0x55, 0xaa
	}
	entry(0, 0, 0x0c, 2048, 1024)
	entry(0, 3, typeExtended2, 4096, 4096)
	entry(4096, 0, 0x83, 64, 1000)
	entry(4096, 1, typeExtended, 2048, 1100)
	entry(4096+2048, 0, 0x83, 64, 1000)
	return disk
}

func TestPartitions(t *testing.T) {
	all, err := ReadPartitions(bytes.NewReader(table()))
	want := []Partition{{1, 0x0c, 2048 * sector, 1024 * sector}, {4, typeExtended2, 4096 * sector, 4096 * sector},
		{5, 0x83, (4096 + 64) * sector, 1000 * sector}, {6, 0x83, (4096 + 2048 + 64) * sector, 1000 * sector}}
	if err != nil || !slices.Equal(all, want) {
		t.Errorf("%+v, %v; want %+v", all, err, want)
	}
	circle := table()
	binary.LittleEndian.PutUint32(circle[(4096+2048)*sector+446+16+8:], 2048)
	circle[(4096+2048)*sector+446+16+4] = typeExtended
	if _, err := ReadPartitions(bytes.NewReader(circle)); err == nil || !strings.Contains(err.Error(), "does not end") {
		t.Errorf("a chain in a circle gives %v", err)
	}
	if _, err := ReadPartitions(bytes.NewReader(make([]byte, sector))); !errors.Is(err, ErrNoTable) {
		t.Errorf("an empty disk gives %v", err)
	}
}

func TestRemoveLast(t *testing.T) {
	d := &Disk{Path: filepath.Join(t.TempDir(), "card")}
	if err := os.WriteFile(d.Path, table(), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, number := range []int{1, 4, 5, 7} {
		if err := d.RemoveLast(number); err == nil {
			t.Errorf("partition %d was removed", number)
		}
	}
	before, err := d.Partitions()
	if err != nil {
		t.Fatal(err)
	}
	if err := d.RemoveLast(6); err != nil {
		t.Fatal(err)
	}
	if after, err := d.Partitions(); err != nil || !slices.Equal(after, before[:len(before)-1]) {
		t.Errorf("%v became %v, %v", before, after, err)
	}
	if err := d.RemoveLast(5); err == nil {
		t.Error("the only one was removed")
	}
}

func FuzzPartitions(f *testing.F) {
	f.Add(table()[:4097*sector])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		all, err := ReadPartitions(bytes.NewReader(b))
		if err == nil && len(all) > 4+maxPartitions {
			t.Errorf("%d partitions", len(all))
		}
	})
}

func TestEnvironment(t *testing.T) {
	vars := map[string]string{"slot": "B", "bootcount": "2", "upgrade_available": "1"}
	b, err := FormatEnvironment(vars, 7, 256)
	if err != nil {
		t.Fatal(err)
	}
	got, counter, err := ParseEnvironment(b)
	if err != nil || counter != 7 || !maps.Equal(got, vars) {
		t.Errorf("%v %d %v", got, counter, err)
	}
	b[20] ^= 1
	if _, _, err := ParseEnvironment(b); !errors.Is(err, ErrNoEnvironment) {
		t.Errorf("a torn copy gives %v", err)
	}
	if _, err := FormatEnvironment(map[string]string{"a=b": ""}, 0, 256); err == nil {
		t.Error("a name with = was taken")
	}
	if _, err := FormatEnvironment(vars, 0, 32); err == nil {
		t.Error("too much was taken")
	}
}

func FuzzEnvironment(f *testing.F) {
	seed, err := FormatEnvironment(map[string]string{"slot": "A"}, 1, 64)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(seed)
	f.Fuzz(func(t *testing.T, b []byte) {
		vars, counter, err := ParseEnvironment(b)
		if err != nil {
			return
		}
		again, err := FormatEnvironment(vars, counter, max(len(b), 1<<16))
		if err != nil {
			t.Fatalf("%q: %v", vars, err)
		}
		back, c, err := ParseEnvironment(again)
		if err != nil || c != counter || !maps.Equal(back, vars) {
			t.Errorf("%q came back as %q: %v", vars, back, err)
		}
	})
}

// card is a Disk of plain bytes: the project's environment offsets, no partitions.
func card(t testing.TB) *Disk {
	t.Helper()
	path := filepath.Join(t.TempDir(), "image")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 3<<20); err != nil {
		t.Fatal(err)
	}
	d, err := NewDisk(path, filepath.Join(t.TempDir(), "card"), layout(t), 0)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestDisk(t *testing.T) {
	d := card(t)
	size := func() int64 {
		info, err := os.Stat(d.Path)
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	if size() != 4<<20 {
		t.Errorf("3 MiB became %d bytes, not a power of two", size())
	}
	if err := d.Grow(5 << 20); err != nil || size() != 8<<20 {
		t.Errorf("grown to %d: %v", size(), err)
	}
	if err := d.Grow(1); err != nil || size() != 8<<20 {
		t.Errorf("it has shrunk to %d: %v", size(), err)
	}
	if _, err := d.Environment(); !errors.Is(err, ErrNoEnvironment) {
		t.Errorf("no environment gives %v", err)
	}
	if err := d.SetEnvironment(map[string]string{"slot": "B", "bootcount": "1"}); err != nil {
		t.Fatal(err)
	}
	if err := d.SetEnvironment(map[string]string{"bootcount": ""}); err != nil {
		t.Fatal(err)
	}
	// One copy may be torn: the other one counts.
	if err := d.at(d.Layout.Environment[1]+9, []byte("torn"), true); err != nil {
		t.Fatal(err)
	}
	if vars, err := d.Environment(); err != nil || !maps.Equal(vars, map[string]string{"slot": "B"}) {
		t.Errorf("%v, %v", vars, err)
	}
	if _, err := d.Partition(1); !errors.Is(err, ErrNoTable) {
		t.Errorf("no table gives %v", err)
	}
	other, err := d.Clone(filepath.Join(t.TempDir(), "clone"))
	if err != nil {
		t.Fatal(err)
	}
	if vars, err := other.Environment(); err != nil || vars["slot"] != "B" {
		t.Errorf("the clone has %v, %v", vars, err)
	}
}

// TestFAT writes to and reads from a partition with mtools.
func TestFAT(t *testing.T) {
	for _, tool := range []string{"mcopy", "mkfs.vfat"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("skipped: %s is not installed; tools/setup brings it", tool)
		}
	}
	d := &Disk{Path: filepath.Join(t.TempDir(), "card"), Layout: layout(t)}
	fat := filepath.Join(t.TempDir(), "fat")
	if err := os.WriteFile(fat, make([]byte, 1024*sector), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("mkfs.vfat", fat).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	content, err := os.ReadFile(fat)
	if err != nil {
		t.Fatal(err)
	}
	disk := table()
	copy(disk[2048*sector:], content)
	if err := os.WriteFile(d.Path, disk, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	if err := d.WriteFile(ctx, 1, "homeagent.txt", []byte("one")); err != nil {
		t.Fatal(err)
	}
	if err := d.WriteFile(ctx, 1, "homeagent.txt", []byte("two")); err != nil {
		t.Fatal(err)
	}
	if got, err := d.ReadFile(ctx, 1, "homeagent.txt"); err != nil || string(got) != "two" {
		t.Errorf("%q, %v", got, err)
	}
	if names, err := d.ListFiles(ctx, 1); err != nil || !slices.Equal(names, []string{"homeagent.txt"}) {
		t.Errorf("%q, %v", names, err)
	}
	if err := d.RemoveFile(ctx, 1, "homeagent.txt"); err != nil {
		t.Error(err)
	}
	if _, err := d.ReadFile(ctx, 1, "homeagent.txt"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that is gone gives %v", err)
	}
	if err := d.Overwrite(1, 1024*sector-1, []byte("xx")); err == nil {
		t.Error("bytes behind the partition were written")
	}
}

func TestBootFiles(t *testing.T) {
	kernel, initrd, err := bootFiles([]string{"boot.scr", "Image.gz", "initrd.img", "bcm2837-rpi-3-b.dtb"})
	if err != nil || kernel != "Image.gz" || initrd != "initrd.img" {
		t.Errorf("%q, %q, %v", kernel, initrd, err)
	}
	if _, _, err := bootFiles([]string{"initrd.img"}); err == nil {
		t.Error("a slot without a kernel was taken")
	}
}

func TestTypeWithoutKeyboard(t *testing.T) {
	if err := (&Machine{}).Type("echo"); err == nil {
		t.Error("a machine without a keyboard takes what is typed")
	}
}

// TestSocketPair: what one end writes the other reads, and deadlines work on ours.
func TestSocketPair(t *testing.T) {
	ours, theirs, err := socketPair("test")
	if err != nil {
		t.Fatal(err)
	}
	defer ours.Close()
	if err := (&Machine{keyboard: ours}).Type("echo hello"); err != nil {
		t.Error(err)
	}
	buf := make([]byte, 64)
	if n, err := theirs.Read(buf); err != nil || string(buf[:n]) != "echo hello\n" {
		t.Errorf("%q, %v", buf[:n], err)
	}
	theirs.Close()
	if n, err := ours.Read(buf); err == nil {
		t.Errorf("after the end: %q", buf[:n])
	}
}

func TestArguments(t *testing.T) {
	d := &Disk{Path: "card.img"}
	b := boot{kernel: "Image", initrd: "initrd", dtb: "", commandLine: "quiet"}
	for _, row := range []struct {
		name     string
		c        Config
		has, not []string
		refused  string
	}{
		{"virt", Config{Board: Virt, Disk: d, Watchdog: true, Clock: "2019-05-01T00:00:00"},
			[]string{"-M virt -cpu cortex-a72 -smp 2 -m 1024", "-kernel Image -initrd initrd -append quiet", "if=virtio,format=raw,file=card.img",
				"hostfwd=tcp:127.0.0.1:0-10.0.2.15:22,hostfwd=tcp:127.0.0.1:0-10.0.2.15:80", "virtio-net-pci", "-device i6300esb", "-rtc base=2019-05-01T00:00:00"},
			[]string{"hda", "no-reboot", "serial1", "icount"}, ""},
		{"a Pi 3", Config{Board: Pi3, Disk: d, UBoot: true, NoReboot: true, Forward: map[int]int{80: 8080}},
			[]string{"-M raspi3b -accel tcg,thread=single", "if=sd,format=raw", "127.0.0.1:8080-10.0.2.15:80", "usb-net", "-no-reboot", "path=/dev/fd/5 -serial chardev:serial1"},
			[]string{"-smp", "-m "}, ""},
		{"no network", Config{Board: Virt, Disk: d, Network: NoNetwork}, []string{"-nic none"}, []string{"hostfwd"}, ""},
		{"cut off", Config{Board: Virt, Disk: d, Network: Isolated}, []string{"restrict=on,hostfwd"}, nil, ""},
		{"sound", Config{Board: Virt, Disk: d, Sound: &Sound{dir: "/s"}},
			[]string{"-audiodev alsa,id=sound0,in.dev=homeagent_microphone,in.frequency=48000,in.channels=2", "hda-duplex,audiodev=sound0"}, nil, ""},
		{"writes are recorded", Config{Board: Pi3, Disk: d, WriteLog: "w"}, []string{"if=sd,driver=blklogwrites,file.driver=file,file.filename=card.img,log.driver=file,log.filename=w"}, nil, ""},
		{"its own time", Config{Board: Virt, Disk: d, Instructions: 2}, []string{"-icount shift=1,sleep=on"}, nil, ""},
		{"a keyboard", Config{Board: Virt, Disk: d, Keyboard: true}, []string{"socket,id=serial0,fd=4 -serial chardev:serial0"}, []string{"file,id=serial0"}, ""},
		{"a keyboard on a Pi", Config{Board: Pi3, Disk: d, Keyboard: true}, nil, nil, "no serial input"},
		{"an unknown board", Config{Board: "raspi4b", Disk: d}, nil, nil, "not emulated"},
		{"no card", Config{Board: Virt}, nil, nil, "card"},
		{"sound on a Pi", Config{Board: Pi3, Disk: d, Sound: &Sound{}}, nil, nil, "no sound card"},
		{"U-Boot on virt", Config{Board: Virt, Disk: d, UBoot: true}, nil, nil, "U-Boot"},
	} {
		t.Run(row.name, func(t *testing.T) {
			c, err := row.c.defaulted()
			if row.refused != "" {
				if err == nil || !strings.Contains(err.Error(), row.refused) {
					t.Fatalf("error %v, want %q in it", err, row.refused)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			line := strings.Join(c.arguments(b), " ")
			for _, want := range row.has {
				if !strings.Contains(line, want) {
					t.Errorf("%q is not in %s", want, line)
				}
			}
			for _, not := range row.not {
				if strings.Contains(line, not) {
					t.Errorf("%q is in %s", not, line)
				}
			}
		})
	}
}

func TestForwardedPorts(t *testing.T) {
	text := "Hub -1 (net0):\r\n  Protocol[State]    FD  Source Address  Port   Dest. Address  Port RecvQ SendQ\r\n" +
		"  TCP[HOST_FORWARD]   8       127.0.0.1 34869       10.0.2.15    80     0     0\r\n" +
		"  TCP[ESTABLISHED]    9       127.0.0.1 34870       10.0.2.15    80     0     0\r\n" +
		"  TCP[HOST_FORWARD]   3       127.0.0.1 43763       10.0.2.15    22     0     0\r\n"
	if got := forwardedPorts(text); !maps.Equal(got, map[int]int{80: 34869, 22: 43763}) {
		t.Errorf("%v", got)
	}
	m := &Machine{ports: map[int]int{80: 34869}}
	if m.Address(80) != "127.0.0.1:34869" || m.Address(443) != "" {
		t.Errorf("%q, %q", m.Address(80), m.Address(443))
	}
}

func TestLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLog(2)
		r1, w1 := io.Pipe()
		r2, w2 := io.Pipe()
		var echo bytes.Buffer
		go l.follow(r1, &echo)
		go l.follow(r2, nil)
		found := make(chan []string, 1)
		go func() {
			m, err := l.Wait(t.Context(), regexp.MustCompile(`ready at (\S+)`))
			if err != nil {
				t.Error(err)
			}
			found <- m
		}()
		io.WriteString(w1, "starting\r\nready ")
		io.WriteString(w2, "other console\n")
		synctest.Wait()
		select {
		case m := <-found:
			t.Errorf("half a line counts: %q", m)
		default:
		}
		io.WriteString(w1, "at noon\r\n")
		if m := <-found; len(m) != 2 || m[1] != "noon" {
			t.Errorf("found %q", m)
		}
		synctest.Wait()
		if echo.String() != "starting\r\nready at noon\r\n" {
			t.Errorf("echo %q", echo.String())
		}
		if l.Lines() != 3 {
			t.Errorf("%d lines", l.Lines())
		}
		// What was before a place is not found behind it.
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := l.WaitFrom(ctx, l.Lines(), regexp.MustCompile("ready")); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("an old line is found again: %v", err)
		}
		io.WriteString(w1, "no newline")
		w1.Close()
		w2.Close()
		if _, err := l.Wait(t.Context(), regexp.MustCompile("no newline")); err != nil {
			t.Error(err)
		}
		if _, err := l.Wait(t.Context(), regexp.MustCompile("never")); !errors.Is(err, ErrLogEnded) || !strings.Contains(err.Error(), "other console") {
			t.Errorf("the end gives %v", err)
		}
	})
}

func TestLogIsBounded(t *testing.T) {
	l := newLog(1)
	for range maxLogLines + 10 {
		l.add("x")
	}
	if len(l.lines) > maxLogLines || l.Lines() != maxLogLines+10 {
		t.Errorf("%d lines are kept of %d", len(l.lines), l.Lines())
	}
}

func TestMonitor(t *testing.T) {
	ours, theirs := net.Pipe()
	events := make(chan string, 1)
	q := newMonitor(ours, func(name string, _ json.RawMessage) { events <- name })
	defer q.close()
	go func() {
		io.WriteString(theirs, `{"QMP": {"version": {}}}`+"\n")
		for dec := json.NewDecoder(theirs); ; {
			var c struct{ Execute string }
			if dec.Decode(&c) != nil {
				return
			}
			switch c.Execute {
			case "good":
				io.WriteString(theirs, `{"event": "RESET", "data": {}} {"return": {"running": true}}`+"\n")
			case "bad":
				io.WriteString(theirs, `{"error": {"class": "GenericError", "desc": "no such command"}}`+"\n")
			case "gone":
				theirs.Close()
			}
		}
	}()
	var out struct{ Running bool }
	if err := q.run(t.Context(), "good", nil, &out); err != nil || !out.Running {
		t.Errorf("%+v, %v", out, err)
	}
	if e := <-events; e != "RESET" {
		t.Errorf("event %q", e)
	}
	var refused *MonitorError
	if err := q.run(t.Context(), "bad", nil, nil); !errors.As(err, &refused) || refused.Command != "bad" {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := q.run(ctx, "silent", nil, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if err := q.run(t.Context(), "gone", nil, nil); !errors.Is(err, ErrMonitorGone) {
		t.Errorf("%v", err)
	}
}

func TestSoundIsPacedByItsReader(t *testing.T) {
	s, err := NewSound()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	qemu, err := os.Open(s.path("microphone"))
	if err != nil {
		t.Fatal(err)
	}
	defer qemu.Close()
	beep := make([]int16, SoundRate/10*SoundChannels)
	for i := range beep {
		beep[i] = 1234
	}
	taken := s.Play(beep)
	buf, heard := make([]byte, 4096), 0
	for heard < len(beep) {
		n, err := qemu.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i+1 < n; i += 2 {
			switch v := int16(binary.LittleEndian.Uint16(buf[i:])); {
			case v == 1234:
				heard++
			case v < -3 || v > 3:
				t.Fatalf("sample %d", v)
			}
		}
	}
	<-taken
	if b, err := s.Heard(); err != nil || len(b) != 0 {
		t.Errorf("the speaker said %d samples, %v", len(b), err)
	}
}
