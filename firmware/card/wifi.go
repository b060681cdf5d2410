package card

import (
	"crypto/pbkdf2"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"strings"
)

// wpaHead stands before the network in wpa_supplicant.conf.
const wpaHead = "# Written by HomeAgent from the boot partition.\nctrl_interface=/run/wpa_supplicant\n"

// psk is the network's key as 64 hexadecimal digits, "" for an open network.
func (n Network) psk() (string, error) {
	if n.Password == "" {
		return "", nil
	}
	if hexKey.MatchString(n.Password) {
		return strings.ToLower(n.Password), nil
	}
	key, err := pbkdf2.Key(sha1.New, n.Password, []byte(n.Name), 4096, 32) // IEEE 802.11, J.4
	if err != nil {
		return "", fmt.Errorf("derive the key of the Wi-Fi network: %w", err)
	}
	return hex.EncodeToString(key), nil
}

// wpaConf is wpa_supplicant.conf for one network; psk is the network's, which
// takes a slow board a while to derive.
func wpaConf(n Network, psk, country string) string {
	var b strings.Builder
	b.WriteString(wpaHead)
	if country != "" {
		fmt.Fprintf(&b, "country=%s\n", country)
	}
	// scan_ssid finds networks that hide their name.
	fmt.Fprintf(&b, "network={\n\t%s\n\tscan_ssid=1\n", ssidLine(n.Name))
	switch {
	case psk == "":
		b.WriteString("\tkey_mgmt=NONE\n")
	case hexKey.MatchString(n.Password): // WPA3 wants the password, which nobody has
		fmt.Fprintf(&b, "\tkey_mgmt=WPA-PSK\n\tpsk=%s\n", psk)
	default:
		fmt.Fprintf(&b, "\tkey_mgmt=WPA-PSK SAE\n\tpsk=%s\n\tsae_password=%s\n\tieee80211w=1\n", psk, printfString(n.Password))
	}
	b.WriteString("}\n")
	return b.String()
}

func ssidLine(name string) string { return "ssid=" + hex.EncodeToString([]byte(name)) }

// printfString writes a P"" string of wpa_supplicant: all but ASCII letters and
// digits as \xHH, so that no parser finds anything in it.
func printfString(s string) string {
	var b strings.Builder
	b.WriteString(`P"`)
	for _, c := range []byte(s) {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, `\x%02x`, c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// holds tells whether a wpa_supplicant.conf of ours names the network.
func holds(conf, name string) bool { return strings.Contains(conf, "\t"+ssidLine(name)+"\n") }

// withCountry is the wpa_supplicant.conf with another country.
func withCountry(conf, country string) string {
	var lines []string
	done := false
	for line := range strings.Lines(conf) {
		switch {
		case strings.HasPrefix(line, "country="):
			continue
		case strings.HasPrefix(line, "network=") && !done:
			lines, done = append(lines, "country="+country+"\n"), true
		}
		lines = append(lines, line)
	}
	if !done {
		lines = append(lines, "country="+country+"\n")
	}
	return strings.Join(lines, "")
}
