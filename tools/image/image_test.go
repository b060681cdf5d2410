package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"homeagent/tools/image/kernel"
)

func TestManifest(t *testing.T) {
	files := []string{"usr/bin/a", "usr/bin/b", "usr/share/x/1", "usr/share/x/sub/2", "usr/lib/libq.so.1-debian"}
	rows := []struct{ name, text, want, fails string }{
		{"one file", "p usr/bin/a", "usr/bin/a", ""},
		{"pattern", "p usr/bin/*", "usr/bin/a usr/bin/b", ""},
		{"folder without a part", "p usr/share/x/ -usr/share/x/sub/ # why", "usr/share/x/1", ""},
		{"another name", "p usr/lib/libq.so.1-debian->usr/lib/libq.so.1", "usr/lib/libq.so.1", ""},
		{"nothing found", "p usr/bin/c", "", "p has no usr/bin/c"},
		{"two files of one name", "p usr/bin/*->usr/bin/c", "", "both"},
		{"nothing taken", "p -usr/bin/a", "", "nothing is taken"},
		{"absolute", "p /usr/bin/a", "", "bad path"},
		{"upwards", "p usr/../etc/a", "", "bad path"},
		{"pattern that is none", "p usr/bin/[", "", "bad pattern"},
		{"name without an end", "p usr/bin/a->", "", "bad path"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			rules, err := parseManifest(row.text)
			got := map[string]string{}
			if err == nil {
				got, err = rules[0].pick(files)
			}
			if row.fails != "" {
				if err == nil || !strings.Contains(err.Error(), row.fails) {
					t.Errorf("error %v, want %q", err, row.fails)
				}
				return
			}
			if s := strings.Join(slices.Sorted(maps.Keys(got)), " "); err != nil || s != row.want {
				t.Errorf("took %q, %v", s, err)
			}
		})
	}
}

func TestManifestItself(t *testing.T) {
	text, err := os.ReadFile("manifest.txt")
	if err != nil {
		t.Fatal(err)
	}
	if rules, err := parseManifest(string(text)); err != nil || len(rules) < 10 {
		t.Errorf("%d rules, %v", len(rules), err)
	}
}

// FuzzManifest holds that what is taken never leaves the root.
func FuzzManifest(f *testing.F) {
	f.Add("p usr/* -usr/a\nq a->b")
	f.Fuzz(func(t *testing.T, text string) {
		rules, err := parseManifest(text)
		if err != nil {
			return
		}
		for _, r := range rules {
			for _, to := range r.rename {
				if strings.HasPrefix(canonical(to), "..") || strings.HasPrefix(to, "/") {
					t.Errorf("%q leads out", to)
				}
			}
		}
	})
}

func TestCanonical(t *testing.T) {
	for from, to := range map[string]string{"./bin/sh": "usr/bin/sh", "/sbin/init": "usr/bin/init", "lib/x": "usr/lib/x",
		"usr/sbin/a": "usr/bin/a", "etc/a": "etc/a", "library/a": "library/a", "../../x": "x"} {
		if got := canonical(from); got != to {
			t.Errorf("%s is %s, want %s", from, got, to)
		}
	}
}

func TestTreeRefusesTwice(t *testing.T) {
	tr := tree{}
	if err := tr.add("sbin/x", node{by: "first"}); err != nil {
		t.Fatal(err)
	}
	err := tr.add("usr/bin/x", node{by: "second"})
	var twice *TwiceError
	if !errors.As(err, &twice) || twice.First != "first" || twice.Second != "second" {
		t.Error(err)
	}
}

func TestLibrariesFollowLinks(t *testing.T) {
	l := libraries{"usr/lib/liba.so.1": {link: "liba.so.1.2"}, "usr/lib/liba.so.1.2": {data: []byte("x")}, "usr/lib/libb.so": {link: "gone"}}
	tr := tree{}
	if !l.take(tr, "usr/lib/liba.so.1") || tr.find("lib/liba.so.1") != "usr/lib/liba.so.1.2" {
		t.Errorf("tree %v", tr)
	}
	if l.take(tree{}, "usr/lib/libb.so") || l.take(tree{}, "usr/lib/libc.so") {
		t.Error("a library that is not there was taken")
	}
	tr["loop"] = node{link: "loop"}
	if tr.find("loop") != "" {
		t.Error("a link to itself was found")
	}
}

