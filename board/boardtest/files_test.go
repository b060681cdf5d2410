package boardtest

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// root is the project's folder as seen from here.
const root = "../.."

// read returns a file of the tree.
func read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// variables reads KEY=VALUE lines and drops comments and quotes.
func variables(text string) map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		key, value, ok := strings.Cut(line, "=")
		if ok && !strings.HasPrefix(line, "#") {
			out[key] = strings.Trim(value, `"`)
		}
	}
	return out
}

// program finds a program or skips the test by its name.
func program(t *testing.T, name string) string {
	t.Helper()
	for _, dir := range []string{"", "/usr/sbin/", "/sbin/"} {
		if p, err := exec.LookPath(dir + name); err == nil {
			return p
		}
	}
	t.Skipf("%s is not installed", name)
	return ""
}

// scripts are the shell files of both folders.
func scripts(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, dir := range []string{"board", "overlay"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(p string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			b, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			if bytes.HasPrefix(b, []byte("#!/bin/sh")) || strings.HasSuffix(p, ".sh") {
				out = append(out, p)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(out) < 20 {
		t.Fatalf("only %d scripts found: %v", len(out), out)
	}
	return out
}

func TestScriptsPassShellcheck(t *testing.T) {
	check := program(t, "shellcheck")
	// What a script of the box sources lies elsewhere here: those files are checked by themselves.
	args := append([]string{"-s", "sh", "-e", "SC1090,SC1091"}, scripts(t)...)
	if out, err := exec.Command(check, args...).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestScriptsAreExecutable(t *testing.T) {
	for _, p := range scripts(t) {
		info, err := os.Stat(p)
		if err != nil {
			t.Fatal(err)
		}
		if sourced := filepath.Base(p) == "lib.sh" || filepath.Base(p) == "table.sh"; !sourced && info.Mode()&0o111 == 0 {
			t.Errorf("%s is not executable", p)
		}
	}
}

func TestLayoutAgrees(t *testing.T) {
	layout := variables(read(t, "board/common/layout.env"))
	config := variables(read(t, "board/common/uboot/uboot.config"))
	for option, key := range map[string]string{
		"CONFIG_ENV_OFFSET": "ENV_OFFSET_1", "CONFIG_ENV_OFFSET_REDUND": "ENV_OFFSET_2", "CONFIG_ENV_SIZE": "ENV_SIZE",
	} {
		n, err := strconv.ParseInt(config[option], 0, 64)
		if err != nil || strconv.FormatInt(n, 10) != layout[key] {
			t.Errorf("%s=%s, but %s=%s", option, config[option], key, layout[key])
		}
	}
	env := read(t, "board/common/uboot/homeagent.env")
	for _, slot := range []string{"A", "B"} {
		want := fmt.Sprintf("ha_part_%s=setenv bp %s; setenv rp %s\n", slot, layout["SLOT_"+slot+"_PART"], layout["ROOT_"+slot+"_PART"])
		if !strings.Contains(env, want) {
			t.Errorf("homeagent.env has no %q", want)
		}
	}
	// The template may use only what the layout has, and the parts come in the order of their numbers.
	template := read(t, "board/common/genimage.cfg.in")
	for i, word := range strings.Split(template, "@") {
		if _, ok := layout[word]; i%2 == 1 && !ok {
			t.Errorf("genimage.cfg.in uses @%s@, which layout.env has not", word)
		}
	}
	at := 0
	for _, part := range []string{"setup", "slot-a", "slot-b", "root-a", "root-b", "data"} {
		i := strings.Index(template, "partition "+part+" ")
		if i < at {
			t.Errorf("partition %s is missing or out of order", part)
		}
		at = i
	}
	number := func(key string) int {
		n, err := strconv.Atoi(layout[key])
		if err != nil {
			t.Errorf("%s=%q is no number", key, layout[key])
		}
		return n
	}
	if mib := 2 * (number("SLOT_MIB") + number("ROOT_MIB")); mib*1048576 > 302_000_000 {
		t.Errorf("both slots have %d MiB", mib)
	}
	if end := number("ENV_OFFSET_2") + number("ENV_SIZE"); end > number("SETUP_OFFSET_MIB")*1048576 {
		t.Errorf("the environment reaches into the setup partition: %d", end)
	}
}

func TestBoardsAreComplete(t *testing.T) {
	for _, board := range []string{"rpi3-64", "zero2w", "rpi4-64", "rpi5", "virt"} {
		meta := variables(read(t, "board/"+board+"/meta"))
		for _, key := range []string{"NAME", "LOADER", "CONSOLE", "CONSOLE_RASPBERRYPI"} {
			if meta[key] == "" {
				t.Errorf("%s: meta has no %s", board, key)
			}
		}
		if lines := strings.Count(read(t, "board/"+board+"/cmdline.txt"), "\n"); lines != 1 {
			t.Errorf("%s: cmdline.txt has %d lines", board, lines)
		}
		config, err := os.ReadFile(filepath.Join(root, "board", board, "config.txt"))
		if (err == nil) != (meta["LOADER"] != "none") {
			t.Errorf("%s: config.txt: %v", board, err)
		}
		if meta["LOADER"] == "uboot" && !strings.Contains(string(config), "\nkernel=u-boot.bin\n") {
			t.Errorf("%s: config.txt does not start U-Boot", board)
		}
	}
}

func TestNobodyHasAPassword(t *testing.T) {
	for line := range strings.Lines(read(t, "overlay/etc/shadow")) {
		if f := strings.Split(line, ":"); len(f) != 9 || f[1] != "*" {
			t.Errorf("shadow: %q is not locked", line)
		}
	}
	for line := range strings.Lines(read(t, "overlay/etc/passwd")) {
		f := strings.Split(strings.TrimSpace(line), ":")
		if len(f) != 7 || f[1] != "x" || (f[0] != "root" && f[6] != "/bin/false") {
			t.Errorf("passwd: %q", line)
		}
	}
	if inittab := read(t, "overlay/etc/inittab"); strings.Contains(inittab, "askfirst") || strings.Contains(inittab, ":/sbin/getty") {
		t.Error("inittab offers a login")
	}
}

func TestUserFormReadsEverywhere(t *testing.T) {
	text := read(t, "board/common/homeagent.txt")
	if strings.Count(text, "\n") != strings.Count(text, "\r\n") {
		t.Error("homeagent.txt: a line does not end as an old Notepad wants it")
	}
	values := variables(text)
	for _, key := range []string{"wifi_name", "wifi_password", "wifi_country", "host_name", "language", "time_zone", "llm_url", "llm_key", "ssh_key"} {
		if v, ok := values[key]; !ok || v != "" {
			t.Errorf("homeagent.txt: %s is %q, there: %v", key, v, ok)
		}
	}
}
