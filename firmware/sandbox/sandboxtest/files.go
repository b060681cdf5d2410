package sandboxtest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"homeagent/firmware/sandbox"
)

// Attempts are all that need no control group.
func Attempts() []Attempt {
	all := append(fileAttempts(), programAttempts()...)
	all = append(all, processAttempts()...)
	all = append(all, kernelAttempts()...)
	return append(all, networkAttempts()...)
}

func fileAttempts() []Attempt {
	return []Attempt{
		{Name: "read the API key", Try: readKey},
		{Name: "read the key through a link in the workspace", Try: linkToKey},
		{Name: "read the key from the environment", Try: keyInEnvironment},
		{Name: "write outside", Try: func(t Targets) error { return os.WriteFile(t.Outside+"/written", []byte("x"), 0o666) },
			Check: func(h *House) bool { return os.Remove(h.path("outside/written")) == nil }},
		{Name: "write into what is read-only", AsUser: true,
			Try:   func(t Targets) error { return os.WriteFile(t.ReadOnly+"/written", []byte("x"), 0o666) },
			Check: func(h *House) bool { return os.Remove(h.path("readonly/written")) == nil }},
		{Name: "change the mode of what is read-only", Try: func(t Targets) error { return os.Chmod(t.ReadOnly+"/file", 0o666) }},
		{Name: "mount", Try: func(t Targets) error { return unix.Mount("tmpfs", t.Workspace, "tmpfs", 0, "") }},
		{Name: "bind a folder elsewhere", Try: func(t Targets) error { return unix.Mount("/", t.Workspace, "", unix.MS_BIND, "") }},
		{Name: "make a read-only mount writable", Try: remount},
		{Name: "mount by the new calls", Try: func(t Targets) error {
			_, err := unix.Fsopen("tmpfs", 0)
			_, err2 := unix.OpenTree(unix.AT_FDCWD, t.Workspace, unix.OPEN_TREE_CLONE)
			return reached("fsopen", err, err2)
		}},
		{Name: "unmount what covers", Try: func(t Targets) error {
			return reached("umount", unix.Unmount(t.ReadOnly, unix.MNT_DETACH), unix.Unmount("/proc/sys", unix.MNT_DETACH))
		}},
		{Name: "another root", Try: func(t Targets) error { return reached("pivot_root", unix.PivotRoot(t.Workspace, t.Workspace)) }},
		{Name: "climb out by chroot", Try: climb},
		{Name: "open by handle", Try: byHandle},
		{Name: "hard link across", Try: hardLink},
		{Name: "make a device of the disk", Try: makeDisk},
		{Name: "a device that lies in the workspace", AsUser: true, Try: func(t Targets) error {
			f, err := os.Open(t.Workspace + "/zero")
			if err != nil {
				return err
			}
			defer f.Close()
			_, err = f.Read(make([]byte, 1))
			return err
		}},
		{Name: "the kernel's memory and log", Try: func(Targets) error {
			return openAny(unix.O_RDONLY, "/dev/mem", "/dev/kmem", "/dev/kmsg", "/proc/kcore", "/proc/kmsg", "/dev/port")
		}},
		{Name: "any disk by its name", Try: disks},
		{Name: "fill the disk", AsUser: true, Try: func(t Targets) error { return fill(t.Small, SmallSize*9/10) },
			Spec: func(h *House, s *sandbox.Spec) {
				s.View = append(s.View, sandbox.Mount{Source: h.path("small"), Target: "/small", Writable: true})
				s.Limits.Reserve = SmallSize / 2
			}},
		{Name: "one huge file", AsUser: true, Try: func(t Targets) error { return fill(t.Workspace, 9<<20) },
			Spec: func(_ *House, s *sandbox.Spec) { s.Limits.FileSize = 4 << 20 }},
		{Name: "memory by files in /tmp", AsUser: true, Try: func(t Targets) error { return fill(t.Tmp, t.Limit) }},
		{Name: "memory by files in /dev/shm", AsUser: true, Try: func(t Targets) error { return fill(t.Shm, t.Limit/2) }},
		{Name: "write into /dev and /", Try: func(t Targets) error {
			name := fmt.Sprintf("written-%d", os.Getpid())
			var errs []error
			for _, dir := range []string{"/dev", "/"} {
				err := os.WriteFile(filepath.Join(dir, name), nil, 0o600)
				os.Remove(filepath.Join(dir, name))
				errs = append(errs, err)
			}
			return reached("", errs...)
		}},
		{Name: "kernel settings", Try: func(Targets) error {
			return openAny(unix.O_WRONLY, "/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe", "/proc/sys/vm/drop_caches")
		}},
		{Name: "sysrq", Try: func(Targets) error {
			return openAny(unix.O_WRONLY, "/proc/sysrq-trigger") // what is written first would act
		}},
		{Name: "kernel settings by /sys", Try: func(Targets) error {
			return openAny(unix.O_WRONLY, "/sys/kernel/uevent_helper", "/sys/kernel/mm/ksm/run", "/sys/power/state",
				"/sys/kernel/mm/transparent_hugepage/enabled")
		}},
	}
}

