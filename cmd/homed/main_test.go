package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"homeagent/firmware/words"
)

func TestArguments(t *testing.T) {
	tests := []struct {
		name     string
		args     []string
		code     int
		zh, en   []string // parts of what is printed, on out for code 0, else on err
		silentOn string   // "out" or "err"
	}{
		{"unknown flag", []string{"-dta", "x"}, 2, []string{"homed: 参数不对", "-dta", "用法：", "-data 文件夹"}, []string{"homed: the arguments", "-dta", "usage:", "-data FOLDER"}, "out"},
		{"flag without its value", []string{"-data"}, 2, []string{"参数不对", "用法："}, []string{"not understood", "usage:"}, "out"},
		{"a word too many", []string{"start"}, 2, []string{`看不懂参数 "start"`, "用法："}, []string{`"start" is not understood`, "usage:"}, "out"},
		{"a word after flags", []string{"-data", "x", "now"}, 2, []string{`看不懂参数 "now"`}, []string{`"now" is not understood`}, "out"},
		{"no address", []string{"-listen", "eighty"}, 2, []string{`-listen 的地址 "eighty" 不对`, ":80"}, []string{`-listen "eighty" is no address`, ":80"}, "out"},
		{"help of an appliance", []string{"-h"}, 0, []string{"-agent-user 用户", "-setup 文件夹", "-log 文件"}, []string{"-door-user NAME", "-notes FILE", "-listen ADDR"}, "err"},
		{"help", []string{"-h"}, 0, []string{"用法：", "-config 文件"}, []string{"usage:", "-config FILE"}, "err"},
		{"version", []string{"-version"}, 0, []string{"dev"}, []string{"dev"}, "err"},
		// The test binary has no homed-agent beside it.
		{"no agent", []string{"-data", filepath.Join(t.TempDir(), "d")}, 1, []string{"homed-agent 必须和 homed 放在一起", "make build"}, []string{"must lie beside homed", "make build"}, "out"},
	}
	for _, tt := range tests {
		for lang, parts := range map[string][]string{words.Chinese: tt.zh, words.English: tt.en} {
			t.Run(tt.name+" "+lang, func(t *testing.T) {
				var out, err bytes.Buffer
				if code := run(tt.args, terminal{out: &out, err: &err, lang: lang}); code != tt.code {
					t.Errorf("exit %d, want %d", code, tt.code)
				}
				said, silent := err.String(), out.String()
				if tt.silentOn == "err" {
					said, silent = silent, said
				}
				for _, p := range parts {
					if !strings.Contains(said, p) {
						t.Errorf("%q lacks %q", said, p)
					}
				}
				if silent != "" {
					t.Errorf("%s says %q", tt.silentOn, silent)
				}
			})
		}
	}
}

func TestDataFolder(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	tests := []struct{ name, path, want string }{
		{"named", write("a", "daemon: {data_dir: /srv/home}\n"), "/srv/home"},
		{"not named", write("b", "daemon: {log_level: debug}\n"), ""},
		{"broken", write("c", "daemon: ["), ""},
		{"absent", filepath.Join(dir, "none"), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := configured(tt.path); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	t.Setenv("XDG_DATA_HOME", dir)
	want := filepath.Join(dir, "homeagent")
	if os.Getuid() == 0 {
		want = "/var/lib/homeagent"
	}
	if got := defaultData(); got != want {
		t.Errorf("default %q, want %q", got, want)
	}
}
