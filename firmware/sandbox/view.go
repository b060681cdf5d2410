package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"homeagent/firmware/words"
)

// systemFolders hold programs and libraries. On many systems some are symbolic
// links into /usr, and are links inside too.
var systemFolders = []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"}

// systemFiles are what programs look up in /etc: names of users, hosts and
// services, certificates, time zone, libraries. Nothing of it is secret.
var systemFiles = []string{
	"/etc/passwd", "/etc/group", "/etc/hosts", "/etc/resolv.conf", "/etc/nsswitch.conf", "/etc/host.conf",
	"/etc/services", "/etc/protocols", "/etc/ssl", "/etc/ca-certificates", "/etc/pki", "/etc/localtime", "/etc/timezone",
	"/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives", "/etc/mime.types", "/etc/terminfo",
	"/etc/os-release", "/etc/profile", "/etc/alsa", "/etc/asound.conf",
}

// privateFolders are shown without what is in them, where System finds them.
var privateFolders = []string{"/etc/ssl/private"}

// System is a view of the machine's programs and libraries, read-only, of the
// public part of /etc, and of an own /proc, /dev and, with 64 MiB, /tmp. What
// this machine does not have is left out. A file that is replaced later (such as
// resolv.conf) stays inside what it was when the sandbox began.
func System() ([]Mount, error) {
	var view []Mount
	for _, name := range append(append([]string{}, systemFolders...), systemFiles...) {
		m, err := systemMount(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, words.Errorf("看不到系统文件 %s（%v）；请检查系统是否完整", "%s cannot be looked at (%v); check that the system is whole", name, err)
		}
		view = append(view, m)
	}
	for _, name := range privateFolders {
		if info, err := os.Stat(name); err == nil && info.IsDir() {
			view = append(view, Mount{Kind: Tmpfs, Target: name, Size: 4096})
		}
	}
	return append(view, Mount{Kind: Proc, Target: "/proc"}, Mount{Kind: Dev, Target: "/dev"},
		Mount{Kind: Tmpfs, Target: "/tmp", Size: 64 << 20}), nil
}

// systemMount shows a folder or file where it is, and a link of the root as the
// link it is. A link in /etc leads to anywhere, so its end is shown in its place.
func systemMount(name string) (Mount, error) {
	info, err := os.Lstat(name)
	if err != nil {
		return Mount{}, err
	}
	if info.Mode()&fs.ModeSymlink != 0 && filepath.Dir(name) == "/" {
		to, err := os.Readlink(name)
		return Mount{Kind: Link, Source: to, Target: name}, err
	}
	source, err := filepath.EvalSymlinks(name)
	return Mount{Kind: Bind, Source: source, Target: name}, err
}
