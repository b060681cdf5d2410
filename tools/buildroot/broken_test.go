package buildroot_test

import (
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"homeagent/tools/buildroot"
)

// good is a small tree in which every rule holds.
func good() map[string]string {
	sha := strings.Repeat("0123456789abcdef", 4)
	return map[string]string{
		"buildroot/external.desc":                 "name: HOMEAGENT\n",
		"buildroot/Config.in":                     "source \"$BR2_EXTERNAL_HOMEAGENT_PATH/package/thing/Config.in\"\n",
		"buildroot/external.mk":                   "include $(sort $(wildcard $(BR2_EXTERNAL_HOMEAGENT_PATH)/package/*/*.mk))\n",
		"buildroot/busybox.config":                "# what we need\nCONFIG_TIMEOUT=y\n# CONFIG_TELNETD is not set\n",
		"buildroot/configs/homeagent_a_defconfig": "BR2_aarch64=y\nBR2_PACKAGE_THING=y\n# BR2_TAR is not set\nBR2_OVERLAY=\"$(BR2_EXTERNAL_HOMEAGENT_PATH)/../overlay\"\nBR2_LEVEL=2\n",
		"buildroot/package/thing/Config.in":       "config BR2_PACKAGE_THING\n\tbool \"thing\"\n",
		"buildroot/package/thing/thing.mk": "THING_VERSION = 1.2\nTHING_SOURCE = thing_$(THING_VERSION).tgz\n" +
			"THING_SITE = https://example.org/thing\nTHING_LICENSE_FILES = COPYING\n",
		"buildroot/package/thing/thing.hash": "# from the site\nsha256  " + sha + "  thing_1.2.tgz\nsha256  " + sha + "  COPYING\n",
		"board/common/linux.config":          "CONFIG_EXT4_FS=y\n",
		"board/a/linux.config":               "CONFIG_MMC=y\n",
		"board/common/uboot/uboot.config":    "CONFIG_ENV_SIZE=0x4000\n",
		"board/common/commands.list":         "# path, package, option\n/usr/sbin/thing thing BR2_PACKAGE_THING\ntimeout busybox-static CONFIG_TIMEOUT\n",
		"board/common/post-build.sh":         "#!/bin/sh\nlink() {\n\tln -s \"$1\" \"$2\"\n}\nlink /bin/busybox usr/lib/x/mount\n",
		"board/common/initramfs/init":        "#!/bin/sh\nmount -t proc proc /proc\nexec switch_root /root /sbin/init\n",
		"overlay/etc/inittab":                "# init\n::sysinit:/etc/init.d/rcS\n::respawn:-/bin/sh\n",
		"overlay/etc/init.d/rcS":             "#!/bin/sh\n. /usr/lib/x/lib.sh\nhello && exec timeout -s KILL 5 /usr/sbin/thing -v\n\"$computed\" x\n",
		"overlay/usr/lib/x/lib.sh":           "hello() {\n\techo hello | sed s/h/H/\n\t/usr/lib/x/mount /x\n}\n",
		"overlay/etc/motd":                   "frobnicate the box\n",
	}
}

var options = map[string]buildroot.Option{
	"BR2_aarch64":     {Type: "bool"},
	"BR2_TAR":         {Type: "bool"},
	"BR2_OVERLAY":     {Type: "string"},
	"BR2_LEVEL":       {Type: "int"},
	"BR2_ARCH":        {Type: "string", Fixed: true},
	"BR2_PACKAGE_OLD": {Type: "bool", Legacy: true},
	"BR2_PACKAGE_NEW": {Type: "bool"},
}

// rules are all of them, as one.
func rules(t *testing.T, files map[string]string) []string {
	t.Helper()
	root := fstest.MapFS{}
	for name, text := range files {
		root[name] = &fstest.MapFile{Data: []byte(text)}
	}
	var out []string
	add := func(ps []buildroot.Problem, err error) {
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range ps {
			out = append(out, p.String())
		}
	}
	add(buildroot.Paths(root))
	add(buildroot.Hashes(root))
	add(buildroot.Fragments(root))
	add(buildroot.Commands(root))
	add(buildroot.Defconfigs(root, options))
	add(buildroot.Symbols(root, options))
	return out
}

