package supervisor

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"homeagent/firmware/account"
	"homeagent/firmware/words"
	"homeagent/memory/disk"
)

// What lies in the data folder, by whom it belongs to. A file's companions
// (state.db-wal, queue.log.new) belong to the same. What is named nowhere is
// left as it is.
var (
	keptBySupervisor = [...]string{"config.yaml", "config.good.yaml", "secrets", "homed.lock", "ledger", "snapshots"}
	keptByDoor       = [...]string{"door.db", setupFile}
	keptByAgent      = [...]string{"state.db", "queue.log", "memory", "knowledge", "skills", "adapters", "plugins", "agents",
		"personal.md", "intents.yaml", "workspace"}
)

// setupFile is what the door shows the code of the first visit in.
const setupFile = "setup-code.txt"

// owner is whom an entry of the data folder belongs to.
type owner struct {
	uid, gid int
	private  bool // nobody else may read it
}

// ownerOf tells whose an entry is; ok is false for what is nobody's business.
func (u *users) ownerOf(name string) (o owner, ok bool) {
	if strings.Contains(name, ".bad-") { // set aside: nobody reads it as what it was
		return o, false
	}
	named := func(list []string) bool {
		for _, n := range list {
			if rest, is := strings.CutPrefix(name, n); is && (rest == "" || rest[0] == '.' || rest[0] == '-') {
				return true
			}
		}
		return false
	}
	of := func(a *account.User) (owner, bool) {
		if a == nil {
			return owner{}, true
		}
		return owner{uid: a.UID, gid: a.GID}, true
	}
	switch {
	case named(keptBySupervisor[:]):
		return owner{private: name == "secrets"}, true
	case named(keptByDoor[:]):
		return of(u.door)
	case named(keptByAgent[:]):
		return of(u.agent)
	}
	return o, false
}

// ours tells whether a number is one of the two users'.
func (u *users) ours(uid int) bool { return uid >= 0 && (uid == u.agentUID() || uid == u.doorUID()) }

// repair gives everything in the data folder to whom it belongs: after an
// update that changed the users' numbers, or after root has put files back.
// It follows no link, leaves other file systems alone, and gives nobody a file
// that has a second name, which may lie where it belongs to somebody else. An
// entry that one of the two users has put in another's place is set aside, not
// given away. Doing it twice changes nothing.
func repair(dir string, u *users, now time.Time, log *slog.Logger) ([]words.Text, error) {
	top, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer top.Close()
	var st unix.Stat_t
	fd := int(top.Fd())
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, err
	}
	// What the folder lets its users do must not change between two steps:
	// the owner and the mode go before anything is looked at.
	if st.Uid != 0 || int(st.Gid) != u.group {
		if err := unix.Fchown(fd, 0, u.group); err != nil {
			return nil, err
		}
	}
	if err := top.Chmod(u.folderMode()); err != nil {
		return nil, err
	}
	names, err := top.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	r := repairer{users: u, dev: uint64(st.Dev)}
	for _, name := range names {
		o, ok := u.ownerOf(name)
		if !ok {
			continue
		}
		var is unix.Stat_t
		if unix.Fstatat(fd, name, &is, unix.AT_SYMLINK_NOFOLLOW) != nil {
			continue // gone meanwhile
		}
		if who := int(is.Uid); who != o.uid && u.ours(who) && name != "homed.lock" {
			aside, err := disk.SetAside(dir+"/"+name, now)
			if err != nil {
				return nil, err
			}
			r.say("%[1]s 不属于应当写它的用户，已改名为 %[2]s；请检查里面的内容",
				"%[1]s belonged to a user that may not write it and is now called %[2]s; look into it", name, aside)
			continue
		}
		r.entry(fd, name, dir+"/"+name, o, 0)
	}
	if r.changed > 0 {
		log.Info("owners in the data folder were put right", "entries", r.changed)
	}
	return r.notes, nil
}

// repairer is one walk.
type repairer struct {
	users   *users
	dev     uint64
	changed int
	notes   []words.Text
}

// The bounds of a walk: how deep, and how much is said of it.
const (
	maxDepth       = 64
	maxRepairNotes = 10
)

func (r *repairer) say(zh, en string, args ...any) {
	if len(r.notes) < maxRepairNotes {
		r.notes = append(r.notes, words.Format(zh, en, args...))
	}
}

// entry gives one entry of an open folder, and what is below it, to o.
func (r *repairer) entry(dir int, name, path string, o owner, depth int) {
	// The descriptor stays on the one object, whatever the name comes to mean.
	fd, err := unix.Openat(dir, name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil || uint64(st.Dev) != r.dev || depth > maxDepth {
		return
	}
	kind := st.Mode & unix.S_IFMT
	if kind == unix.S_IFREG && st.Nlink > 1 && int(st.Uid) != o.uid {
		r.say("%[1]s 还有别的名字（硬链接），没有改它的所有者；请换成单独的一份",
			"%[1]s has another name (a hard link), so its owner was left; put a copy of its own there", path)
		return
	}
	if err := r.own(fd, st, o); err != nil {
		r.say("%[1]s 的所有者改不了（%[2]v）；请检查数据分区",
			"the owner of %[1]s cannot be changed (%[2]v); check the data partition", path, err)
		return
	}
	if kind != unix.S_IFDIR {
		return
	}
	sub, err := unix.Openat(dir, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	f := os.NewFile(uintptr(sub), path)
	defer f.Close()
	for {
		names, err := f.Readdirnames(256)
		for _, n := range names {
			r.entry(sub, n, path+"/"+n, o, depth+1)
		}
		if err != nil || len(names) == 0 {
			return
		}
	}
}

// own sets owner and, for what is private, the mode, where they differ.
func (r *repairer) own(fd int, st unix.Stat_t, o owner) error {
	changed := false
	if int(st.Uid) != o.uid || int(st.Gid) != o.gid {
		if err := unix.Fchownat(fd, "", o.uid, o.gid, unix.AT_EMPTY_PATH); err != nil {
			return fmt.Errorf("chown: %w", err)
		}
		changed = true
	}
	if kind := st.Mode & unix.S_IFMT; o.private && st.Mode&0o077 != 0 && (kind == unix.S_IFREG || kind == unix.S_IFDIR) {
		if err := os.Chmod("/proc/self/fd/"+strconv.Itoa(fd), os.FileMode(st.Mode&0o700)); err != nil {
			return err
		}
		changed = true
	}
	if changed {
		r.changed++
	}
	return nil
}

// ownFiles writes files of the supervisor in a folder in which others may make
// some too: a temporary file that somebody has put there, or a link, is removed
// and never written through.
type ownFiles struct{ disk.OS }

// OpenFile makes a new file in place of whatever stands there.
func (ownFiles) OpenFile(path string, flag int, perm os.FileMode) (disk.File, error) {
	if flag&os.O_CREATE != 0 {
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
		flag |= os.O_EXCL | unix.O_NOFOLLOW
	}
	return os.OpenFile(path, flag, perm)
}

// writeOwn replaces a file of the supervisor's own.
func writeOwn(path string, data []byte) error { return disk.WriteFileFS(ownFiles{}, path, data, 0o600) }
