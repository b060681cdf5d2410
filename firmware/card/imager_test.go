package card

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const imagerHash = "$5$rounds=5000$abcdefgh$0123456789abcdefghijklmnopqrstuvwxyz0123456"

// TestImager has a fixture for each file that Raspberry Pi Imager and its
// users leave on a boot partition.
func TestImager(t *testing.T) {
	plain := Network{Name: "Anna's net", Password: `plain pass \ word`}
	raw := Network{Name: "Anna's net", Password: "b3f4c0a1d2e3f405162738495a6b7c8d9eafb0c1d2e3f40516273849aabbccdd"}
	quoted := Network{Name: `Anna "5G" net`, Password: raw.Password}
	const (
		login = "no login with a password"
		noKey = "holds no key"
	)
	tests := []struct {
		fixture string
		as      string // name on the card; "" is the fixture's
		wifi    *Network
		host    string
		zone    bool
		key     bool
		secret  bool // the file holds one
		notes   []string
	}{
		{fixture: "custom.toml", wifi: &quoted, host: "kitchen-pi", zone: true, key: true, secret: true, notes: []string{login}},
		{fixture: "firstrun.sh.txt", as: "firstrun.sh", wifi: &raw, host: "kitchen-pi", zone: true, key: true, secret: true, notes: []string{login}},
		{fixture: "firstrun-old.sh.txt", as: "firstrun.sh", wifi: &plain, host: "kitchen-pi", zone: true, secret: true},
		{fixture: "firstrun-raspi-config.sh.txt", as: "firstrun.sh", wifi: &plain, host: "kitchen-pi", zone: true, secret: true, notes: []string{noKey}},
		{fixture: "wpa_supplicant.conf", wifi: &plain, secret: true},
		{fixture: "userconf.txt", secret: true, notes: []string{login}},
		{fixture: "ssh", notes: []string{noKey}},
		{fixture: "user-data", host: "kitchen-pi", zone: true, key: true, secret: true, notes: []string{login}},
		{fixture: "network-config", wifi: &plain, secret: true},
		{fixture: "meta-data", host: "kitchen-pi"},
	}
	for _, tt := range tests {
		t.Run(tt.fixture, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join("testdata/imager", tt.fixture))
			if err != nil {
				t.Fatal(err)
			}
			name := tt.as
			if name == "" {
				name = tt.fixture
			}
			if name == "firstrun.sh" { // kept without its first line, because it is no script of ours
				text = append([]byte("#!/bin/bash\n\n"), text...)
			}
			b := newBox(t, map[string]string{name: string(text)})
			r := b.run(imagerHash, plain.Password, raw.Password)
			conf := b.file("system/wifi/wpa_supplicant.conf")
			if tt.wifi == nil && conf != "" {
				t.Errorf("Wi-Fi from nowhere: %s", conf)
			}
			if tt.wifi != nil {
				psk, err := tt.wifi.psk()
				if want := wpaConf(*tt.wifi, psk, "GB"); err != nil || conf != want {
					t.Errorf("%s\nwant\n%s", conf, want)
				}
			}
			for path, want := range map[string]string{"system/hostname": tt.host, "system/timezone": map[bool]string{true: "Europe/London"}[tt.zone],
				"system/ssh/authorized_keys": map[bool]string{true: sshKey}[tt.key]} {
				if got := strings.TrimSuffix(b.file(path), "\n"); got != want {
					t.Errorf("%s is %q, want %q", path, got, want)
				}
			}
			if len(r.Notes) != len(tt.notes) {
				t.Errorf("notes %+v", r.Notes)
			}
			for i, n := range r.Notes {
				if i < len(tt.notes) && !strings.Contains(n.EN, tt.notes[i]) {
					t.Errorf("note %q, want %q", n.EN, tt.notes[i])
				}
			}
			if tt.secret != (b.card(name) == emptied) || !tt.secret && b.card(name) != string(text) {
				t.Errorf("the card says %q", b.card(name))
			}
			before := b.all()
			b.run()
			for path, text := range b.all() {
				if before[path] != text {
					t.Errorf("the second boot changed %s", path)
				}
			}
		})
	}
}

// TestImagerBlanksCount: where the format has quotes, blanks at the ends belong to
// the network's name and password.
func TestImagerBlanksCount(t *testing.T) {
	const name, password = " Anna's net ", "\tplain pass  "
	for file, text := range map[string]string{
		"custom.toml":         "[wlan]\nssid = \"" + name + "\"\npassword = \"\\tplain pass  \"\ncountry = \" GB \"\n",
		"network-config":      "wifis:\n  wlan0:\n    access-points:\n      \"" + name + "\": {password: \"\\tplain pass  \"}\n",
		"firstrun.sh":         `/usr/lib/raspberrypi-sys-mods/imager_custom set_wlan "` + name + `" "` + password + "\" GB\n",
		"wpa_supplicant.conf": "network={\n ssid=\"" + name + "\"\n psk=\"" + password + "\"\n}\n",
	} {
		t.Run(file, func(t *testing.T) {
			var d draft
			var err error
			for _, f := range foreign {
				if f.name == file {
					d, err = f.read(file, []byte(text))
				}
			}
			if err != nil || d.wifiName.text != name || d.wifiPassword.text != password {
				t.Errorf("name %q, password %q, %v", d.wifiName.text, d.wifiPassword.text, err)
			}
			if c := d.wifiCountry.text; c != "" && c != "GB" {
				t.Errorf("country %q", c)
			}
		})
	}
}

