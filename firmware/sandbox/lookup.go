package sandbox

import (
	"io/fs"
	"os"
	"path"
	"strings"

	"golang.org/x/sys/unix"
)

// lookup finds the program in the PATH of the environment, as the user.
func lookup(program string, env []string) (string, error) {
	if strings.ContainsRune(program, '/') {
		return program, nil
	}
	search := "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
	for _, kv := range env {
		if v, ok := strings.CutPrefix(kv, "PATH="); ok {
			search = v
		}
	}
	for dir := range strings.SplitSeq(search, ":") {
		if !path.IsAbs(dir) {
			continue // the current folder is no place for programs
		}
		name := path.Join(dir, program)
		if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() || unix.Access(name, unix.X_OK) != nil {
			continue
		}
		return name, nil
	}
	return "", &fs.PathError{Op: "find", Path: program, Err: fs.ErrNotExist}
}
