package card

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

func TestBrokenFile(t *testing.T) {
	long := strings.Repeat("x", 65)
	tests := []struct {
		name, text string
		zh, en     string // parts of the one note
		say        bool
	}{
		{"no separator", "host_name=home\nmy secret\n", "第 2 行：看不懂", "line 2: is not understood", false},
		{"unknown key", "# a\n\nwifi_pasword=my secret\n", "第 3 行：不认识这个名称，已略过；是不是 wifi_password", "did you mean wifi_password?", false},
		{"unknown key like none", "password=my secret\n", "可以用的有 wifi_name", "the keys are wifi_name", false},
		{"a comment that is indented", "  # my secret\n", "第 1 行：看不懂", "line 1", false},
		{"not UTF-8", "host_name=\xc4\xe3\xba\xc3\n", "不是 UTF-8", "is not UTF-8", false},
		{"UTF-16", "\xff\xfeh\x00o\x00", "UTF-16", "UTF-16", false},
		{"control characters", "host_name=a\x00b\n", "控制字符", "control characters", false},
		{"a private key", "-----BEGIN OPENSSH PRIVATE KEY-----\n", "私钥", "private key", false},
		{"too large", strings.Repeat("#\n", maxFile), "太大", "too many to be read", false},
		{"twice", "host_name=a\nhost_name=b\n", "第 2 行：host_name 在第 1 行", "line 2: host_name stands already in line 1", false},
		{"name too long", "wifi_name=" + strings.Repeat("网", 11) + "\nwifi_password=my secret\n", "有 33 字节", "has 33 bytes", true},
		{"password too short", "wifi_name=home\nwifi_password=secret\n", "第 2 行：Wi-Fi 密码只有 6 个字符", "has 6 characters", true},
		{"password too long", "wifi_name=home\nwifi_password=" + long + "\n", "65 字节", "65 bytes", true},
		{"64 characters that are not hexadecimal", "wifi_name=home\nwifi_password=" + long[:64] + "\n", "64 字节", "64 bytes", true},
		{"password without a name", "wifi_password=my secret\n", "没有写 Wi-Fi 名称", "without the network's name", true},
		{"country", "wifi_country=Deutschland\n", "两个字母", "two letters", false},
		{"host name", "host_name=My Home_Box!\n", "可以写 my-home-box", "you might write my-home-box", false},
		{"host name in Chinese", "host_name=客厅\n", "可以写 homeagent", "you might write homeagent", false},
		{"language", "language=fr\n", "zh（中文）", "zh (Chinese)", false},
		{"time zone in small letters", "time_zone=europe/berlin\n", "是不是 Europe/Berlin", "did you mean Europe/Berlin?", false},
		{"time zone by its city", "time_zone=new york\n", "America/New_York", "America/New_York", false},
		{"time zone Beijing", "time_zone=Asia/Beijing\n", "Asia/Shanghai", "Asia/Shanghai", false},
		{"time zone outside the folder", "time_zone=../../etc/passwd\n", "没有这个时区", "no such time zone", false},
		{"time zone that is another file", "time_zone=zone.tab\n", "没有这个时区", "no such time zone", false},
		{"address", "llm_url=api.deepseek.com\n", "不是可用的网址", "no address that can be used", false},
		{"address with a password", "llm_url=https://me:secret@x.example/\n", "不是可用的网址", "no address that can be used", false},
		{"address of another kind", "llm_url=file:///etc/passwd\n", "不是可用的网址", "no address that can be used", false},
		{"key with blanks", "llm_key=my secret\n", "像是密钥", "to be a key", false},
		{"ssh key", "ssh_key=AAAAC3NzaC1lZDI1NTE5\n", "不是能用的公钥", "no public key", false},
		{"a key beside none", "ssh_key=" + sshKey + "\nssh_key=none\n", "第 2 行：ssh_key 是 none", "line 2: ssh_key is none", false},
		{"ssh key with options", "ssh_key=no-pty " + sshKey + "\n", "不能有选项", "no options", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBox(t, map[string]string{FileName: tt.text})
			r := b.run("secret", long[:64])
			if len(r.Notes) != 1 {
				t.Fatalf("notes %+v", r.Notes)
			}
			n := r.Notes[0]
			if !strings.Contains(n.ZH, tt.zh) || !strings.Contains(n.EN, tt.en) || n.Say != tt.say {
				t.Errorf("%+v", n)
			}
			if b.mounts != 0 {
				t.Error("the card was written, though nothing was taken")
			}
		})
	}
}

