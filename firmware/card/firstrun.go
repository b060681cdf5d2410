package card

import (
	"slices"
	"strings"
)

// readFirstRun finds in Imager's firstrun.sh the settings it would make. The
// script is text here: lines are cut into words as a shell would cut them, and
// only commands of known names with fixed words count.
func readFirstRun(file string, data []byte) (draft, error) {
	v := in(file)
	var d draft
	lines := slices.Collect(strings.Lines(string(data)))
	for i := 0; i < len(lines); i++ {
		line := strings.TrimRight(lines[i], "\r\n")
		if end, ok := heredoc(line); ok {
			var body strings.Builder
			for i++; i < len(lines) && strings.TrimSpace(lines[i]) != end; i++ {
				body.WriteString(lines[i])
			}
			if strings.Contains(line, "wpa_supplicant.conf") {
				w, _ := readWPA(file, []byte(body.String())) // it never fails
				d.secret = d.secret || w.secret
				d = d.over(w)
			}
			continue
		}
		words := shellWords(line)
		for j, w := range words {
			switch name := w.text[strings.LastIndexByte(w.text, '/')+1:]; {
			case !w.fixed:
			case name == "imager_custom":
				d = d.over(imagerCustom(v, words[j+1:], &d.secret))
			case name == "raspi-config" && j+1 < len(words) && words[j+1].text == "nonint":
				d = d.over(raspiConfig(v, words[j+2:], &d.secret))
			case name == "userconf" && j+2 < len(words), name == "chpasswd":
				d.login, d.secret = true, true
			}
		}
		if len(words) == 3 && words[0].text == "echo" && words[1].fixed {
			switch words[2].text {
			case ">/etc/hostname":
				d = d.over(draft{hostName: v(words[1].text)})
			case ">/etc/timezone":
				d = d.over(draft{timeZone: v(words[1].text)})
			}
		}
	}
	return d, nil
}

// imagerCustom is what `imager_custom ARGS` would set.
func imagerCustom(v func(string) value, args []word, secret *bool) draft {
	arg := arguments(args)
	var d draft
	switch arg(0) {
	case "set_hostname":
		d.hostName = v(arg(1))
	case "set_timezone":
		d.timeZone = v(arg(1))
	case "enable_ssh":
		d.ssh = true
		if arg(1) == "-k" {
			for i := 2; arg(i) != ""; i++ {
				d.sshKeys = append(d.sshKeys, each(v, strings.Split(arg(i), "\n"))...)
			}
		}
	case "set_wlan", "set_ssid":
		i := 1
		for strings.HasPrefix(arg(i), "-") {
			i++
		}
		d.wifiName, d.wifiPassword, d.wifiCountry = exact(v("").file, arg(i)), exact(v("").file, arg(i+1)), v(arg(i+2))
		*secret = *secret || arg(i+1) != ""
	case "set_wlan_country":
		d.wifiCountry = v(arg(1))
	}
	return d
}

// raspiConfig is what `raspi-config nonint ARGS` would set.
func raspiConfig(v func(string) value, args []word, secret *bool) draft {
	arg := arguments(args)
	var d draft
	switch arg(0) {
	case "do_hostname":
		d.hostName = v(arg(1))
	case "do_change_timezone":
		d.timeZone = v(arg(1))
	case "do_wifi_country":
		d.wifiCountry = v(arg(1))
	case "do_wifi_ssid_passphrase":
		d.wifiName, d.wifiPassword = exact(v("").file, arg(1)), exact(v("").file, arg(2))
		*secret = *secret || arg(2) != ""
	case "do_ssh":
		d.ssh = arg(1) == "0"
	}
	return d
}

// arguments reads the words of one command; one that is missing, follows the
// command's end or depends on the script's variables is "".
func arguments(args []word) func(int) string {
	for i, w := range args {
		if w.operator {
			args = args[:i]
			break
		}
	}
	return func(i int) string {
		if i >= len(args) || !args[i].fixed {
			return ""
		}
		return args[i].text
	}
}

// heredoc is the word that ends the text which begins after the line.
func heredoc(line string) (string, bool) {
	_, after, ok := strings.Cut(line, "<<")
	if !ok || strings.HasPrefix(after, "<") {
		return "", false
	}
	after = strings.TrimLeft(strings.TrimPrefix(after, "-"), " \t")
	end := strings.Trim(strings.SplitN(after+" ", " ", 2)[0], `'"\`)
	return end, end != ""
}

// word is one word of a shell line.
type word struct {
	text string
	// fixed: no variable or command takes part in it.
	fixed bool
	// operator: ; | & and the like, outside quotes.
	operator bool
}

// shellWords cuts a line as a POSIX shell does. A quote that is not closed ends
// with the line and makes its word not fixed.
func shellWords(line string) []word {
	var all []word
	var b strings.Builder
	started, fixed := false, true
	flush := func() {
		if started {
			all = append(all, word{text: b.String(), fixed: fixed})
		}
		b.Reset()
		started, fixed = false, true
	}
	for i := 0; i < len(line); i++ {
		switch c := line[i]; c {
		case ' ', '\t':
			flush()
		case '#':
			if !started {
				return all
			}
			b.WriteByte(c)
		case ';', '|', '&', '(', ')':
			flush()
			all = append(all, word{text: string(c), fixed: true, operator: true})
		case '\'':
			started = true
			end := strings.IndexByte(line[i+1:], '\'')
			if end < 0 {
				fixed, end = false, len(line)-i-1
			}
			b.WriteString(line[i+1 : i+1+end])
			i += end + 1
		case '"':
			started = true
			for i++; i < len(line) && line[i] != '"'; i++ {
				switch {
				case line[i] == '\\' && i+1 < len(line) && strings.IndexByte("\"\\$`", line[i+1]) >= 0:
					i++
				case line[i] == '$', line[i] == '`':
					fixed = false
				}
				b.WriteByte(line[i])
			}
			fixed = fixed && i < len(line)
		case '\\':
			if i++; i < len(line) {
				started = true
				b.WriteByte(line[i])
			}
		case '$', '`', '*', '?':
			started, fixed = true, false
			b.WriteByte(c)
		default:
			started = true
			b.WriteByte(c)
		}
	}
	flush()
	return all
}
