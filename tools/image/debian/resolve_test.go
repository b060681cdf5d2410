package debian

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func stanzaOf(name, version, more string) string {
	return "Package: " + name + "\nVersion: " + version + "\nFilename: pool/main/" + name + "_" + version +
		".deb\nSize: 10\nSHA256: " + sum + "\n" + more + "\n"
}

// offer is a made-up archive.
func offer(t *testing.T) *Index {
	t.Helper()
	x := NewIndex()
	suites := map[string]string{
		"bookworm": stanzaOf("shell", "1.0-1", "Depends: libc (>= 2), helper | other, debconf\nPre-Depends: base\n") +
			stanzaOf("libc", "2.0-1", "") + stanzaOf("other", "1", "") + stanzaOf("base", "1", "Depends: virtual\n") +
			stanzaOf("real", "1", "Provides: virtual (= 1)\n") + stanzaOf("debconf", "1", "") +
			stanzaOf("lib-dev", "1", "Depends: libc (= 2), other, headers\n") + stanzaOf("headers", "1", ""),
		"bookworm-security":  stanzaOf("libc", "2.0-1+deb12u1", ""),
		"bookworm-backports": stanzaOf("libc", "9.0-1", "") + stanzaOf("kernel", "6.12", ""),
	}
	for suite, text := range suites {
		if err := x.AddPackages(suite, strings.NewReader(text)); err != nil {
			t.Fatal(err)
		}
	}
	src := "Package: boot\nVersion: 2025-1\nDirectory: pool/main/b\nChecksums-Sha256:\n " + sum + " 5 boot.dsc\n " + sum +
		" 6 boot.orig.tar.xz\n " + sum + " 7 boot.orig.tar.xz.asc\n " + sum + " 8 boot.debian.tar.xz\n"
	if err := x.AddSources("trixie", strings.NewReader(src)); err != nil {
		t.Fatal(err)
	}
	return x
}

func TestResolve(t *testing.T) {
	rows := []struct{ name, seeds, want, fails string }{
		{"closure, security, alternative, provider, without", "root shell\nwithout debconf",
			"root base 1, root libc 2.0-1+deb12u1, root other 1, root real 1, root shell 1.0-1", ""},
		{"a suite by name", "root kernel/bookworm-backports libc", "root kernel 6.12, root libc 2.0-1+deb12u1", ""},
		{"sysroot brings only what the root lacks", "root libc\nsysroot lib-dev",
			"root libc 2.0-1+deb12u1, sysroot headers 1, sysroot lib-dev 1, sysroot other 1", ""},
		{"source tarballs", "source boot/trixie", "source boot 2025-1, source boot 2025-1", ""},
		{"the makers' tarball alone", "tarball boot/trixie", "tarball boot 2025-1", ""},
		{"unknown", "root nothing", "", "no package nothing"},
		{"in another suite only", "root kernel", "", "no package kernel"},
		{"unknown source", "source none/trixie", "", "source none"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			seeds, err := ParseSeeds("release bookworm\n" + row.seeds)
			if err != nil {
				t.Fatal(err)
			}
			lock, err := offer(t).Resolve(seeds)
			var me *MissingPackageError
			if row.fails != "" {
				if !errors.As(err, &me) || !strings.Contains(err.Error(), row.fails) {
					t.Fatalf("error %v, want %q", err, row.fails)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, p := range lock {
				got = append(got, p.For+" "+p.Name+" "+p.Version)
			}
			if s := strings.Join(got, ", "); s != row.want {
				t.Errorf("got  %s\nwant %s", s, row.want)
			}
			if _, err := ParseLock(lock.Bytes()); err != nil {
				t.Errorf("the lock it writes: %v", err)
			}
		})
	}
}

func TestCompareVersions(t *testing.T) {
	order := []string{"1.0~rc1-1", "1.0-1", "1.0-1+b1", "1.0-1+deb12u1", "1.0-2", "1.0-10", "1.0a-1", "1.1~bpo12+1", "1.1", "1:0.1"}
	for i, a := range order {
		for j, b := range order {
			if c := CompareVersions(a, b); (c < 0) != (i < j) || (c > 0) != (i > j) {
				t.Errorf("compare %s with %s: %d", a, b, c)
			}
		}
	}
}

// FuzzVersions holds that the order is one: turned round it is the opposite.
func FuzzVersions(f *testing.F) {
	f.Add("1:1.0~a-1", "1.0+b")
	f.Add("", "0")
	f.Fuzz(func(t *testing.T, a, b string) {
		x, y := CompareVersions(a, b), CompareVersions(b, a)
		if (x < 0) != (y > 0) || (x > 0) != (y < 0) || CompareVersions(a, a) != 0 {
			t.Errorf("%q against %q: %d and %d", a, b, x, y)
		}
	})
}

func TestSeeds(t *testing.T) {
	for _, bad := range []string{"", "root a", "release a b", "release a\nboot x"} {
		if _, err := ParseSeeds(bad); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
	s, err := ParseSeeds("release r # words\nroot a/x b\nsource c/y")
	if err != nil || !slices.Equal(s.Suites(), []string{"r", "r-updates", "r-security", "x", "y"}) {
		t.Errorf("suites %v, error %v", s.Suites(), err)
	}
}
