//go:build e2e

package e2e

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	crand "crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"math/big"
	"math/rand/v2"
	"net"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"homeagent/agent/pcm"
	"homeagent/tools/emulator"
	"homeagent/tools/fakellm"
)

// newLaterModel is a language model whose certificate begins tomorrow and ends
// in three weeks.
func newLaterModel(t testing.TB) *model {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), crand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tomorrow := time.Now().AddDate(0, 0, 1)
	cert, err := x509.CreateCertificate(crand.Reader, &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: tomorrow,
		NotAfter: tomorrow.AddDate(0, 0, 20), IPAddresses: []net.IP{net.IPv4(10, 0, 2, 2)}}, &x509.Certificate{SerialNumber: big.NewInt(1)}, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	m := &model{Server: fakellm.New(scripted)}
	srv := httptest.NewUnstartedServer(m)
	srv.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{cert}, PrivateKey: key}}}
	srv.StartTLS()
	t.Cleanup(func() { srv.CloseClientConnections(); srv.Close() })
	m.url = strings.Replace(fromGuest(t, srv), "http:", "https:", 1)
	return m
}

// fault is a line of homeagent.txt that is no use, and what is said of it.
type fault struct{ line, en, zh string }

// brokenSettings writes a homeagent.txt with faults among what the test needs.
func (b *box) brokenSettings(model string) []fault {
	b.t.Helper()
	const fine = ""
	faults := []fault{
		{"# written by somebody in a hurry", fine, fine},
		{"\xc3\x28\xff\xfe\x80", "is not UTF-8", "不是 UTF-8"},
		{"colour=blue", "unknown key", "不认识这个名称"},
		{"wifi_nmae=somewhere", "did you mean wifi_name?", "是不是 wifi_name？"},
		{"language=en", fine, fine},
		{"language=zh", "language stands already in line 5", "language 在第 5 行已经写过"},
		{"host_name=" + strings.Repeat("kitchen", 60), "host_name", "host_name"},
		{"time_zone=\x00\x01\x02", "control characters", "控制字符"},
		{"what is this", "write key=value", "名称=值"},
		{"time_zone=Middle/Earth", "time_zone", "time_zone"},
		{"llm_url=" + model, fine, fine},
		{"ssh_key=" + strings.TrimSpace(string(ssh.MarshalAuthorizedKey(b.key.PublicKey()))), fine, fine},
	}
	var text strings.Builder
	for _, f := range faults {
		text.WriteString(f.line + "\r\n")
	}
	b.settingsFile([]byte(text.String()))
	return faults
}

// settingsFile replaces homeagent.txt.
func (b *box) settingsFile(text []byte) {
	b.t.Helper()
	if err := b.disk.WriteFile(b.t.Context(), b.disk.Layout.Setup, "homeagent.txt", text); err != nil {
		b.t.Fatal(err)
	}
}

// namesLines checks that each fault is named with its line in both languages,
// and that the good lines counted.
func (b *box) namesLines(faults []fault) {
	for i, f := range faults {
		if f.en == "" {
			continue
		}
		n := strconv.Itoa(i + 1)
		b.notices("line "+n, "第 "+n+" 行")
		b.notices(f.en, f.zh)
	}
	if got := b.run("cat /data/system/language"); got != "en" {
		b.t.Errorf("the language is %q", got)
	}
	if got := b.run("hostname"); got != "homeagent" {
		b.t.Errorf("the name is %q", got)
	}
}

var clockLine = regexp.MustCompile(`the clock said (\S+) and is set to (\S+), the (\w+) time`)

// clockFrom reads in the serial log what this start made of the clock, and
// returns what it was set to.
func (b *box) clockFrom(before, source string) time.Time {
	b.t.Helper()
	m := clockLine.FindStringSubmatch(b.m.Log().String())
	if m == nil {
		b.t.Fatalf("the log says nothing of the clock: %s", b.m.Log().Tail(20))
	}
	b.t.Log(m[0])
	at, err := time.Parse(time.RFC3339, m[2])
	if err != nil || !strings.HasPrefix(m[1], before) || m[3] != source {
		b.t.Errorf("%q, %v; want it from %s by the %s time", m[0], err, before, source)
	}
	if build := b.run("sed -n 's/^BUILD_EPOCH=//p' /etc/homeagent/release"); source == "build" && strconv.FormatInt(at.Unix(), 10) != build {
		b.t.Errorf("set to %v, the build's time is %s", at, build)
	}
	return at
}

// blamesClock asks something that needs the language model, until the box has
// tried to reach it: in between it leaves one alone that failed.
func (b *box) blamesClock() {
	b.t.Helper()
	b.eventually(bootWait, "the box says that its clock is wrong", func() bool {
		a, err := b.trySay("tell me of the sea")
		if err == nil {
			b.t.Logf("it says %.120q", a.Text)
		}
		return err == nil && strings.Contains(a.Text, "clock is probably wrong")
	})
}

