package card

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// zones is a small /usr/share/zoneinfo.
func zones() fstest.MapFS {
	zone := func() *fstest.MapFile { return &fstest.MapFile{Data: []byte("TZif2 and more")} }
	return fstest.MapFS{
		"Europe/London": zone(), "Europe/Berlin": zone(), "Asia/Shanghai": zone(), "America/New_York": zone(), "UTC": zone(),
		"zone.tab": {Data: []byte("# no zone")}, "posix/Europe/London": zone(),
	}
}

// box is a card and a data partition in temporary folders.
type box struct {
	t           *testing.T
	setup, data string
	mounts      int // how often the boot partition was made writable
}

func newBox(t *testing.T, files map[string]string) *box {
	t.Helper()
	b := &box{t: t, setup: filepath.Join(t.TempDir(), "setup"), data: filepath.Join(t.TempDir(), "data")}
	for _, dir := range []string{b.setup, b.data} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range files {
		b.put(name, text)
	}
	return b
}

func (b *box) put(name, text string) {
	b.t.Helper()
	if err := os.WriteFile(filepath.Join(b.setup, name), []byte(text), 0o644); err != nil {
		b.t.Fatal(err)
	}
}

func (b *box) options() Options {
	return Options{Setup: b.setup, Data: b.data, Zones: zones(), Writable: func(write func() error) error {
		b.mounts++
		return write()
	}}
}

// run is one boot; no secret may stand in what it says.
func (b *box) run(secrets ...string) Report {
	b.t.Helper()
	r := Run(b.options())
	said := slices.Clone(r.Done)
	for _, n := range r.Notes {
		if n.ZH == "" || n.EN == "" {
			b.t.Errorf("a note in one language: %+v", n)
		}
		said = append(said, n.ZH, n.EN)
	}
	for _, secret := range secrets {
		if secret != "" && strings.Contains(strings.Join(said, "\n"), secret) {
			b.t.Errorf("the secret is said: %q", said)
		}
	}
	return r
}

// file is a file of the data partition, "" if it is not there.
func (b *box) file(parts ...string) string {
	b.t.Helper()
	text, err := os.ReadFile(filepath.Join(append([]string{b.data}, parts...)...))
	if err != nil && !os.IsNotExist(err) {
		b.t.Fatal(err)
	}
	return string(text)
}

func (b *box) card(name string) string {
	b.t.Helper()
	text, err := os.ReadFile(filepath.Join(b.setup, name))
	if err != nil {
		b.t.Fatal(err)
	}
	return string(text)
}

// all is every file of both sides.
func (b *box) all() map[string]string {
	b.t.Helper()
	files := map[string]string{}
	for _, dir := range []string{b.setup, b.data} {
		err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			text, err := os.ReadFile(path)
			files[strings.TrimPrefix(path, filepath.Dir(dir))] = string(text)
			return err
		})
		if err != nil {
			b.t.Fatal(err)
		}
	}
	return files
}

const sshKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f anna@laptop"

const full = "# 我的 / mine\nwifi_name=客厅 $HOME\nwifi_password=it's \"a\" \\secret!\nwifi_country=cn\nhost_name=My-Box\nlanguage=zh-CN\n" +
	"time_zone=Asia/Shanghai\nllm_url=https://llm.example/v1/\nllm_key=sk-0123456789\nssh_key=" + sshKey + "\nssh_key=" + sshKey + "2\n"