func TestApplets(t *testing.T) {
	table := "\x00[\x00[[\x00"
	for i := range 120 {
		table += fmt.Sprintf("a%03d\x00", i)
	}
	got, err := applets([]byte("ELF" + table + "Usage: x\x00"))
	if err != nil || len(got) != 122 || got[0] != "[" || got[121] != "a119" {
		t.Errorf("%d applets, %v", len(got), err)
	}
	for _, bad := range []string{"", "\x00[\x00[[\x00ash\x00", table[:len(table)/2][:40]} {
		if _, err := applets([]byte(bad)); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

func TestRefusesPi5WithoutItsDrivers(t *testing.T) {
	with := kernel.ParseModules([]byte("a/rp1-pci.ko.xz:\n"), []byte("a/clk-rp1.ko\na/pinctrl-rp1.ko\n"), nil)
	without := kernel.ParseModules([]byte("a/macb.ko.xz:\n"), []byte("a/clk-rp1.ko\n"), nil)
	pi5 := &builder{board: "rpi5", meta: meta{"DTBS": "bcm2712-rpi-5-b.dtb"}}
	if err := pi5.checkDrivers(kernelTree{modules: with}); err != nil {
		t.Errorf("a kernel with the drivers: %v", err)
	}
	var missing *MissingDriversError
	err := pi5.checkDrivers(kernelTree{version: "6.12", modules: without})
	if !errors.As(err, &missing) || !slices.Equal(missing.Drivers, []string{"rp1_pci", "pinctrl_rp1"}) {
		t.Fatalf("a kernel without: %v", err)
	}
	for _, s := range []string{"驱动", "lacks the drivers", "make buildroot-image BOARD=rpi5"} {
		if !strings.Contains(err.Error(), s) {
			t.Errorf("it does not say %q: %v", s, err)
		}
	}
	pi4 := &builder{meta: meta{"DTBS": "bcm2711-rpi-4-b.dtb"}}
	if err := pi4.checkDrivers(kernelTree{modules: without}); err != nil {
		t.Errorf("a board that needs none: %v", err)
	}
}

func TestMeta(t *testing.T) {
	m, err := parseMeta("# words\nA=\"b c\"\nD=e\nF=\n")
	if err != nil || !slices.Equal(m.words("A"), []string{"b", "c"}) || m["D"] != "e" || m["F"] != "" {
		t.Errorf("%v, %v", m, err)
	}
	for _, bad := range []string{"A", "=b", "A=$B", "A=b c", "A=\"b", "A=`x`"} {
		if _, err := parseMeta(bad); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
	for _, board := range []string{"rpi3-64", "zero2w", "rpi4-64", "rpi5"} {
		text, err := os.ReadFile("../../board/" + board + "/meta")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := parseMeta(string(text)); err != nil {
			t.Errorf("%s: %v", board, err)
		}
	}
}

func TestMissingToolNamesItsPackage(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	err := needTools("genimage", "mkimage", "mkenvimage")
	var missing *MissingToolsError
	if !errors.As(err, &missing) || !strings.Contains(err.Error(), "apt-get install -y genimage u-boot-tools") {
		t.Error(err)
	}
}

func TestUnknownBoardAndWrongUsage(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "1700000000")
	rows := []struct {
		name string
		args []string
		code int
		says string
	}{
		{"unknown board", []string{"-board", "pi9", "-source", "../.."}, 1, "there is no board"},
		{"a path as board", []string{"-board", "../board", "-source", "../.."}, 1, "没有叫"},
		{"no image yet", []string{"-sizes", "-source", "../..", "-out", t.TempDir()}, 1, "make image"},
		{"unknown flag", []string{"-x"}, 2, "flag"},
		{"argument", []string{"x"}, 2, "unexpected"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			var said bytes.Buffer
			if code := run(context.Background(), append([]string{"-cache", t.TempDir()}, row.args...), io.Discard, &said); code != row.code {
				t.Errorf("exit code %d", code)
			}
			if !strings.Contains(said.String(), row.says) {
				t.Errorf("it said %q", said.String())
			}
		})
	}
}

func TestKeysSeeEveryChange(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "in")
	file := filepath.Join(dir, "sub", "a")
	sum := func() string {
		k := &key{}
		if err := k.file(dir); err != nil {
			t.Fatal(err)
		}
		return k.sum()
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.MkdirAll(filepath.Dir(file), 0o755))
	must(os.WriteFile(file, []byte("x"), 0o644))
	seen := map[string]string{sum(): "at first"}
	for what, change := range map[string]func() error{
		"content":    func() error { return os.WriteFile(file, []byte("y"), 0o644) },
		"executable": func() error { return os.Chmod(file, 0o755) },
		"link":       func() error { return os.Symlink("a", filepath.Join(dir, "l")) },
	} {
		must(change())
		s := sum()
		if was, same := seen[s]; same {
			t.Errorf("%s: the key is that of %s", what, was)
		}
		seen[s] = what
	}
	must(os.Chmod(dir, 0o700)) // a umask, not a change
	if _, same := seen[sum()]; !same {
		t.Error("a folder's permission changes the key")
	}
	a, b := &key{}, &key{}
	a.text("ab", "c")
	b.text("a", "bc")
	if a.sum() == b.sum() {
		t.Error("where a part ends does not count")
	}
}

func TestStagesAppearWholeAndOnce(t *testing.T) {
	b := &builder{cache: t.TempDir(), log: io.Discard}
	calls := 0
	fill := func(dir string) error { calls++; return os.WriteFile(filepath.Join(dir, "x"), nil, 0o644) }
	boom := errors.New("boom")
	if _, err := b.staged("s", "1", func(string) error { return boom }); !errors.Is(err, boom) {
		t.Error(err)
	}
	for range 2 {
		dir, err := b.staged("s", "1", fill)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(dir, "x")); err != nil {
			t.Error(err)
		}
	}
	if calls != 1 {
		t.Errorf("made %d times", calls)
	}
	for i := range 9 {
		if _, err := b.staged("s", fmt.Sprint(2+i), fill); err != nil {
			t.Fatal(err)
		}
	}
	left, err := os.ReadDir(filepath.Join(b.cache, "image", "s"))
	if err != nil || len(left) != keepStages {
		t.Errorf("%d are kept, %v", len(left), err)
	}
}
