package card

import (
	"io/fs"
	"net/url"
	"path"
	"regexp"
	"strings"

	"golang.org/x/crypto/ssh"

	"homeagent/firmware/note"
	"homeagent/firmware/words"
)

// Settings are what the card asks for, checked. An empty field asks for nothing.
type Settings struct {
	Wifi     *Network
	Country  string
	HostName string
	Language string
	TimeZone string
	LLM      *Model
	// SSHKeys are lines of authorized_keys. SSHOff takes away those that were
	// placed before; then there are none.
	SSHKeys []string
	SSHOff  bool
}

// Network is a Wi-Fi network.
type Network struct {
	// Name is the SSID, 1 to 32 bytes.
	Name string
	// Password is a passphrase of 8 to 63 bytes or a key of 64 hexadecimal
	// digits; "" is an open network, or with Taken one whose password an earlier boot took.
	Password string
	Taken    bool
}

// Model is a language model's server and key.
type Model struct {
	// URL is what stands before /chat/completions; "" is DeepSeek.
	URL string
	// Key may be empty; Taken as in Network.
	Key   string
	Taken bool
}

// checker turns a draft into Settings and says what is wrong with it.
type checker struct {
	zones fs.FS // nil: no zone can be checked
	notes []note.Note
}

func (c *checker) quiet(zh, en string, args ...any) {
	c.notes = append(c.notes, note.FromText(words.Format(zh, en, args...), false))
}

func (c *checker) aloud(zh, en string, args ...any) {
	c.notes = append(c.notes, note.FromText(words.Format(zh, en, args...), true))
}

func (c *checker) check(d draft) Settings {
	keys, off := c.sshKeys(d.sshKeys)
	return Settings{
		Wifi: c.wifi(d), Country: c.country(d.wifiCountry), HostName: c.hostName(d.hostName), Language: c.language(d.language),
		TimeZone: c.timeZone(d.timeZone), LLM: c.llm(d), SSHKeys: keys, SSHOff: off,
	}
}

var hexKey = regexp.MustCompile(`^[0-9A-Fa-f]{64}$`)

func (c *checker) wifi(d draft) *Network {
	name, password := d.wifiName, d.wifiPassword
	switch n := len(password.text); {
	case name.text == "" && password.text == "":
		return nil
	case name.text == "":
		c.aloud("%s：写了 Wi-Fi 密码，却没有写 Wi-Fi 名称；请在 wifi_name 后面写上名称",
			"%s: there is a Wi-Fi password without the network's name; write it after wifi_name", password.where())
		return nil
	case len(name.text) > 32:
		c.aloud("%s：Wi-Fi 名称有 %d 字节，最多 32（一个汉字占 3）；请对照路由器改正",
			"%s: the Wi-Fi name has %d bytes, 32 at most (a Chinese character counts 3); compare it with your router", name.where(), len(name.text))
		return nil
	case n > 0 && n < 8:
		c.aloud("%s：Wi-Fi 密码只有 %d 个字符，至少要 8 个；请对照路由器改正，开放的网络就留空",
			"%s: the Wi-Fi password has %d characters, at least 8 are needed; compare it with your router, leave it empty for an open network", password.where(), n)
		return nil
	case n == 64 && hexKey.MatchString(password.text):
	case n > 63:
		c.aloud("%s：Wi-Fi 密码有 %d 字节，最多 63（一个汉字占 3），或者正好 64 个十六进制数字；请对照路由器改正",
			"%s: the Wi-Fi password has %d bytes, 63 at most (a Chinese character counts 3), or just 64 hexadecimal digits; compare it with your router", password.where(), n)
		return nil
	}
	return &Network{Name: name.text, Password: password.text, Taken: d.wifiTaken}
}

func (c *checker) country(v value) string {
	s := strings.ToUpper(v.text)
	if s == "UK" {
		s = "GB" // what people write and ISO 3166 does not
	}
	if s == "" || len(s) == 2 && s[0] >= 'A' && s[0] <= 'Z' && s[1] >= 'A' && s[1] <= 'Z' {
		return s
	}
	c.quiet("%s：wifi_country 应当是两个字母的国家代码，例如 CN、DE、US；已略过",
		"%s: wifi_country wants the two letters of a country, such as CN, DE or US; it is left out", v.where())
	return ""
}

var hostLabel = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)

func (c *checker) hostName(v value) string {
	s := strings.TrimSuffix(strings.ToLower(v.text), ".local")
	if s == "" || hostLabel.MatchString(s) {
		return s
	}
	c.quiet("%s：host_name 只能用英文字母、数字和中间的 -，最多 63 个；已略过，可以写 %s",
		"%s: host_name may hold letters, digits and - inside, 63 at most; it is left out, you might write %s", v.where(), likeHost(s))
	return ""
}

// likeHost makes a host name of a text that is none.
func likeHost(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r == ' ', r == '_', r == '.', r == '-':
			return '-'
		}
		return -1
	}, s)
	s = strings.Trim(s[:min(len(s), 63)], "-")
	if s == "" {
		return "homeagent"
	}
	return s
}

func (c *checker) language(v value) string {
	s := strings.ToLower(v.text)
	base, _, _ := strings.Cut(strings.ReplaceAll(s, "_", "-"), "-")
	switch base {
	case "":
		if s == "" {
			return ""
		}
	case "zh", "cn", "chinese", "中文", "汉语", "简体中文":
		return words.Chinese
	case "en", "english", "英文", "英语":
		return words.English
	}
	c.quiet("%s：language 可以写 zh（中文）或 en（英文）；已略过", "%s: language may be zh (Chinese) or en (English); it is left out", v.where())
	return ""
}

