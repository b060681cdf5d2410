package main

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
)

// tool is a program that the build calls and the package that has it.
type tool struct{ name, pkg string }

func allTools() []tool {
	return []tool{
		{"apt-get", "apt"}, {"/usr/lib/apt/apt-helper", "apt"}, {"dpkg-deb", "dpkg"}, {"depmod", "kmod"}, {"xz", "xz-utils"},
		{"sqfstar", "squashfs-tools"}, {"genimage", "genimage"}, {"mkimage", "u-boot-tools"}, {"mkenvimage", "u-boot-tools"},
		{"mkfs.vfat", "dosfstools"}, {"mcopy", "mtools"}, {"mke2fs", "e2fsprogs"},
		{"aarch64-linux-gnu-gcc", "gcc-aarch64-linux-gnu"}, {"aarch64-linux-gnu-g++", "g++-aarch64-linux-gnu"},
		{"pkg-config", "pkg-config"}, {"make", "make"}, {"gcc", "gcc"}, {"bison", "bison"}, {"flex", "flex"}, {"bc", "bc"},
		{"patch", "patch"}, {"bzip2", "bzip2"}, {"tar", "tar"},
	}
}

// buildTools are the names of all of them.
func buildTools() []string {
	var out []string
	for _, t := range allTools() {
		out = append(out, t.name)
	}
	return out
}

// MissingToolsError says which programs are not installed.
type MissingToolsError struct{ Names, Packages []string }

// Error says in both languages how to install them.
func (e *MissingToolsError) Error() string {
	return fmt.Sprintf("缺少程序 %[1]s，请运行 tools/setup image，或者：sudo apt-get install -y %[2]s。"+
		"missing programs: %[1]s; run tools/setup image, or: sudo apt-get install -y %[2]s",
		strings.Join(e.Names, " "), strings.Join(e.Packages, " "))
}

// needTools finds out whether programs are installed. The folders of root's
// programs are looked in as well: a user's PATH often lacks them.
func needTools(names ...string) error {
	e := &MissingToolsError{}
	for _, t := range allTools() {
		if !slices.Contains(names, t.name) || found(t.name) {
			continue
		}
		e.Names = append(e.Names, t.name)
		if !slices.Contains(e.Packages, t.pkg) {
			e.Packages = append(e.Packages, t.pkg)
		}
	}
	if len(e.Names) > 0 {
		return e
	}
	return nil
}

func found(name string) bool {
	for _, dir := range []string{"", "/usr/sbin/", "/sbin/"} {
		if _, err := exec.LookPath(dir + name); err == nil {
			return true
		}
		if strings.HasPrefix(name, "/") {
			break
		}
	}
	return false
}
