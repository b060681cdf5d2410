//go:build e2e

package e2e

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"homeagent/drivers/web/client"
	"homeagent/tools/emulator"
)

// block is what the data's file system writes at once.
const block = 4096

// torn is a superblock that a power cut left half written.
var torn = make([]byte, block)

// TestBadStart takes one card through three bad starts: a torn superblock, clocks
// of 1970 and 2019, settings that cannot be read, two microphones, no room.
func TestBadStart(t *testing.T) {
	disk := card(t, 0)
	later := newLaterModel(t)
	sound := newSound(t)
	b := newBox(t, emulator.Config{Board: emulator.Virt, Disk: disk, Sound: sound, Clock: "1970-01-01T00:00:00",
		Extra: []string{"-audiodev", "none,id=sound1", "-device", "intel-hda,id=hda1", "-device", "hda-duplex,bus=hda1.0,audiodev=sound1"}})
	lines := b.brokenSettings(later.url)
	if err := disk.Overwrite(disk.Layout.Data, 0, torn); err != nil {
		t.Fatal(err)
	}
	b.start()
	b.answers()
	b.claim()
	t.Run("a certificate of the future is the clock's fault", func(t *testing.T) { b.in(t).blamesClock() })
	b.sshIsUp()
	t.Run("a superblock torn before the first growth is mended", func(t *testing.T) { b.in(t).repaired() })
	t.Run("a clock of 1970 is set to the build's time", func(t *testing.T) { b.in(t).clockFrom("1970-01-01T", "build") })
	t.Run("lines of homeagent.txt that are no use are named", func(t *testing.T) { b.in(t).namesLines(lines) })
	t.Run("two microphones", func(t *testing.T) { b.in(t).twoMicrophones() })
	t.Run("the code leaves the card after the claim", func(t *testing.T) { b.in(t).codeIsGone() })

	// The time that is saved at the end lies behind everything this computer says.
	saved := time.Now().AddDate(0, 2, 0).UTC().Truncate(time.Second)
	b.run(fmt.Sprintf("date -u -s @%d", saved.Unix()))
	b.powerOff()
	if err := disk.Overwrite(disk.Layout.Data, 0, torn); err != nil {
		t.Fatal(err)
	}
	b.settingsFile([]byte("\xff\xfel\x00a\x00n\x00g\x00u\x00a\x00g\x00e\x00=\x00z\x00h\x00"))
	b.conf.Clock = "2019-05-01T00:00:00"
	b.start()
	b.answers()
	t.Run("a certificate of the past is the clock's fault", func(t *testing.T) { b.in(t).blamesClock() })
	b.sshIsUp()
	t.Run("a superblock torn after the growth is mended", func(t *testing.T) { b.in(t).repaired() })
	t.Run("a clock of 2019 is set to the saved time", func(t *testing.T) {
		b := b.in(t)
		at := b.clockFrom("2019-05-01T", "saved")
		if at.Before(saved) || at.After(saved.Add(turnWait)) {
			t.Errorf("the clock was set to %v, saved was %v", at, saved)
		}
	})
	t.Run("a homeagent.txt in UTF-16 is named", func(t *testing.T) {
		b.in(t).notices("was saved as UTF-16", "存成了 UTF-16")
	})
	t.Run("the card fills up", func(t *testing.T) { b.in(t).fill() })
	b.powerOff()

	b.settingsFile([]byte(strings.Repeat("# too much of it\n", 20<<10)))
	b.conf.Clock = ""
	b.start()
	b.answers()
	t.Run("a full card", func(t *testing.T) { b.in(t).full() })
	t.Run("a homeagent.txt without end is named", func(t *testing.T) {
		b.in(t).notices("too many to be read", "太大了，没有读")
	})
}