func TestManyBrokenLines(t *testing.T) {
	b := newBox(t, map[string]string{FileName: strings.Repeat("nonsense\n", 500) + "host_name=fine\n"})
	r := b.run()
	if len(r.Notes) != maxFaults+1 || !strings.Contains(r.Notes[maxFaults].EN, "488 more") || b.file("system/hostname") != "fine\n" {
		t.Errorf("%d notes, %q", len(r.Notes), b.file("system/hostname"))
	}
}

func TestAccepted(t *testing.T) {
	tests := []struct{ line, path, want string }{
		{"host_name=Box.local", "system/hostname", "box\n"},
		{"host_name=" + strings.Repeat("a", 63), "system/hostname", strings.Repeat("a", 63) + "\n"},
		{"language=en-US", "system/language", "en\n"},
		{"language=zh_CN.UTF-8", "system/language", "zh\n"},
		{"language=中文", "system/language", "zh\n"},
		{"language=ZH", "system/language", "zh\n"},
		{"time_zone=UTC", "system/timezone", "UTC\n"},
		{"llm_key=sk-1", "homeagent/config.yaml", "providers:\n  - kind: deepseek\n    key: deepseek\n"},
		{"llm_url=http://192.168.1.5:8000/v1", "homeagent/config.yaml", "providers:\n  - kind: openai\n    base_url: http://192.168.1.5:8000/v1\n"},
		{"llm_url=https://api.deepseek.com/v1", "homeagent/config.yaml", "providers:\n  - kind: deepseek\n    base_url: https://api.deepseek.com/v1\n"},
	}
	for _, tt := range tests {
		t.Run(tt.line, func(t *testing.T) {
			b := newBox(t, map[string]string{FileName: tt.line})
			r := b.run()
			if got := b.file(tt.path); got != tt.want {
				t.Errorf("%q, want %q; %+v", got, tt.want, r)
			}
		})
	}
}

func TestTemplate(t *testing.T) {
	data, err := readFile("../../board/common/homeagent.txt")
	if err != nil {
		t.Fatal(err)
	}
	f, notes := parseText(data)
	if len(notes) > 0 {
		t.Errorf("%v", notes)
	}
	var named []string
	for _, e := range f.entries {
		named = append(named, e.key)
		if e.value.text != "" {
			t.Errorf("%s has a value", e.key)
		}
	}
	if !slices.Equal(named, keys) {
		t.Errorf("the template has %v, want %v", named, keys)
	}
}

func FuzzText(f *testing.F) {
	for _, s := range []string{full, "\ufeffwifi_name=a\r\nwifi_password=b\r\n", "wifi_password = x\nwifi_password=y", "#\n" + takenComment + "\nllm_key=\n",
		takenComment + "\r\nllm_key=x", "ssh_key:a\nssh_key：b", "=\n==\n:", "wifi_name\xff=\n", "\xff\xfe", "LLM-KEY ＝ 1 \n\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		text, notes := parseText(data)
		for _, n := range notes {
			if n.ZH == "" || n.EN == "" {
				t.Errorf("%+v", n)
			}
		}
		out := text.blank("wifi_password", "llm_key")
		again, _ := parseText(out)
		if len(data)+200*len(text.entries) > maxFile {
			return
		}
		if len(again.entries) != len(text.entries) {
			t.Fatalf("%d lines became %d", len(text.entries), len(again.entries))
		}
		kept := 0
		for i, e := range again.entries {
			want := text.entries[i]
			if e.key == "wifi_password" || e.key == "llm_key" {
				if e.value.text != "" || want.value.text != "" && !e.taken {
					t.Errorf("%+v is not blank", e)
				}
				kept += len(want.value.text)
			} else if e.key != want.key || e.value.text != want.value.text {
				t.Errorf("%+v became %+v", want, e)
			}
		}
		if kept == 0 && !bytes.Equal(out, data) {
			t.Errorf("nothing was to be blanked, and %q became %q", data, out)
		}
		if !bytes.Equal(again.blank("wifi_password", "llm_key"), out) {
			t.Error("blanking twice differs")
		}
	})
}