func TestGoodTreeHasNoProblem(t *testing.T) {
	if got := rules(t, good()); len(got) > 0 {
		t.Errorf("%s", strings.Join(got, "\n"))
	}
}

func TestBrokenTreesAreFound(t *testing.T) {
	const config = "buildroot/configs/homeagent_a_defconfig"
	const rcS = "overlay/etc/init.d/rcS"
	for _, tc := range []struct {
		name, file, add string
		replace         string // what add takes the place of; "" appends
		want            string // of the one problem
	}{
		{"unknown option", config, "BR2_PACKAGE_NOTHING=y\n", "", config + ":6: BR2_PACKAGE_NOTHING is no option"},
		{"legacy option", config, "BR2_PACKAGE_OLD=y\n", "", "BR2_PACKAGE_OLD was removed"},
		{"option without prompt", config, "BR2_ARCH=\"x\"\n", "", "BR2_ARCH has no prompt"},
		{"=n", config, "BR2_PACKAGE_NEW=n\n", "", "# BR2_PACKAGE_NEW is not set"},
		{"no quotes", config, "BR2_OVERLAY=x\n", "BR2_OVERLAY=\"$(BR2_EXTERNAL_HOMEAGENT_PATH)/../overlay\"\n", "wants quotes"},
		{"text for a bool", config, "BR2_aarch64=\"y\"\n", "BR2_aarch64=y\n", "is yes or no"},
		{"text for a number", config, "BR2_LEVEL=\"2\"\n", "BR2_LEVEL=2\n", "is a number"},
		{"twice", config, "BR2_aarch64=y\n", "", "set twice"},
		{"no setting", config, "BR2_aarch64\n", "BR2_aarch64=y\n", "is no setting"},
		{"path is gone", config, "/../overlays\"", "/../overlay\"", "overlays does not exist"},
		{"Config.in is gone", "buildroot/Config.in", "package/thin/", "package/thing/", "package/thin/Config.in does not exist"},
		{"wildcard matches nothing", "buildroot/external.mk", "/packages/*", "/package/*", "does not exist"},
		{"name that once was", "buildroot/package/thing/Config.in", "config BR2_PACKAGE_OLD\n", "", "once had"},
		{"name that is Buildroot's", "buildroot/package/thing/Config.in", "config BR2_PACKAGE_NEW\n", "", "option of Buildroot itself"},
		{"source without hash", "buildroot/package/thing/thing.mk", "VERSION = 1.3", "VERSION = 1.2", "thing_1.3.tgz is not in thing.hash"},
		{"licence without hash", "buildroot/package/thing/thing.mk", "COPYING NOTICE", "COPYING", "NOTICE is not in thing.hash"},
		{"short hash", "buildroot/package/thing/thing.hash", "sha256  0123  more\n", "", "64 hexadecimal"},
		{"busybox option =n", "buildroot/busybox.config", "CONFIG_X=n\n", "", "is not set"},
		{"kernel fragment", "board/a/linux.config", "MMC=y\n", "", "is no setting"},
		{"command of nobody", rcS, "frobnicate now\n", "", rcS + ":5: frobnicate is no applet of Buildroot's nor of Debian's busybox"},
		{"command that only Debian's has", rcS, "telnetd\n", "", "telnetd is no applet of Buildroot's busybox"},
		{"command that only Buildroot's has", rcS, "mountpoint /data\n", "", "mountpoint is no applet of Debian's busybox"},
		{"switched off by the fragment", "buildroot/busybox.config", "# CONFIG_SED is not set\n", "", "lib.sh:2: sed is no applet of Buildroot's busybox"},
		{"behind exec", rcS, "exec frobnicate\n", "", "frobnicate is no applet"},
		{"behind timeout", rcS, "timeout 5 frobnicate\n", "", "frobnicate is no applet"},
		{"behind nice and env", rcS, "nice -n 5 env A=b frobnicate\n", "", "frobnicate is no applet"},
		{"behind start-stop-daemon", rcS, "start-stop-daemon -S -b -x /usr/bin/frobnicate -- -d\n", "", "frobnicate is no applet"},
		{"in a substitution", rcS, "x=$(frobnicate)\n", "", "frobnicate is no applet"},
		{"in inittab", "overlay/etc/inittab", "::respawn:/usr/bin/frobnicate\n", "", "inittab:4: /usr/bin/frobnicate is no applet"},
		{"file that is not in the overlay", rcS, "/usr/lib/x/gone\n", "", "/usr/lib/x/gone is not in the overlay"},
		{"first stage has busybox only", "board/common/initramfs/init", "/usr/sbin/thing\n", "", "/usr/sbin/thing is no applet of Debian's"},
		{"not POSIX", rcS, "if [[ a ]]; then\n", "", "is not POSIX shell"},
		{"list without option", "board/common/commands.list", "/bin/x x\n", "", "want: /full/path"},
		{"applet that is off", "board/common/commands.list", "telnetd x CONFIG_TELNETD\n", "", "telnetd is off in Buildroot's busybox"},
		{"link to no applet", "board/common/post-build.sh", "x/mounts", "x/mount", "/usr/lib/x/mount is not in the overlay"},
		{"option that no board sets", "board/common/commands.list", "/bin/x x BR2_PACKAGE_NEW\n", "", "board a does not set BR2_PACKAGE_NEW"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			files := good()
			if tc.replace == "" {
				files[tc.file] += tc.add
			} else {
				if !strings.Contains(files[tc.file], tc.replace) {
					t.Fatalf("%s has no %q", tc.file, tc.replace)
				}
				files[tc.file] = strings.Replace(files[tc.file], tc.replace, tc.add, 1)
			}
			got := rules(t, files)
			if len(got) == 0 || !strings.Contains(strings.Join(got, "\n"), tc.want) {
				t.Errorf("want a problem with %q, got %q", tc.want, got)
			}
		})
	}
}