func TestRun(t *testing.T) {
	b := newBox(t, map[string]string{FileName: full})
	r := b.run(`\secret!`, "sk-0123456789")
	for path, want := range map[string]string{
		"system/hostname": "my-box\n", "system/language": "zh\n", "system/timezone": "Asia/Shanghai\n",
		"system/ssh/authorized_keys": sshKey + "\n" + sshKey + "2\n", "homeagent/secrets/openai": "sk-0123456789",
		"homeagent/config.yaml": "providers:\n  - kind: openai\n    base_url: https://llm.example/v1\n    key: openai\n",
	} {
		if got := b.file(path); got != want {
			t.Errorf("%s is %q, want %q", path, got, want)
		}
	}
	for path, want := range map[string]os.FileMode{
		"system/wifi/wpa_supplicant.conf": 0o600, "system/wifi": 0o700 | os.ModeDir, "system/ssh": 0o700 | os.ModeDir,
		"system/ssh/authorized_keys": 0o600, "system/card.json": 0o600, "homeagent/secrets/openai": 0o600,
		"homeagent/secrets": 0o700 | os.ModeDir, "homeagent": 0o750 | os.ModeDir, "homeagent/config.yaml": 0o640, "system/hostname": 0o644,
	} {
		if info, err := os.Stat(filepath.Join(b.data, path)); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v, want %v", path, info.Mode(), err, want)
		}
	}
	blanked := strings.Replace(strings.Replace(full, "wifi_password=it's \"a\" \\secret!\n", takenComment+"\nwifi_password=\n", 1),
		"llm_key=sk-0123456789\n", takenComment+"\nllm_key=\n", 1)
	if got := b.card(FileName); got != blanked {
		t.Errorf("the card says\n%s\nwant\n%s", got, blanked)
	}
	if b.mounts != 1 || len(r.Notes) != 1 { // one note: which model
		t.Errorf("written %d times, notes %+v", b.mounts, r.Notes)
	}
	if strings.Contains(b.file("system/card.json"), "sk-0123456789") {
		t.Error("card.json holds a secret")
	}

	// Once more: nothing changes and nothing is written.
	before := b.all()
	if r := b.run(); len(r.Done) > 0 || len(r.Notes) > 0 || b.mounts != 1 || !maps.Equal(before, b.all()) {
		t.Errorf("the second boot did %q, notes %+v, written %d times", r.Done, r.Notes, b.mounts)
	}
}

