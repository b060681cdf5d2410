package card

import (
	"strings"

	"github.com/pelletier/go-toml/v2"
	"go.yaml.in/yaml/v3"

	"homeagent/firmware/words"
)

// foreign are the files of Raspberry Pi Imager, the weightiest first, and how
// each is read. None of the readers runs anything.
var foreign = []struct {
	name string
	read func(file string, data []byte) (draft, error)
}{
	{"custom.toml", readCustom},
	{"user-data", readUserData},
	{"network-config", readNetworkConfig},
	{"meta-data", readMetaData},
	{"firstrun.sh", readFirstRun},
	{"wpa_supplicant.conf", readWPA},
	{"userconf.txt", readUserConf},
	{"userconf", readUserConf},
	{"ssh", readSSH},
	{"ssh.txt", readSSH},
}

// emptied is what stays of a foreign file that held a secret.
const emptied = "# HomeAgent 已读取这个文件，里面的密码等已取走；以后请改 homeagent.txt\n" +
	"# HomeAgent has read this file and taken over the passwords in it; from now on change homeagent.txt\n"

// unreadable is a foreign file that cannot be understood.
func unreadable(file string, err error) *words.Error {
	return words.Errorf("%s 读不懂，已略过（%v）；请改用 homeagent.txt", "%s is not understood and left out (%v); use homeagent.txt instead", file, err)
}

func readCustom(file string, data []byte) (draft, error) {
	var c struct {
		System struct {
			Hostname string `toml:"hostname"`
		} `toml:"system"`
		User struct {
			Name     string `toml:"name"`
			Password string `toml:"password"`
		} `toml:"user"`
		SSH struct {
			Enabled        bool     `toml:"enabled"`
			AuthorizedKeys []string `toml:"authorized_keys"`
		} `toml:"ssh"`
		WLAN struct {
			SSID     string `toml:"ssid"`
			Password string `toml:"password"`
			Country  string `toml:"country"`
		} `toml:"wlan"`
		Locale struct {
			Timezone string `toml:"timezone"`
		} `toml:"locale"`
	}
	if err := toml.Unmarshal(data, &c); err != nil {
		return draft{}, unreadable(file, err)
	}
	v := in(file)
	return draft{
		wifiName: exact(file, c.WLAN.SSID), wifiPassword: exact(file, c.WLAN.Password), wifiCountry: v(c.WLAN.Country),
		hostName: v(c.System.Hostname), timeZone: v(c.Locale.Timezone), sshKeys: each(v, c.SSH.AuthorizedKeys),
		login: c.User.Password != "", ssh: c.SSH.Enabled, secret: c.User.Password != "" || c.WLAN.Password != "",
	}, nil
}

// in makes values of a file without line numbers.
func in(file string) func(string) value {
	return func(s string) value { return value{text: strings.TrimSpace(s), file: file} }
}

func each(v func(string) value, texts []string) []value {
	var all []value
	for _, s := range texts {
		if s = strings.TrimSpace(s); s != "" {
			all = append(all, v(s))
		}
	}
	return all
}

func readUserData(file string, data []byte) (draft, error) {
	type user struct {
		Password  string   `yaml:"passwd"`
		Hashed    string   `yaml:"hashed_passwd"`
		PlainText string   `yaml:"plain_text_passwd"`
		Keys      []string `yaml:"ssh_authorized_keys"`
	}
	var c struct {
		Hostname  string      `yaml:"hostname"`
		Timezone  string      `yaml:"timezone"`
		Password  string      `yaml:"password"`
		Keys      []string    `yaml:"ssh_authorized_keys"`
		EnableSSH bool        `yaml:"enable_ssh"`
		Users     []yaml.Node `yaml:"users"`
		User      yaml.Node   `yaml:"user"`
		Chpasswd  yaml.Node   `yaml:"chpasswd"`
	}
	if err := yaml.Unmarshal(data, &c); err != nil {
		return draft{}, unreadable(file, err)
	}
	v := in(file)
	d := draft{hostName: v(c.Hostname), timeZone: v(c.Timezone), ssh: c.EnableSSH}
	keys, login := c.Keys, c.Password != "" || c.Chpasswd.Kind != 0
	for _, n := range append(c.Users, c.User) {
		if n.Kind != yaml.MappingNode {
			continue // "default", a name
		}
		var u user
		if err := n.Decode(&u); err != nil {
			return draft{}, unreadable(file, err)
		}
		keys = append(keys, u.Keys...)
		login = login || u.Password != "" || u.Hashed != "" || u.PlainText != ""
	}
	d.sshKeys, d.login, d.secret = each(v, keys), login, login
	return d, nil
}

func readNetworkConfig(file string, data []byte) (draft, error) {
	type point struct {
		Password string `yaml:"password"`
		Auth     struct {
			Password string `yaml:"password"`
		} `yaml:"auth"`
	}
	type network struct {
		Wifis map[string]struct {
			Country string    `yaml:"regulatory-domain"`
			Points  yaml.Node `yaml:"access-points"`
		} `yaml:"wifis"`
	}
	var c struct {
		Inner   network `yaml:"network"`
		network `yaml:",inline"`
	}
	if err := yaml.Unmarshal(data, &c); err != nil {
		return draft{}, unreadable(file, err)
	}
	wifis := c.Inner.Wifis
	if len(wifis) == 0 {
		wifis = c.Wifis
	}
	v := in(file)
	var d draft
	for _, name := range sortedKeys(wifis) {
		w := wifis[name]
		if d.wifiCountry.text == "" {
			d.wifiCountry = v(w.Country)
		}
		if w.Points.Kind != yaml.MappingNode {
			continue
		}
		for i := 0; i+1 < len(w.Points.Content); i += 2 { // in the order of the file
			var p point
			if err := w.Points.Content[i+1].Decode(&p); err != nil {
				return draft{}, unreadable(file, err)
			}
			if p.Password == "" {
				p.Password = p.Auth.Password
			}
			d.secret = d.secret || p.Password != ""
			if d.wifiName.text == "" {
				d.wifiName, d.wifiPassword = exact(file, w.Points.Content[i].Value), exact(file, p.Password)
			}
		}
	}
	return d, nil
}

// exact is a value whose blanks count, because the format has quotes.
func exact(file, s string) value { return value{text: s, file: file} }

func readMetaData(file string, data []byte) (draft, error) {
	var c struct {
		Local string `yaml:"local-hostname"`
		Host  string `yaml:"hostname"`
	}
	if err := yaml.Unmarshal(data, &c); err != nil {
		return draft{}, unreadable(file, err)
	}
	if c.Local == "" {
		c.Local = c.Host
	}
	return draft{hostName: in(file)(c.Local)}, nil
}

// readUserConf reads `user:hash`: a login that this box does not have.
func readUserConf(_ string, data []byte) (draft, error) {
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			return draft{login: true, secret: true}, nil
		}
	}
	return draft{}, nil
}

// readSSH is an empty file that asks for SSH by being there.
func readSSH(string, []byte) (draft, error) { return draft{ssh: true}, nil }