func TestMissingFileIsAnError(t *testing.T) {
	for _, gone := range []string{"board/common/commands.list", "buildroot/busybox.config", "buildroot/package/thing/thing.mk"} {
		root := fstest.MapFS{}
		for name, text := range good() {
			if name != gone {
				root[name] = &fstest.MapFile{Data: []byte(text)}
			}
		}
		_, err1 := buildroot.Commands(root)
		_, err2 := buildroot.Hashes(root)
		if err1 == nil && err2 == nil {
			t.Errorf("without %s nobody complains", gone)
		}
	}
}

func TestParseOptions(t *testing.T) {
	got, err := buildroot.ParseOptions(strings.NewReader("BR2_A bool\nBR2_B string*\n\n# comment\nBR2_C bool legacy\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]buildroot.Option{"BR2_A": {Type: "bool"}, "BR2_B": {Type: "string", Fixed: true}, "BR2_C": {Type: "bool", Legacy: true}}
	for name, o := range want {
		if got[name] != o {
			t.Errorf("%s: %+v, want %+v", name, got[name], o)
		}
	}
	for _, bad := range []string{"BR2_A\n", "BR2_A bool old\n", "BR2_A bool legacy more\n"} {
		if _, err := buildroot.ParseOptions(strings.NewReader(bad)); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

// Scripts and lists are our own, but a half-written one must give a problem, not a crash.
func FuzzCommands(f *testing.F) {
	f.Add("#!/bin/sh\nexec timeout 5\n", "::respawn:-/bin/sh\n:\n", "/a b BR2_C\n", "CONFIG_X=y\n# CONFIG_Y is not set\n")
	f.Add("#!/bin/sh\nenv A=b\nstart-stop-daemon -x\nnice -n\n", "", "#\n", "=\n")
	f.Fuzz(func(t *testing.T, script, inittab, list, fragment string) {
		files := good()
		files["overlay/etc/init.d/rcS"], files["overlay/etc/inittab"] = script, inittab
		files["board/common/commands.list"], files["buildroot/busybox.config"] = list, fragment
		root := fstest.MapFS{}
		for name, text := range files {
			root[name] = &fstest.MapFile{Data: []byte(text), Mode: fs.ModePerm}
		}
		ps, err := buildroot.Commands(root)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range ps {
			if p.File == "" || p.Text == "" {
				t.Errorf("a problem without place or text: %+v", p)
			}
		}
	})
}
