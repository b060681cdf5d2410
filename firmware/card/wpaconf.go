package card

import (
	"encoding/hex"
	"strconv"
	"strings"
)

// readWPA reads the wpa_supplicant.conf that people and Imager put on a boot
// partition: the country and the network with the highest priority, of equals the first.
func readWPA(file string, data []byte) (draft, error) {
	v := in(file)
	var d, now draft
	best, priority, inside := 0, 0, false
	for raw := range strings.Lines(string(data)) {
		line := strings.TrimSpace(raw)
		if strings.HasPrefix(line, "#") {
			continue
		}
		key, text, ok := strings.Cut(line, "=")
		key, text = strings.TrimSpace(key), strings.TrimSpace(text)
		switch {
		case !inside && key == "network" && strings.HasPrefix(text, "{"):
			inside, now, priority = true, draft{}, 0
		case inside && strings.HasPrefix(line, "}"):
			inside = false
			if now.wifiName.text != "" && (d.wifiName.text == "" || priority > best) {
				d.wifiName, d.wifiPassword, best = now.wifiName, now.wifiPassword, priority
			}
		case !ok:
		case !inside && key == "country":
			d.wifiCountry = v(strings.Trim(text, `"`))
		case inside && key == "ssid":
			now.wifiName = exact(file, wpaString(text))
		case inside && key == "priority":
			priority, _ = strconv.Atoi(text) // no number is no priority
		case inside && (key == "psk" || key == "sae_password" || key == "password"):
			d.secret = true
			switch {
			case key == "psk" && hexKey.MatchString(text):
				now.wifiPassword = exact(file, text)
			case key == "psk", key == "sae_password" && now.wifiPassword.text == "":
				now.wifiPassword = exact(file, wpaString(text))
			}
		}
	}
	return d, nil
}

// wpaString reads a string as wpa_supplicant does: "text" up to the last quote
// with nothing escaped, P"text" with escapes, or hexadecimal digits.
func wpaString(s string) string {
	end := strings.LastIndexByte(s, '"')
	switch {
	case strings.HasPrefix(s, `P"`) && end > 1:
		return printfDecode(s[2:end])
	case strings.HasPrefix(s, `"`) && end > 0:
		return s[1:end]
	}
	b, err := hex.DecodeString(s)
	if err != nil {
		return ""
	}
	return string(b)
}

// printfDecode undoes the escapes of a P"" string.
func printfDecode(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch s[i] {
		case 'n':
			b.WriteByte('\n')
		case 'r':
			b.WriteByte('\r')
		case 't':
			b.WriteByte('\t')
		case 'e':
			b.WriteByte(0x1b)
		case 'x':
			if i+2 < len(s) {
				if n, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
					b.WriteByte(byte(n))
					i += 2
				}
			}
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String()
}