// TestDamagedData destroys the data partition: first wholly, then in places.
func TestDamagedData(t *testing.T) {
	disk := card(t, 0)
	sound := newSound(t)
	b := newBox(t, emulator.Config{Board: emulator.Virt, Disk: disk, Sound: sound})
	data, err := disk.Partition(disk.Layout.Data)
	if err != nil {
		t.Fatal(err)
	}
	if err := disk.Overwrite(disk.Layout.Data, 0, garbage(data.Bytes)); err != nil {
		t.Fatal(err)
	}
	b.start()
	b.answers()
	b.claim()
	b.ready()
	t.Run("data that cannot be mended is made anew and this is said", func(t *testing.T) {
		b := b.in(t)
		b.notices("was made anew", "已经重新建立")
		b.told("was made anew", sound)
	})
	b.sshIsUp()
	b.run("test -s /data/lost/*/first-mib.img")
	b.powerOff()

	if data, err = disk.Partition(disk.Layout.Data); err != nil {
		t.Fatal(err)
	}
	seed := rand.New(rand.NewPCG(3, 2019))
	blocks := []int64{1} // the group descriptors, so that there is something to mend
	for range 200 {
		blocks = append(blocks, seed.Int64N(data.Bytes/block))
	}
	for _, n := range blocks {
		if err := disk.Overwrite(disk.Layout.Data, n*block, garbage(block)); err != nil {
			t.Fatal(err)
		}
	}
	b.start()
	b.answers()
	b.enter()
	b.ready()
	t.Run("random blocks of data are overwritten", func(t *testing.T) {
		b := b.in(t)
		s, err := b.status()
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("the box says: %q", s.Supervisor.Notices)
		if said := strings.Join(s.Supervisor.Notices, "\n"); !strings.Contains(said, "has been repaired") && !strings.Contains(said, "was made anew") {
			t.Errorf("nobody is told of the damage: %q", said)
		}
	})
}

// TestAlone boots a box that has no network, no sound card and no data
// partition. Only the serial console reaches it.
func TestAlone(t *testing.T) {
	disk := card(t, 0)
	b := newBox(t, emulator.Config{Board: emulator.Virt, Disk: disk, Network: emulator.NoNetwork, Keyboard: true, Append: "homeagent.debug"})
	b.removeData()
	b.start()
	b.shell()
	b.eventually(bootWait, "the box answers", func() bool {
		return strings.Contains(b.console("homectl --lang en say what time is it"), "It is ")
	})
	status := b.console("homectl --lang en status")
	t.Logf("homectl status:\n%s", status)
	for _, want := range []string{"was made anew", "there is no network", "There is no microphone", "There is no speaker"} {
		if !strings.Contains(status, want) {
			t.Errorf("homectl status does not say %q", want)
		}
	}
	if status := b.console("homectl --lang zh status"); !strings.Contains(status, "已经重新建立") || !strings.Contains(status, "没有连上网络") || !strings.Contains(status, "没有找到麦克风") {
		t.Errorf("in Chinese: %s", status)
	}
	if mount := b.console("grep ' /data ' /proc/mounts"); !strings.Contains(mount, " ext4 rw") {
		t.Errorf("/data is %q", mount)
	}
}

// repaired looks for a repair that lost nothing.
func (b *box) repaired() {
	b.notices("was damaged and has been repaired", "有损坏，已经修好")
	s, err := b.status()
	if said := strings.Join(s.Supervisor.Notices, "\n"); err != nil || strings.Contains(said, "made anew") || strings.Contains(said, "are gone") {
		b.t.Errorf("a damage that was repaired frightens people: %q, %v", said, err)
	}
}

// notices checks that the status tells both in their languages.
func (b *box) notices(en, zh string) {
	b.t.Helper()
	for lang, want := range map[string]string{"en": en, "zh": zh} {
		api, err := client.TCP(b.page(), b.token, lang)
		if err != nil {
			b.t.Fatal(err)
		}
		defer api.Close()
		there := *b
		there.api = api
		s, err := there.status()
		if said := strings.Join(s.Supervisor.Notices, "\n"); err != nil || !strings.Contains(said, want) {
			b.t.Errorf("the notices (%s) lack %q: %q, %v", lang, want, s.Supervisor.Notices, err)
		}
	}
}