// twoMicrophones checks that one of two is chosen and both can be.
func (b *box) twoMicrophones() {
	var s struct {
		Microphone struct {
			Name, Label, Note string
			Present           bool
		}
		Devices []struct {
			Name    string
			Capture bool
		}
	}
	b.eventually(bootWait, "both sound cards are there", func() bool {
		return strings.Count(b.run("cat /proc/asound/pcm 2>/dev/null || true"), "capture 1") == 2
	})
	b.eventually(turnWait, "a microphone is chosen", func() bool { return b.tryGet("audio", &s) == nil && s.Microphone.Present })
	b.t.Logf("the microphone is %+v of %+v", s.Microphone, s.Devices)
	if s.Microphone.Note != "" {
		b.t.Errorf("two microphones: %q", s.Microphone.Note)
	}
}

// codeIsGone looks at the setup partition after the claim.
func (b *box) codeIsGone() {
	b.eventually(turnWait, "setup-code.txt is removed", func() bool {
		out, err := b.ssh("ls /setup/")
		return err == nil && strings.Contains(out, "homeagent.txt") && !strings.Contains(out, "setup-code.txt")
	})
	if out, err := b.ssh("touch /setup/proof"); err == nil {
		b.t.Errorf("/setup can be written: %s", out)
	}
	if mount := b.run("grep ' /setup ' /proc/mounts"); !strings.Contains(mount, " ro,") {
		b.t.Errorf("/setup is mounted %q", mount)
	}
}

// fill writes until not one byte more is taken, from root neither.
func (b *box) fill() {
	b.eventually(bootWait, "some room is kept back", func() bool { _, err := b.ssh("test -s /data/system/reserve"); return err == nil })
	b.run("dd if=/dev/zero of=/data/fill bs=1M 2>/dev/null; dd if=/dev/zero of=/data/fill2 bs=4k 2>/dev/null; sync; true")
	if got := b.run("(echo x >/data/fill3) 2>/dev/null && echo room || echo full"); got != "full" {
		b.t.Errorf("the card has room: %s", b.run("df -k /data; ls -l /data"))
	}
	b.ready()
}

// full looks at a start without any room: what was kept back lets the mind start.
func (b *box) full() {
	b.notices("The card is full", "存储卡满了")
	b.ready()
	b.sshIsUp()
	b.run("test ! -e /data/system/reserve && test -s /data/fill")
	b.run("rm -f /data/fill /data/fill2 /data/fill3")
	b.ready()
}

// told waits until a note stands in the conversation and was spoken.
func (b *box) told(text string, sound *emulator.Sound) {
	b.eventually(bootWait, "the conversation tells it", func() bool {
		for _, it := range b.history() {
			if strings.Contains(it.Text, text) {
				b.t.Logf("the conversation says: %+v", it)
				return true
			}
		}
		return false
	})
	b.eventually(bootWait, "the speaker speaks", func() bool {
		all, err := sound.Heard()
		return err == nil && loud(converted(b.t, all, soundFormat, pcm.Voice)) >= 60
	})
}

// enter goes in with the token, or claims the box anew where the damage took its
// accounts.
func (b *box) enter() {
	b.t.Helper()
	if _, err := b.status(); err != nil {
		b.t.Logf("the accounts went with the damage: %v", err)
		b.claim()
	}
}

// removeData destroys the data and takes its partition out of the table.
func (b *box) removeData() {
	b.t.Helper()
	data, err := b.disk.Partition(b.disk.Layout.Data)
	if err == nil {
		err = b.disk.Overwrite(data.Number, 0, garbage(data.Bytes))
	}
	if err == nil {
		err = b.disk.RemoveLast(data.Number)
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

// garbage is the same n random bytes each time, a multiple of eight.
func garbage(n int64) []byte {
	seed := rand.NewPCG(3, 1970)
	b := make([]byte, 0, n)
	for range n / 8 {
		b = binary.LittleEndian.AppendUint64(b, seed.Uint64())
	}
	return b
}

// shell waits for the serial console's shell.
func (b *box) shell() {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), bootWait)
	defer cancel()
	if _, err := b.m.Log().Wait(ctx, regexp.MustCompile(`built-in shell`)); err != nil {
		b.t.Fatal(err)
	}
	b.t.Logf("a shell on the serial console %.1f s after QEMU's start", time.Since(b.began).Seconds())
}

// console runs a command in the shell and returns what it printed; other
// processes may print between.
func (b *box) console(command string) string {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), turnWait)
	defer cancel()
	from := b.m.Log().Lines()
	if err := b.m.Type(command + "; echo end-$((6*7))"); err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.m.Log().WaitFrom(ctx, from, regexp.MustCompile(`end-42`)); err != nil {
		b.t.Fatal(err)
	}
	return b.m.Log().Tail(b.m.Log().Lines() - from)
}

// soundFormat is what QEMU's sound card speaks.
var soundFormat = pcm.Format{Rate: emulator.SoundRate, Channels: emulator.SoundChannels}

// newSound is a sound card that is there when the box starts.
func newSound(t testing.TB) *emulator.Sound {
	t.Helper()
	s, err := emulator.NewSound()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}
