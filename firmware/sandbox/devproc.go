package sandbox

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// deviceFiles are what every program expects, by major and minor number.
var deviceFiles = []struct {
	name         string
	major, minor uint32
}{{"null", 1, 3}, {"zero", 1, 5}, {"full", 1, 7}, {"random", 1, 8}, {"urandom", 1, 9}, {"tty", 5, 0}}

var deviceLinks = [][2]string{{"/proc/self/fd", "fd"}, {"/proc/self/fd/0", "stdin"}, {"/proc/self/fd/1", "stdout"},
	{"/proc/self/fd/2", "stderr"}, {"pts/ptmx", "ptmx"}}

// mountDev makes /dev: a few files of its own, terminals of its own, and the
// machine's devices that the spec names.
func (b builder) mountDev(shm int64, devices []tree) error {
	const flags = unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NOEXEC
	fd, err := newTmpfs(64<<10, "0755", 512, flags)
	if err != nil {
		return err
	}
	if err := b.attach(tree{fd: fd, target: "/dev", dir: true}); err != nil {
		return err
	}
	old := unix.Umask(0)
	defer unix.Umask(old)
	for _, d := range deviceFiles {
		if err := unix.Mknod("/dev/"+d.name, unix.S_IFCHR|0o666, int(unix.Mkdev(d.major, d.minor))); err != nil {
			return &os.PathError{Op: "mknod", Path: "/dev/" + d.name, Err: err}
		}
	}
	for _, l := range deviceLinks {
		if err := os.Symlink(l[0], "/dev/"+l[1]); err != nil {
			return err
		}
	}
	for _, name := range []string{"/dev/pts", "/dev/shm"} {
		if err := unix.Mkdir(name, 0o755); err != nil {
			return &os.PathError{Op: "mkdir", Path: name, Err: err}
		}
	}
	if fd, err = newFS("devpts", flags, "mode", "0620", "ptmxmode", "0666"); err != nil {
		return err
	}
	if err := b.attach(tree{fd: fd, target: "/dev/pts", dir: true}); err != nil {
		return err
	}
	if shm == 0 {
		shm = 16 << 20
	}
	if fd, err = newTmpfs(shm, "1777", inodesOf(shm), flags|unix.MOUNT_ATTR_NODEV); err != nil {
		return err
	}
	if err := b.attach(tree{fd: fd, target: "/dev/shm", dir: true}); err != nil {
		return err
	}
	for _, t := range devices {
		if err := b.attachDevice(t); err != nil {
			return err
		}
	}
	return setAttr(unix.AT_FDCWD, "/dev", 0, unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY})
}

// attachDevice makes the place in the new /dev, which is no part of the root's
// file system, by name: nobody else is in here yet.
func (b builder) attachDevice(t tree) error {
	if err := os.MkdirAll(parent(t.target), 0o755); err != nil {
		return err
	}
	if t.dir {
		if err := os.MkdirAll(t.target, 0o755); err != nil {
			return err
		}
	} else if f, err := os.OpenFile(t.target, os.O_CREATE|os.O_EXCL, 0o444); err != nil {
		return err
	} else {
		f.Close()
	}
	return b.attach(t)
}

func parent(name string) string {
	for i := len(name) - 1; i > 0; i-- {
		if name[i] == '/' {
			return name[:i]
		}
	}
	return "/"
}

// hiddenProc are files and folders of /proc that tell of the machine or act on
// it. None of them can be used without root anyway, but for reading some; where
// the kernel has them they are covered.
var hiddenProc = []string{"acpi", "config.gz", "iomem", "ioports", "kallsyms", "kcore", "key-users", "keys", "kmsg",
	"kpagecgroup", "kpagecount", "kpageflags", "latency_stats", "sched_debug", "scsi", "slabinfo", "sysrq-trigger", "timer_list", "timer_stats", "vmallocinfo"}

// readOnlyProc are folders of /proc that can be looked at.
var readOnlyProc = []string{"bus", "fs", "irq", "sys"}

// mountProc makes a /proc that shows the processes of the sandbox to the user
// they belong to; process 1 is not among them, as it lets nobody look at it.
func (b builder) mountProc(target string) error {
	const flags = unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV | unix.MOUNT_ATTR_NOEXEC
	proc, err := newFS("proc", flags, "hidepid", "invisible")
	if err != nil {
		return err
	}
	if err := b.attach(tree{fd: proc, target: target, dir: true}); err != nil {
		return err
	}
	for _, name := range readOnlyProc {
		name = target + "/" + name
		if _, err := os.Lstat(name); err != nil {
			continue
		}
		fd, err := unix.OpenTree(unix.AT_FDCWD, name, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC)
		if err != nil {
			return &os.PathError{Op: "open tree", Path: name, Err: err}
		}
		if err := setAttr(fd, "", unix.AT_EMPTY_PATH, unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY | flags}); err != nil {
			return &os.PathError{Op: "mount flags", Path: name, Err: err}
		}
		if err := attachOver(fd, name); err != nil {
			return err
		}
	}
	return hide(target, hiddenProc)
}

// hide covers files with an empty one that nobody can open, folders likewise.
func hide(dir string, names []string) error {
	fd, err := newTmpfs(4096, "0000", 16, unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV|unix.MOUNT_ATTR_NOEXEC)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	// The cover comes from a place that is attached while it is copied.
	const place = "/.cover"
	if err := unix.Mkdir(place, 0); err != nil {
		return fmt.Errorf("cover: %w", err)
	}
	if err := unix.MoveMount(fd, "", unix.AT_FDCWD, place, unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
		return fmt.Errorf("cover: %w", err)
	}
	for _, kind := range []string{"/file", "/dir"} {
		if err := makePart(fd, kind[1:], kind == "/dir"); err != nil {
			return fmt.Errorf("cover: %w", err)
		}
		if err := unix.Fchmodat(fd, kind[1:], 0, 0); err != nil {
			return fmt.Errorf("cover: %w", err)
		}
	}
	if err := setAttr(fd, "", unix.AT_EMPTY_PATH, unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}); err != nil {
		return fmt.Errorf("cover: %w", err)
	}
	for _, name := range names {
		name = dir + "/" + name
		info, err := os.Lstat(name)
		if err != nil {
			continue
		}
		kind := "/file"
		if info.IsDir() {
			kind = "/dir"
		}
		cover, err := unix.OpenTree(unix.AT_FDCWD, place+kind, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC)
		if err != nil {
			return fmt.Errorf("cover: %w", err)
		}
		if err := attachOver(cover, name); err != nil {
			return err
		}
	}
	if err := unix.Unmount(place, unix.MNT_DETACH); err != nil {
		return fmt.Errorf("cover: %w", err)
	}
	return unix.Rmdir(place)
}

// attachOver puts a tree over what is there.
func attachOver(fd int, name string) error {
	defer unix.Close(fd)
	if err := unix.MoveMount(fd, "", unix.AT_FDCWD, name, unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
		return &os.PathError{Op: "cover", Path: name, Err: err}
	}
	return nil
}