// readKey looks everywhere a path might lead to the key.
func readKey(t Targets) error {
	var errs []error
	for _, name := range []string{t.Secret, t.Workspace + "/../secrets/key", "/proc/1/root" + t.Secret, "/proc/1/cwd" + t.Secret,
		"/proc/self/root/../.." + t.Secret, "/../.." + t.Secret, t.ReadOnly + "/../secrets/key", "/tmp/.." + t.Secret} {
		b, err := os.ReadFile(name)
		if err == nil && string(b) == t.Key {
			return nil
		}
		errs = append(errs, err)
	}
	return errs[0]
}

func linkToKey(t Targets) error {
	name := fmt.Sprintf("%s/link-%d", t.Workspace, os.Getpid())
	if err := os.Symlink(t.Secret, name); err != nil {
		return err
	}
	defer os.Remove(name)
	_, err := os.ReadFile(name)
	return err
}

// keyInEnvironment looks at its own and at process 1's.
func keyInEnvironment(t Targets) error {
	all := strings.Join(os.Environ(), "\n")
	for _, pid := range []string{"self", "1"} {
		b, _ := os.ReadFile("/proc/" + pid + "/environ")
		all += string(b)
	}
	if strings.Contains(all, t.Key) {
		return nil
	}
	return errors.New("it is not there")
}

func remount(t Targets) error {
	if !t.Inside { // it has to be one first
		if err := errors.Join(unix.Mount(t.ReadOnly, t.ReadOnly, "", unix.MS_BIND, ""),
			unix.Mount("", t.ReadOnly, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, "")); err != nil {
			return err
		}
	}
	err := unix.Mount("", t.ReadOnly, "", unix.MS_BIND|unix.MS_REMOUNT, "")
	err2 := unix.MountSetattr(unix.AT_FDCWD, t.ReadOnly, 0, &unix.MountAttr{Attr_clr: unix.MOUNT_ATTR_RDONLY})
	return reached("mount", err, err2)
}

// climb is the old way out: a folder that is open outside the new root.
func climb(t Targets) error {
	out, err := os.Open("/")
	if err != nil {
		return err
	}
	defer out.Close()
	if err := unix.Chroot(t.Workspace); err != nil {
		return err
	}
	if err := out.Chdir(); err != nil {
		return err
	}
	for range 16 {
		os.Chdir("..")
	}
	b, err := os.ReadFile(strings.TrimPrefix(t.Secret, "/"))
	if err == nil && string(b) != t.Key {
		err = errors.New("another file")
	}
	return err
}

