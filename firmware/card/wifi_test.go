package card

import (
	"encoding/hex"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestPSK(t *testing.T) {
	tests := []struct{ name, password, want string }{
		// IEEE 802.11, J.4.2
		{"IEEE", "password", "f42c6fc52df0ebef9ebb4b90b38a5f902e83fe1b135a70e23aed762e9710a12e"},
		{"ThisIsASSID", "ThisIsAPassword", "0dc0d6eb90555ed6419756b9a15ec3e3209b63df707dd508d14581f8982721af"},
		{"open", "", ""},
		{"raw", strings.Repeat("0123ABCD", 8), strings.Repeat("0123abcd", 8)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got, err := (Network{Name: tt.name, Password: tt.password}).psk(); err != nil || got != tt.want {
				t.Errorf("%s, %v", got, err)
			}
		})
	}
}

// TestNamesAndPasswords goes the whole way: from the bytes of homeagent.txt to
// what the real wpa_supplicant understands of the file that was written.
func TestNamesAndPasswords(t *testing.T) {
	const all = " !\"#$%&'()*+,-./0123456789:;<=>?@[\\]^_`{|}~"
	tests := []struct{ name, ssid, password string }{
		{"plain", "home", "password"},
		{"double quotes", `the "home" net`, `pass"word"`},
		{"a quote at the end", `home"`, `password"`},
		{"single quotes", `Anna's`, `it's a secret`},
		{"spaces inside", "my  home  net", "pass  word  here"},
		{"dollar", "$HOME ${x} $(id)", "$PASS `id` $$"},
		{"exclamation mark", "home!", "!!password!1"},
		{"backslash", `c:\home\`, `pass\word\x41\n\`},
		{"hash", "#home # net", "#pass # word"},
		{"equals and colons", "a=b:c", "=password=:x"},
		{"Chinese", "客厅的网络", "密码是八个字"},
		{"emoji, umlauts", "Café 😀", "größe😀größe"},
		{"looks like hexadecimal", "0123456789abcdef", "0123456789abcdef"},
		{"looks like a P string", `P"home"`, `P"password"`},
		{"like wpa_supplicant's own words", "}", "psk=00000000 }"},
		{"full width", "ＨＯＭＥ＝１", "ｐａｓｓｗｏｒｄ："},
		{"8 characters", "x", "12345678"},
		{"63 characters", strings.Repeat("n", 32), strings.Repeat("0123456789", 6) + "abc"},
		{"63 of the odd ones", "odd", "x" + all + all[len(all)-18:] + "y"},
		{"name of 32 bytes in Chinese", strings.Repeat("网", 10) + "ab", "password"},
		{"64 hexadecimal digits", "home", strings.Repeat("0123456789abcDEF", 4)},
		{"open", "cafe", ""},
	}
	wpa, lookErr := exec.LookPath("wpa_supplicant")
	for _, tt := range tests {
		for form, pattern := range map[string]string{
			"LF":         "wifi_name=%s\nwifi_password=%s\n",
			"CRLF, BOM":  "\ufeffwifi_name=%s\r\nwifi_password=%s\r\n",
			"blanks":     "\t wifi_name =  %s \t\n  WIFI_PASSWORD = \t%s  \n",
			"no newline": "wifi_name: %s\nwifi-password: %s",
		} {
			t.Run(tt.name+"/"+form, func(t *testing.T) {
				data := []byte(fmt.Sprintf(pattern, tt.ssid, tt.password))
				text, faults := parseText(data)
				c := checker{}
				n := c.check(text.draft()).Wifi
				if want := (Network{Name: tt.ssid, Password: tt.password}); len(faults)+len(c.notes) > 0 || n == nil || *n != want {
					t.Fatalf("%+v, want %+v; %v %v", n, want, faults, c.notes)
				}
				if after, _ := parseText(text.blank("wifi_password")); after.draft().wifiPassword.text != "" || after.draft().wifiTaken != (tt.password != "") {
					t.Errorf("the password is still there: %q", after.data)
				}
				if form != "LF" {
					return // what follows is the same
				}
				b := newBox(t, map[string]string{FileName: string(data)})
				b.run() // what is said about a password TestRun looks at
				if conf := b.file("system/wifi/wpa_supplicant.conf"); !holds(conf, tt.ssid) {
					t.Fatalf("%q does not hold %q", conf, tt.ssid)
				}
				if lookErr != nil {
					t.Skip("wpa_supplicant is not installed")
				}
				askWPA(t, wpa, filepath.Join(b.data, "system/wifi/wpa_supplicant.conf"), Network{Name: tt.ssid, Password: tt.password})
			})
		}
	}
}

// askWPA lets the real wpa_supplicant read the file, on an interface that does
// not exist, so that it prints what it understood and ends.
func askWPA(t *testing.T, wpa, conf string, n Network) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), wpa, "-dd", "-K", "-D", "wired", "-i", "nonesuch0", "-c", conf).CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		t.Fatalf("%v", err)
	}
	psk, err := n.psk()
	if err != nil {
		t.Fatal(err)
	}
	sae := n.Password
	if len(sae) == 64 {
		sae = ""
	}
	text := string(out)
	if got := dumped(text, "ssid"); got != n.Name {
		t.Errorf("wpa_supplicant reads the name %q, want %q", got, n.Name)
	}
	if got := dumped(text, "sae_password"); got != sae {
		t.Errorf("wpa_supplicant reads the password %q, want %q", got, sae)
	}
	if got := hex.EncodeToString([]byte(dumped(text, "PSK"))); got != psk {
		t.Errorf("wpa_supplicant reads the key %s, want %s", got, psk)
	}
	if !strings.Contains(text, "Priority group 0") || strings.Contains(text, "Line ") {
		t.Errorf("wpa_supplicant complains:\n%s", text)
	}
}

var hexByte = regexp.MustCompile(`^([0-9a-f]{2} )*[0-9a-f]{2}\b`)

// dumped is a value that wpa_supplicant printed in hexadecimal.
func dumped(out, name string) string {
	_, after, ok := strings.Cut(out, "\n"+name+" - hexdump")
	if !ok {
		return ""
	}
	head, rest, _ := strings.Cut(after, "\n")
	var digits string
	if _, line, ok := strings.Cut(head, "): "); ok {
		digits = line // hexdump: all in one line
	} else {
		for line := range strings.Lines(rest) { // hexdump_ascii: lines of 16
			if !strings.HasPrefix(line, "     ") {
				break
			}
			digits += hexByte.FindString(line[5:]) + " "
		}
	}
	b, err := hex.DecodeString(strings.ReplaceAll(digits, " ", ""))
	if err != nil {
		return err.Error()
	}
	return string(b)
}