func TestLaterChanges(t *testing.T) {
	const wifi = "system/wifi/wpa_supplicant.conf"
	start := "wifi_name=home\nwifi_password=first secret\nwifi_country=de\nhost_name=one\nllm_url=https://llm.example/v1\nllm_key=sk-first\n"
	tests := []struct {
		name   string
		change func(b *box)
		check  func(b *box, r Report, before map[string]string)
	}{
		{"a new password", func(b *box) { b.edit("wifi_password=", "wifi_password=other secret") }, func(b *box, r Report, _ map[string]string) {
			want, _ := Network{Name: "home", Password: "other secret"}.psk()
			if !strings.Contains(b.file(wifi), want) || strings.Contains(b.card(FileName), "other") || strings.Count(b.card(FileName), takenComment) != 2 {
				b.t.Errorf("%s\n%s", b.file(wifi), b.card(FileName))
			}
		}},
		{"another country alone", func(b *box) { b.edit("wifi_country=de", "wifi_country=fr") }, func(b *box, r Report, before map[string]string) {
			if got := b.file(wifi); got != strings.Replace(before["/data/"+wifi], "country=DE", "country=FR", 1) {
				b.t.Error(got)
			}
		}},
		{"another network with the old line of the password", func(b *box) { b.edit("wifi_name=home", "wifi_name=cafe") }, func(b *box, r Report, before map[string]string) {
			if len(r.Notes) != 1 || !r.Notes[0].Say || b.file(wifi) != before["/data/"+wifi] {
				b.t.Errorf("%+v\n%s", r.Notes, b.file(wifi))
			}
		}},
		{"an open network", func(b *box) {
			b.put(FileName, "wifi_name=cafe\nwifi_password=\n")
		}, func(b *box, r Report, before map[string]string) {
			if !strings.Contains(b.file(wifi), "key_mgmt=NONE") || !holds(b.file(wifi), "cafe") || !strings.Contains(b.file(wifi), "country=DE") {
				b.t.Error(b.file(wifi))
			}
		}},
		{"everything removed", func(b *box) { b.put(FileName, "") }, same},
		{"a file gone", func(b *box) { os.Remove(filepath.Join(b.setup, FileName)) }, func(b *box, r Report, before map[string]string) {
			if len(r.Notes)+len(r.Done) > 0 {
				b.t.Errorf("%+v", r)
			}
		}},
		{"changed on the page meanwhile", func(b *box) {
			b.write("system/hostname", "two\n")
			b.write(wifi, "network={}\n")
			b.write("homeagent/config.yaml", "agent: {}\n")
		}, same},
		{"the same password again", func(b *box) {
			b.edit("wifi_password=", "wifi_password=first secret")
		}, func(b *box, r Report, before map[string]string) {
			if b.file(wifi) != before["/data/"+wifi] || strings.Contains(b.card(FileName), "first secret") {
				b.t.Errorf("%s\n%s", b.file(wifi), b.card(FileName))
			}
		}},
		{"another server without a key", func(b *box) { b.edit("llm_url=https://llm.example/v1", "llm_url=http://other.example/v1") }, func(b *box, r Report, before map[string]string) {
			// The key must not go to another host.
			if len(r.Notes) != 1 || b.file("homeagent/config.yaml") != before["/data/homeagent/config.yaml"] {
				b.t.Errorf("%+v\n%s", r.Notes, b.file("homeagent/config.yaml"))
			}
		}},
		{"another path of the same server", func(b *box) { b.edit("llm_url=https://llm.example/v1", "llm_url=https://llm.example/v2") }, func(b *box, r Report, _ map[string]string) {
			if !strings.Contains(b.file("homeagent/config.yaml"), "v2\n    key: openai") {
				b.t.Errorf("%+v\n%s", r, b.file("homeagent/config.yaml"))
			}
		}},
		{"the data partition made anew", func(b *box) {
			if err := os.RemoveAll(b.data); err != nil {
				b.t.Fatal(err)
			}
			if err := os.Mkdir(b.data, 0o755); err != nil {
				b.t.Fatal(err)
			}
		}, func(b *box, r Report, _ map[string]string) {
			// The passwords are gone: said, and no open network in their place.
			if b.file("system/hostname") != "one\n" || b.file(wifi) != "" || b.file("homeagent/config.yaml") != "" || len(r.Notes) != 2 {
				b.t.Errorf("%+v\n%s", r, b.file(wifi))
			}
		}},
		{"card.json is garbage", func(b *box) { b.write("system/card.json", "\x00[") }, func(b *box, r Report, before map[string]string) {
			if b.file(wifi) != before["/data/"+wifi] || b.file("system/hostname") != "one\n" {
				b.t.Errorf("%+v", r)
			}
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBox(t, map[string]string{FileName: start})
			b.run()
			before := b.all()
			tt.change(b)
			changed := b.all()
			r := b.run("first secret", "other secret", "sk-first")
			if tt.name == "changed on the page meanwhile" {
				before = changed
			}
			tt.check(b, r, before)
		})
	}
}

// same: the data partition is what it was.
func same(b *box, r Report, before map[string]string) {
	b.t.Helper()
	for path, text := range b.all() {
		if strings.HasPrefix(path, "/data/") && before[path] != text {
			b.t.Errorf("%s changed to %q", path, text)
		}
	}
	if len(r.Done) > 0 {
		b.t.Errorf("done: %q", r.Done)
	}
}

func (b *box) edit(old, new string) {
	b.t.Helper()
	text := b.card(FileName)
	if !strings.Contains(text, old) {
		b.t.Fatalf("%q is not in %q", old, text)
	}
	b.put(FileName, strings.Replace(text, old, new, 1))
}

func (b *box) write(path, text string) {
	b.t.Helper()
	if err := os.WriteFile(filepath.Join(b.data, path), []byte(text), 0o600); err != nil {
		b.t.Fatal(err)
	}
}
