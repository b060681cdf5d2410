package sandbox

import (
	"fmt"
	"os"
	"path"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// tree is a mount that is not attached anywhere yet.
type tree struct {
	fd     int
	target string
	dir    bool
}

// enterRoot builds what the spec shows on an empty root, moves into it and lets
// go of the machine's. All that is taken from the machine is opened before
// anything is attached, so that no mount can hide another's source.
func enterRoot(s *Spec) error {
	// Nothing done here may reach the machine; what is shared there still reaches here.
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, ""); err != nil {
		return fmt.Errorf("slave: %w", err)
	}
	var binds []tree
	for _, m := range s.View {
		if m.Kind != Bind {
			continue
		}
		t, err := openSource(m)
		if err != nil {
			return err
		}
		binds = append(binds, t)
	}
	var devices []tree
	for _, name := range s.Devices {
		t, err := openTree(name, attrs{device: true, noexec: true})
		if err != nil {
			return err
		}
		t.target = name
		devices = append(devices, t)
	}
	b := builder{own: map[uint64]bool{}}
	root, err := newTmpfs(1<<20, "0755", 2048, unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV)
	if err != nil {
		return err
	}
	// /proc is there on every machine; in here it is only a place for the new root to stand.
	if err := unix.MoveMount(root, "", unix.AT_FDCWD, "/proc", unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
		return fmt.Errorf("root: %w", err)
	}
	if err := unix.Fchdir(root); err != nil {
		return fmt.Errorf("root: %w", err)
	}
	if err := unix.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("pivot: %w", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("old root: %w", err)
	}
	if err := unix.Chdir("/"); err != nil {
		return fmt.Errorf("root: %w", err)
	}
	if err := b.owns(root); err != nil {
		return err
	}
	unix.Close(root)
	for _, m := range s.View {
		switch m.Kind {
		case Bind:
			err = b.attach(binds[0])
			binds = binds[1:]
		case Tmpfs:
			err = b.attachTmpfs(m)
		case Proc:
			err = b.mountProc(m.Target)
		case Dev:
			err = b.mountDev(m.Size, devices)
		case Link:
			err = b.link(m)
		}
		if err != nil {
			return err
		}
	}
	return setAttr(unix.AT_FDCWD, "/", 0, unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY})
}

// openSource opens what a Bind shows, with the flags it will have.
func openSource(m Mount) (tree, error) {
	t, err := openTree(m.Source, attrs{writable: m.Writable, noexec: m.NoExec, slave: m.Slave})
	t.target = m.Target
	return t, err
}

type attrs struct{ writable, noexec, device, slave bool }

// openTree clones what lies at the path with all that is mounted in it.
func openTree(name string, a attrs) (tree, error) {
	at, err := unix.Openat2(unix.AT_FDCWD, name, &unix.OpenHow{
		Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS})
	if err != nil {
		return tree{}, &os.PathError{Op: "open", Path: name, Err: err}
	}
	defer unix.Close(at)
	var st unix.Stat_t
	if err := unix.Fstat(at, &st); err != nil {
		return tree{}, &os.PathError{Op: "stat", Path: name, Err: err}
	}
	fd, err := unix.OpenTree(at, "", unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_EMPTY_PATH|unix.AT_RECURSIVE)
	if err != nil {
		return tree{}, &os.PathError{Op: "open tree", Path: name, Err: err}
	}
	set := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_NOSUID}
	if !a.device {
		set.Attr_set |= unix.MOUNT_ATTR_NODEV
	}
	if !a.writable {
		set.Attr_set |= unix.MOUNT_ATTR_RDONLY
	}
	if a.noexec {
		set.Attr_set |= unix.MOUNT_ATTR_NOEXEC
	}
	if !a.slave {
		set.Propagation = unix.MS_PRIVATE
	}
	if err := setAttr(fd, "", unix.AT_EMPTY_PATH, set); err != nil {
		return tree{}, &os.PathError{Op: "mount flags", Path: name, Err: err}
	}
	return tree{fd: fd, dir: st.Mode&unix.S_IFMT == unix.S_IFDIR}, nil
}

// setAttr changes flags of a mount; of a tree that is not attached, all in it.
func setAttr(at int, name string, flags uint, a unix.MountAttr) error {
	if flags&unix.AT_EMPTY_PATH != 0 {
		flags |= unix.AT_RECURSIVE
	}
	return unix.MountSetattr(at, name, flags, &a)
}

