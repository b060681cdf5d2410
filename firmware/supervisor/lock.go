package supervisor

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"homeagent/firmware/words"
)

// InUseError is a data folder that another homed holds.
type InUseError struct {
	Dir string
	// PID is the holder's process number as it wrote it, "" if unreadable.
	PID string
}

// Error is the English sentence.
func (e *InUseError) Error() string { return e.In(words.English) }

// In is the sentence in the language.
func (e *InUseError) In(lang string) string {
	who := words.Text{ZH: "另一个 homed", EN: "another homed"}
	if e.PID != "" {
		who = words.Format("另一个 homed（进程 %s）", "another homed (process %s)", e.PID)
	}
	return words.Format("数据文件夹 %s 正被%s使用；请先停掉它，或用 -data 换一个文件夹",
		"the data folder %s is in use by %s; stop it first, or give another folder with -data", e.Dir, who).In(lang)
}

// lock takes the folder for this process until the file is closed or the process ends.
func lock(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, "homed.lock"), os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, folderError(dir, err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		pid, _ := io.ReadAll(io.LimitReader(f, 32))
		f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, &InUseError{Dir: dir, PID: strings.TrimSpace(string(pid))}
		}
		return nil, folderError(dir, err)
	}
	// The number only makes the message better; a full disk must not keep the box from starting.
	if f.Truncate(0) == nil {
		fmt.Fprintf(io.NewOffsetWriter(f, 0), "%d\n", os.Getpid())
	}
	return f, nil
}

// folderError says in words why the data folder cannot be used.
func folderError(dir string, err error) *words.Error {
	switch {
	case errors.Is(err, os.ErrPermission), errors.Is(err, unix.EROFS):
		return words.Errorf("数据文件夹 %s 不能写（%v）；请把它交给当前用户，或用 -data 换一个文件夹",
			"the data folder %s cannot be written (%v); give this user the folder, or another one with -data", dir, err)
	case errors.Is(err, unix.ENOSPC), errors.Is(err, unix.EDQUOT):
		return words.Errorf("%s 所在的磁盘满了（%v）；请腾出一些空间再试",
			"the disk under %s is full (%v); free some space and try again", dir, err)
	}
	return words.Errorf("数据文件夹 %s 不能用（%v）；请检查这个路径，或用 -data 换一个文件夹",
		"the data folder %s cannot be used (%v); check the path, or give another folder with -data", dir, err)
}