// byHandle opens inode 2, the root folder of most file systems, by a handle that is made up.
func byHandle(t Targets) error {
	dir, err := unix.Open(t.Workspace, unix.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer unix.Close(dir)
	_, _, named := unix.NameToHandleAt(unix.AT_FDCWD, t.Workspace, 0)
	_, opened := unix.OpenByHandleAt(dir, unix.NewFileHandle(1, []byte{2, 0, 0, 0, 0, 0, 0, 0}), unix.O_RDONLY)
	return reached("open_by_handle_at", named, opened)
}

func hardLink(t Targets) error {
	name := fmt.Sprintf("%s/hard-%d", t.Workspace, os.Getpid())
	defer os.Remove(name)
	if err := os.Link(t.Secret, name); err == nil {
		return nil
	}
	return os.Link(t.ReadOnly+"/file", name)
}

func makeDisk(t Targets) error {
	if t.Disk == 0 {
		return Absent{"disk that even root can open"}
	}
	name := fmt.Sprintf("%s/disk-%d", t.Workspace, os.Getpid())
	if err := unix.Mknod(name, unix.S_IFBLK|0o600, int(t.Disk)); err != nil {
		return err
	}
	defer os.Remove(name)
	f, err := os.Open(name)
	if err == nil {
		f.Close()
	}
	return err
}

// disks opens what the kernel calls a disk, by the usual folders of names.
func disks(t Targets) error {
	names, err := filepath.Glob("/dev/*")
	if err != nil {
		return err
	}
	for _, name := range names {
		info, err := os.Stat(name)
		if err != nil || info.Mode()&os.ModeDevice == 0 || info.Mode()&os.ModeCharDevice != 0 {
			continue
		}
		f, err := os.Open(name)
		if err == nil {
			f.Close()
			return nil
		}
	}
	if !t.Inside && t.Disk == 0 {
		return Absent{"disk that even root can open"}
	}
	return errors.New("there is none in /dev")
}

// openAny tries to open one of the files.
func openAny(flags int, names ...string) error {
	var errs []error
	absent := true
	for _, name := range names {
		fd, err := unix.Open(name, flags|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
		if err == nil {
			unix.Close(fd)
			return nil
		}
		absent = absent && err == unix.ENOENT
		errs = append(errs, &os.PathError{Op: "open", Path: name, Err: err})
	}
	if absent {
		return Absent{strings.Join(names, ", ")}
	}
	return errors.Join(errs...)
}

// fill writes so many bytes into a file of the folder, and removes it.
func fill(dir string, size int64) error {
	f, err := os.CreateTemp(dir, "fill-")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	block := make([]byte, 64<<10)
	for n := int64(0); n < size; n += int64(len(block)) {
		if _, err := f.Write(block); err != nil {
			return err
		}
		if strings.HasSuffix(dir, "/small") {
			<-time.After(time.Millisecond) // as fast as a card, not as memory
		}
	}
	return nil
}

func programAttempts() []Attempt {
	run := func(t Targets, name string) error {
		err := exec.Command(t.Workspace+"/"+name, argRoot).Run()
		if err != nil {
			return fmt.Errorf("no privilege gained: %w", err)
		}
		return nil
	}
	return []Attempt{
		{Name: "a set-user-ID program", AsUser: true, Try: func(t Targets) error { return run(t, "setuid") }},
		{Name: "a program with capabilities", AsUser: true, Try: func(t Targets) error { return run(t, "capable") }},
		{Name: "become root", Try: func(Targets) error {
			return reached("", unix.Setresuid(0, 0, 0), unix.Setresgid(0, 0, 0), unix.Setgroups([]int{0}))
		}},
		{Name: "overwrite the program behind /proc/self/exe", Try: func(t Targets) error {
			return reached("", overwrite("/proc/self/exe"), overwrite(fmt.Sprintf("/proc/%d/exe", t.First)))
		}},
		{Name: "overwrite the supervisor as a script's interpreter", Try: func(Targets) error { return overwrite("/proc/self/exe") },
			Spec: func(_ *House, s *sandbox.Spec) { s.Program = "/workspace/" + scriptName }},
		{Name: "descriptors left open", Try: leaked},
	}
}

// overwrite opens a running program for writing, by a descriptor of its path.
// "Text file busy" is only said to those who may.
func overwrite(name string) error {
	fd, err := unix.Open(name, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	w, err := unix.Open(fmt.Sprintf("/proc/self/fd/%d", fd), unix.O_WRONLY|unix.O_CLOEXEC, 0)
	if err == nil {
		unix.Close(w)
	}
	if err == unix.ETXTBSY {
		return nil
	}
	return err
}

// leaked looks for the key in every descriptor it was born with.
func leaked(t Targets) error {
	for fd := 3; fd < 1024; fd++ {
		b := make([]byte, len(t.Key))
		if n, err := unix.Pread(fd, b, 0); err == nil && string(b[:n]) == t.Key {
			return nil
		}
	}
	return errors.New("none of them leads to the key")
}