// attach puts a tree at its target and forgets the descriptor.
func (b builder) attach(t tree) error {
	defer unix.Close(t.fd)
	at, err := b.openTarget(t.target, t.dir)
	if err != nil {
		return err
	}
	defer unix.Close(at)
	if err := unix.MoveMount(t.fd, "", at, "", unix.MOVE_MOUNT_F_EMPTY_PATH|unix.MOVE_MOUNT_T_EMPTY_PATH); err != nil {
		return &os.PathError{Op: "attach", Path: t.target, Err: err}
	}
	return nil
}

// openTarget opens the place of a mount and makes what lacks of it. It follows
// no link, and makes nothing in what belongs to the machine: there a program of
// an earlier sandbox may have prepared the ground.
func (b builder) openTarget(target string, dir bool) (int, error) {
	fail := func(err error) (int, error) {
		return -1, &os.PathError{Op: "make", Path: target, Err: err}
	}
	at, err := unix.Open("/", unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return fail(err)
	}
	parts := strings.Split(strings.TrimPrefix(target, "/"), "/")
	for i, part := range parts {
		folder := dir || i < len(parts)-1
		next, err := openPart(at, part)
		if err == unix.ENOENT && b.made(at) {
			if err = makePart(at, part, folder); err == nil {
				next, err = openPart(at, part)
			}
		}
		unix.Close(at)
		if err != nil {
			return fail(err)
		}
		var st unix.Stat_t
		if err := unix.Fstat(next, &st); err != nil || (st.Mode&unix.S_IFMT == unix.S_IFDIR) != folder {
			unix.Close(next)
			return fail(fmt.Errorf("%s is there already and is something else (%w)", part, unix.EEXIST))
		}
		at = next
	}
	return at, nil
}

func openPart(at int, part string) (int, error) {
	return unix.Openat2(at, part, &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS})
}

func makePart(at int, part string, folder bool) error {
	if folder {
		return unix.Mkdirat(at, part, 0o755)
	}
	fd, err := unix.Openat(at, part, unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o444)
	if err == nil {
		unix.Close(fd)
	}
	return err
}

// builder remembers which file systems were made here: those belong to nobody
// yet, while a bind may lead to what an earlier sandbox wrote.
type builder struct{ own map[uint64]bool }

// owns notes the file system of the descriptor as made here.
func (b builder) owns(fd int) error {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	b.own[st.Dev] = true
	return nil
}

// made tells whether the folder is on such a file system.
func (b builder) made(at int) bool {
	var st unix.Stat_t
	return unix.Fstat(at, &st) == nil && b.own[st.Dev]
}

// newTmpfs makes an empty tmpfs that is not attached yet.
func newTmpfs(size int64, mode string, inodes int64, flags int) (int, error) {
	return newFS("tmpfs", flags, "size", strconv.FormatInt(size, 10), "mode", mode, "nr_inodes", strconv.FormatInt(inodes, 10))
}

// newFS makes a file system of the kind, with options as pairs.
func newFS(kind string, flags int, options ...string) (int, error) {
	fail := func(err error) (int, error) { return -1, fmt.Errorf("file system %s: %w", kind, err) }
	fs, err := unix.Fsopen(kind, unix.FSOPEN_CLOEXEC)
	if err != nil {
		return fail(err)
	}
	defer unix.Close(fs)
	for i := 0; i+1 < len(options); i += 2 {
		if err := unix.FsconfigSetString(fs, options[i], options[i+1]); err != nil {
			return fail(fmt.Errorf("%s=%s: %w", options[i], options[i+1], err))
		}
	}
	if err := unix.FsconfigCreate(fs); err != nil {
		return fail(err)
	}
	fd, err := unix.Fsmount(fs, unix.FSMOUNT_CLOEXEC, flags)
	if err != nil {
		return fail(err)
	}
	return fd, nil
}

func (b builder) attachTmpfs(m Mount) error {
	flags := unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV
	if m.NoExec {
		flags |= unix.MOUNT_ATTR_NOEXEC
	}
	fd, err := newTmpfs(m.Size, "1777", inodesOf(m.Size), flags)
	if err != nil {
		return err
	}
	if err := b.owns(fd); err != nil {
		return err
	}
	return b.attach(tree{fd: fd, target: m.Target, dir: true})
}

// inodesOf bounds the files of a tmpfs, each of which takes about a KiB of the
// kernel's memory, whatever is in it.
func inodesOf(size int64) int64 { return max(16, size/(16<<10)) }

func (b builder) link(m Mount) error {
	dir, name := path.Split(m.Target)
	at := unix.AT_FDCWD
	if dir != "/" {
		var err error
		if at, err = b.openTarget(path.Clean(dir), true); err != nil {
			return err
		}
		defer unix.Close(at)
	} else {
		name = m.Target
	}
	if err := unix.Symlinkat(m.Source, at, name); err != nil {
		return &os.PathError{Op: "link", Path: m.Target, Err: err}
	}
	return nil
}
