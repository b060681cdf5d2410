package card

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"homeagent/firmware/config"
	"homeagent/firmware/note"
	"homeagent/firmware/words"
	"homeagent/memory/disk"
)

// applier writes settings below a data folder.
type applier struct {
	data  string
	fs    disk.FS
	taken taken
	notes []note.Note
	done  []string // log lines, without secrets
}

// outcome says which secrets lie on the data partition now, or need not.
type outcome struct{ wifi, llm bool }

// apply makes the settings true. What cannot be written is told and left on the card.
func (a *applier) apply(s Settings) outcome {
	before := maps.Clone(a.taken)
	a.line("host_name", "hostname", s.HostName)
	a.line("time_zone", "timezone", s.TimeZone)
	a.line("language", "language", s.Language)
	if s.SSHOff {
		a.sshOff()
	} else {
		a.sshKeys(s.SSHKeys)
	}
	var o outcome
	o.wifi = a.wifi(s.Wifi, s.Country)
	o.llm = a.llm(s.LLM)
	if maps.Equal(a.taken, before) {
		return o
	}
	b, err := a.taken.bytes()
	if err == nil {
		err = a.write(a.system("card.json"), b, 0o600, 0o755)
	}
	if err != nil {
		a.failed("card.json", err)
		return outcome{}
	}
	return o
}

func (a *applier) system(parts ...string) string {
	return filepath.Join(append([]string{a.data, "system"}, parts...)...)
}

// write makes the folder and replaces the file.
func (a *applier) write(path string, data []byte, mode, dirMode os.FileMode) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	if err := os.Mkdir(dir, dirMode); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	return disk.WriteFileFS(a.fs, path, data, mode)
}

