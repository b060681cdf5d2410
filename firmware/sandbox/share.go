package sandbox

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"homeagent/firmware/words"
)

// Share makes a folder a shared mount of its own: what the supervisor mounts
// below it later appears in each sandbox that has it as a Slave, and goes there
// when it is unmounted. The way back does not exist. The folder is made if it
// is not there; one that is shared already stays as it is. Nothing else of the
// machine becomes shared.
func Share(dir string) error {
	err := share(dir)
	if err != nil {
		return words.Errorf("文件夹 %s 不能供沙箱共用（%v）；请检查数据分区，并确认 homed 以 root 运行",
			"%s cannot be shared with sandboxes (%v); check the data partition and that homed runs as root", dir, err)
	}
	return nil
}

func share(dir string) error {
	if err := os.MkdirAll(dir, 0o711); err != nil {
		return err
	}
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return err
	}
	mounted, err := isMount(dir)
	if err != nil {
		return err
	}
	if !mounted {
		if err := unix.Mount(dir, dir, "", unix.MS_BIND, ""); err != nil {
			return &os.PathError{Op: "bind", Path: dir, Err: err}
		}
	}
	// A mount made inside a shared one is shared with its peers already. It
	// leaves them first, so that the group is the folder's own.
	if !mounted {
		if err := unix.Mount("", dir, "", unix.MS_PRIVATE, ""); err != nil {
			return &os.PathError{Op: "make private", Path: dir, Err: err}
		}
	}
	if err := unix.Mount("", dir, "", unix.MS_SHARED, ""); err != nil {
		return &os.PathError{Op: "make shared", Path: dir, Err: err}
	}
	return nil
}

// isMount tells whether something is mounted at the folder.
func isMount(dir string) (bool, error) {
	f, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return false, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if fields := strings.Fields(lines.Text()); len(fields) > 4 && unescapeMount(fields[4]) == dir {
			return true, nil
		}
	}
	return false, lines.Err()
}

// unescapeMount undoes how the kernel writes blanks and backslashes in mountinfo.
func unescapeMount(s string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(s)
}