func TestHomeagentGoesFirst(t *testing.T) {
	custom, err := os.ReadFile("testdata/imager/custom.toml")
	if err != nil {
		t.Fatal(err)
	}
	b := newBox(t, map[string]string{"custom.toml": string(custom), "wpa_supplicant.conf": "network={\n ssid=\"x\"\n psk=\"other secret\"\n}\n",
		FileName: "wifi_name=mine\nwifi_password=my password\nhost_name=mine\n"})
	b.run("other secret", "my password", imagerHash)
	if conf := b.file("system/wifi/wpa_supplicant.conf"); !holds(conf, "mine") || b.file("system/hostname") != "mine\n" || b.file("system/timezone") != "Europe/London\n" {
		t.Errorf("%s", conf)
	}
	for path, text := range b.all() {
		if strings.HasPrefix(path, "/setup/") && (strings.Contains(text, "other secret") || strings.Contains(text, "my password") || strings.Contains(text, "b3f4c0")) {
			t.Errorf("%s still says %q", path, text)
		}
	}
}

func TestImagerBroken(t *testing.T) {
	for name, text := range map[string]string{
		"custom.toml": "[wlan\nssid=", "user-data": "a: [", "network-config": "\t- x", "meta-data": "{", "firstrun.sh": "cat <<'X'\n'\"`$(",
		"wpa_supplicant.conf": "network={\nssid=\"\npsk=\n", "userconf.txt": "",
	} {
		t.Run(name, func(t *testing.T) {
			b := newBox(t, map[string]string{name: text, FileName: "host_name=fine\n"})
			r := b.run()
			if b.file("system/hostname") != "fine\n" {
				t.Errorf("%+v", r)
			}
			for _, n := range r.Notes {
				if !strings.Contains(n.EN, name) {
					t.Errorf("%+v", n)
				}
			}
		})
	}
}

// A Wi-Fi of Imager's that cannot be taken stays where it can be mended.
func TestImagerBadWifiStays(t *testing.T) {
	const text = "network={\n ssid=\"x\"\n psk=\"short\"\n}\n"
	b := newBox(t, map[string]string{"wpa_supplicant.conf": text})
	r := b.run("short")
	if b.card("wpa_supplicant.conf") != text || len(r.Notes) != 1 || !r.Notes[0].Say {
		t.Errorf("%q, %+v", b.card("wpa_supplicant.conf"), r.Notes)
	}
}

func FuzzForeign(f *testing.F) {
	files, err := filepath.Glob("testdata/imager/*")
	if err != nil || len(files) == 0 {
		f.Fatalf("no fixtures: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte("a\\"))
	f.Add([]byte(`imager_custom set_wlan -h 'a"b' "$x" 'GB' # y`))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, file := range foreign {
			d, err := file.read(file.name, data)
			if err != nil {
				continue
			}
			c := checker{zones: zones()}
			s := c.check(d)
			if s.Wifi != nil {
				// Deriving the key of each would take all the time there is.
				n := *s.Wifi
				if got := wpaString(printfString(n.Password)); got != n.Password {
					t.Errorf("%s: %q became %q", file.name, n.Password, got)
				}
				n.Password = ""
				psk, err := n.psk()
				if conf := wpaConf(n, psk, s.Country); err != nil || !holds(conf, n.Name) || strings.Count(conf, "{") != 1 {
					t.Errorf("%s: %q, %v", file.name, conf, err)
				}
			}
			for _, k := range s.SSHKeys {
				if strings.ContainsAny(k, "\r\n") {
					t.Errorf("%s: a key of several lines: %q", file.name, k)
				}
			}
			if strings.ContainsAny(s.HostName+s.TimeZone+s.Country, "\n/'\" ") && !strings.Contains(s.TimeZone, "/") {
				t.Errorf("%s: %+v", file.name, s)
			}
		}
	})
}

func FuzzTaken(f *testing.F) {
	f.Add([]byte(`{"host_name":"a"}`))
	f.Add([]byte(`null`))
	f.Add([]byte(`{"a":1}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := parseTaken(data).bytes()
		if err != nil {
			t.Fatal(err)
		}
		again, err := parseTaken(b).bytes()
		if err != nil || string(again) != string(b) {
			t.Errorf("%s became %s", b, again)
		}
	})
}