func (a *applier) failed(what string, err error) {
	a.done = append(a.done, fmt.Sprintf("cannot keep %s: %v", what, err))
	t := words.Format("启动分区上的设置（%s）存不下来：%v；下次启动会再试", "a setting of the boot partition (%s) cannot be kept: %v; the next start tries again", what, err)
	if disk.IsFull(err) {
		t = words.Format("数据分区满了，启动分区上的设置（%s）存不下来；请删掉一些东西再重新启动",
			"the data partition is full, a setting of the boot partition (%s) cannot be kept; make room and start again", what)
	}
	a.notes = append(a.notes, note.FromText(t, true))
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// line keeps a value of one line.
func (a *applier) line(key, file, text string) {
	path := a.system(file)
	if text == "" || a.taken[key] == text && exists(path) {
		return
	}
	if err := a.write(path, []byte(text+"\n"), 0o644, 0o755); err != nil {
		a.failed(key, err)
		return
	}
	a.taken[key] = text
	a.done = append(a.done, key+" is "+text)
}

func (a *applier) sshKeys(keys []string) {
	path := a.system("ssh", "authorized_keys")
	text := strings.Join(keys, "\n")
	if text == "" || a.taken["ssh_key"] == digest(text) && exists(path) {
		return
	}
	if err := a.write(path, []byte(text+"\n"), 0o600, 0o700); err != nil {
		a.failed("ssh_key", err)
		return
	}
	a.taken["ssh_key"] = digest(text)
	a.done = append(a.done, fmt.Sprintf("SSH takes %d keys", len(keys)))
}

// sshOff removes the keys, those of Imager too; SSH starts only where there are
// some. It does so at every boot, because whoever wrote it relies on it.
func (a *applier) sshOff() {
	path := a.system("ssh", "authorized_keys")
	if exists(path) {
		err := a.fs.Remove(path)
		if err == nil {
			err = a.fs.SyncDir(filepath.Dir(path))
		}
		if err != nil {
			a.failed("ssh_key", err)
			return
		}
		a.done = append(a.done, "SSH is off, its keys are removed")
	}
	a.taken["ssh_key"] = "none"
}

// wifi reports whether the password on the card is not needed any more.
func (a *applier) wifi(n *Network, country string) bool {
	path := a.system("wifi", "wpa_supplicant.conf")
	old, err := os.ReadFile(path)
	have := err == nil && len(old) > 0
	if country == "" {
		country = a.taken["wifi_country"]
	}
	if n == nil || n.Password == "" && have && (a.taken["wifi_name"] == n.Name || holds(string(old), n.Name)) {
		a.country(path, string(old), country)
		return false
	}
	if n.Password == "" && n.Taken {
		a.notes = append(a.notes, note.FromText(words.Format(
			"homeagent.txt：Wi-Fi %q 的密码这里没有了；请在 wifi_password 后面再写一次。如果是开放的网络，请删掉它上面那行“已取走”的注释",
			"homeagent.txt: the password of the Wi-Fi %q is not here any more; write it once more after wifi_password. If the network is open, remove the comment \"taken over\" above it",
			n.Name), true))
		return false
	}
	psk, err := n.psk()
	if err != nil {
		a.failed("wifi_name", err)
		return false
	}
	sum := digest(n.Name, psk)
	if have && a.taken["wifi"] == sum {
		a.country(path, string(old), country)
		return true
	}
	if err := a.write(path, []byte(wpaConf(*n, psk, country)), 0o600, 0o700); err != nil {
		a.failed("wifi_name", err)
		return false
	}
	a.taken["wifi"], a.taken["wifi_name"], a.taken["wifi_country"] = sum, n.Name, country
	a.done = append(a.done, fmt.Sprintf("Wi-Fi is %q, open: %t, country %q", n.Name, psk == "", country))
	if country == "" {
		a.notes = append(a.notes, note.FromText(words.Text{
			ZH: "homeagent.txt 里没有写 wifi_country；如果连不上 5 GHz 的 Wi-Fi，请写上两个字母的国家代码，例如 CN",
			EN: "homeagent.txt has no wifi_country; if a 5 GHz Wi-Fi is not found, write the two letters of your country, such as GB"}, false))
	}
	return true
}

// country changes the country alone.
func (a *applier) country(path, conf, country string) {
	if country == "" || country == a.taken["wifi_country"] {
		return
	}
	if conf != "" {
		if err := a.write(path, []byte(withCountry(conf, country)), 0o600, 0o700); err != nil {
			a.failed("wifi_country", err)
			return
		}
	}
	a.taken["wifi_country"] = country
	a.done = append(a.done, "Wi-Fi country is "+country)
}

// llm reports whether the key on the card is not needed any more.
func (a *applier) llm(m *Model) bool {
	if m == nil {
		return false
	}
	home := filepath.Join(a.data, "homeagent")
	path := filepath.Join(home, "config.yaml")
	sum := digest(m.URL, m.Key)
	switch {
	case m.Key != "" && a.taken["llm"] == sum && exists(path):
		return true
	case m.Key == "" && a.taken["llm_url"] == m.URL && exists(path):
		return false
	case m.Key == "" && m.Taken && !a.sameServer(m.URL):
		a.notes = append(a.notes, note.FromText(words.Text{
			ZH: "homeagent.txt：这个语言模型的密钥这里没有；请在 llm_key 后面再写一次。如果它不要密钥，请删掉上面那行“已取走”的注释",
			EN: "homeagent.txt: the key of this language model is not here; write it once more after llm_key. If it wants none, remove the comment \"taken over\" above it"}, false))
		return false
	}
	if err := os.MkdirAll(home, 0o750); err != nil {
		a.failed("llm_url", err)
		return false
	}
	kind := kindOf(m.URL)
	p := config.Provider{Kind: kind, BaseURL: m.URL}
	if m.Key != "" {
		p.Key = kind
		if err := a.write(filepath.Join(home, "secrets", kind), []byte(m.Key), 0o600, 0o700); err != nil {
			a.failed("llm_key", err)
			return false
		}
	} else if a.sameServer(m.URL) && exists(filepath.Join(home, "secrets", kind)) {
		p.Key = kind
	}
	old, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		a.failed("llm_url", err)
		return false
	}
	changed, err := config.SetProvider(old, p)
	if err == nil {
		mode := os.FileMode(0o640)
		if info, err := os.Stat(path); err == nil {
			mode = info.Mode().Perm()
		}
		err = a.write(path, changed, mode, 0o750)
	}
	if err != nil {
		a.failed("llm_url", err)
		return false
	}
	a.taken["llm"], a.taken["llm_url"] = sum, m.URL
	a.done = append(a.done, fmt.Sprintf("language model is %s %s, with a key: %t", kind, m.URL, p.Key != ""))
	if kind == "openai" && m.URL != "" && !strings.HasSuffix(host(m.URL), "openai.com") {
		a.notes = append(a.notes, note.FromText(words.Format(
			"语言模型的地址已设置。如果它说没有这个模型，请运行 homectl llm set openai --base-url %s --model 名称",
			"the language model's address is set. Should it say that it has no such model: homectl llm set openai --base-url %s --model NAME", m.URL), false))
	}
	return true
}

// sameServer tells whether the key that was taken belongs to the address's host.
func (a *applier) sameServer(address string) bool {
	old, ok := a.taken["llm_url"]
	return ok && host(old) == host(address)
}

// host is where a key would be sent; "" as address is DeepSeek.
func host(address string) string {
	if address == "" {
		return "api.deepseek.com"
	}
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Host)
}

// kindOf is the kind of provider that speaks to the address.
func kindOf(address string) string {
	if h := host(address); h == "api.deepseek.com" {
		return "deepseek"
	}
	return "openai"
}