func (c *checker) timeZone(v value) string {
	if v.text == "" {
		return ""
	}
	if c.zones == nil {
		c.quiet("%s：这台机器上没有时区资料，time_zone 没有用上", "%s: this box has no time zone data, time_zone is not used", v.where())
		return ""
	}
	if fs.ValidPath(v.text) && isZone(c.zones, v.text) {
		return v.text
	}
	if s := likeZone(c.zones, v.text); s != "" {
		c.quiet("%s：没有这个时区，已略过；是不是 %s？", "%s: there is no such time zone and it is left out; did you mean %s?", v.where(), s)
	} else {
		c.quiet("%s：没有这个时区，已略过；请写成例如 Asia/Shanghai 或 Europe/Berlin",
			"%s: there is no such time zone and it is left out; write for example Asia/Shanghai or Europe/Berlin", v.where())
	}
	return ""
}

// isZone tells whether the folder of zones has a file of that name that is one.
func isZone(zones fs.FS, name string) bool {
	f, err := zones.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	var magic [4]byte
	n, err := f.Read(magic[:])
	return err == nil && n == 4 && string(magic[:]) == "TZif"
}

// likeZone finds a zone whose name or last part is the text, written otherwise.
func likeZone(zones fs.FS, text string) string {
	want := strings.ToLower(strings.ReplaceAll(strings.TrimSpace(text), " ", "_"))
	switch want {
	case "beijing", "asia/beijing", "china", "北京", "上海", "中国", "utc+8", "gmt+8", "cst":
		want = "asia/shanghai"
	}
	found := ""
	// A zone folder that cannot be walked has no suggestion to make.
	_ = fs.WalkDir(zones, ".", func(p string, e fs.DirEntry, err error) error {
		switch low := strings.ToLower(p); {
		case err != nil, e.IsDir() && (low == "posix" || low == "right"):
			return fs.SkipDir
		case e.IsDir(), low != want && path.Base(low) != want:
		case isZone(zones, p):
			found = p
			return fs.SkipAll
		}
		return nil
	})
	return found
}

func (c *checker) llm(d draft) *Model {
	address, key := d.llmURL, d.llmKey
	if address.text == "" && key.text == "" {
		return nil
	}
	if address.text != "" {
		u, err := url.Parse(address.text)
		if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
			c.quiet("%s：llm_url 不是可用的网址，语言模型没有设置；网址形如 https://api.deepseek.com 或 http://192.168.1.5:8000/v1",
				"%s: llm_url is no address that can be used, no language model is set; it looks like https://api.deepseek.com or http://192.168.1.5:8000/v1", address.where())
			return nil
		}
	}
	if len(key.text) > 4096 || strings.ContainsAny(key.text, " \t") {
		c.quiet("%s：llm_key 里有空格或者太长，不像是密钥，语言模型没有设置；请重新复制一遍",
			"%s: llm_key holds blanks or is too long to be a key, no language model is set; copy it once more", key.where())
		return nil
	}
	return &Model{URL: strings.TrimRight(address.text, "/"), Key: key.text, Taken: d.llmTaken}
}

// noKey is what stands in a key's place where there shall be no SSH.
func noKey(text string) bool {
	switch strings.ToLower(text) {
	case "none", "off", "无", "关":
		return true
	}
	return false
}

// sshKeys reads the keys. One "none" among them takes all away: who wrote it
// wants the door shut.
func (c *checker) sshKeys(values []value) (lines []string, off bool) {
	for _, v := range values {
		if noKey(v.text) {
			if len(values) > 1 {
				c.quiet("%s：ssh_key 是 none，SSH 已关闭，其余的公钥没有用上；要打开 SSH，请删掉这一行",
					"%s: ssh_key is none, so SSH is off and the other keys are not used; remove this line to have SSH", v.where())
			}
			return nil, true
		}
	}
	for _, v := range values {
		key, comment, options, rest, err := ssh.ParseAuthorizedKey([]byte(v.text))
		if err != nil || len(rest) > 0 || !plainKey(key.Type()) {
			c.quiet("%s：ssh_key 不是能用的公钥，已略过；请复制 .pub 文件里的整行，例如 ssh-ed25519 AAAA… 名字",
				"%s: ssh_key is no public key that can be used and is left out; copy the whole line of the .pub file, such as ssh-ed25519 AAAA… name", v.where())
			continue
		}
		if len(options) > 0 {
			c.quiet("%s：ssh_key 前面不能有选项，已略过；请只写公钥本身", "%s: ssh_key may have no options before it and is left out; write the key alone", v.where())
			continue
		}
		line := strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key)))
		if comment != "" {
			line += " " + comment
		}
		lines = append(lines, line)
	}
	return lines, false
}

// plainKey are the types of keys that the box's SSH server takes.
func plainKey(kind string) bool {
	switch kind {
	case ssh.KeyAlgoED25519, ssh.KeyAlgoRSA, ssh.KeyAlgoECDSA256, ssh.KeyAlgoECDSA384, ssh.KeyAlgoECDSA521, ssh.KeyAlgoSKED25519, ssh.KeyAlgoSKECDSA256:
		return true
	}
	return false
}
