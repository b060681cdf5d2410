package account

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
)

// ErrUnknown is wrapped when there is no user of the name.
var ErrUnknown = errors.New("no such user")

// maxFile bounds what is read of each file, in bytes; maxGroups is Linux's
// bound for the groups of one process, as far as this house needs it.
const (
	maxFile   = 4 << 20
	maxGroups = 1024
)

// User is a user of the system.
type User struct {
	Name     string
	UID, GID int
	// Groups are the other groups the user is a member of, sorted, without GID.
	Groups []int
}

// In tells whether the user belongs to a group.
func (u User) In(gid int) bool { return u.GID == gid || slices.Contains(u.Groups, gid) }

// Shared is the group by which two users can meet: the primary group of the
// one that the other belongs to too, else any group of both. ok is false where
// there is none. Root's group does not count.
func Shared(a, b User) (gid int, ok bool) {
	for _, gid := range append([]int{a.GID, b.GID}, a.Groups...) {
		if gid != 0 && a.In(gid) && b.In(gid) {
			return gid, true
		}
	}
	return 0, false
}

// Source is where users are looked up; the zero value is the system's files.
type Source struct {
	Passwd, Group string
}

// Lookup finds a user by its name. The error wraps ErrUnknown where the user
// is not there; any other is a file that cannot be read.
func (s Source) Lookup(name string) (User, error) {
	if s.Passwd == "" {
		s.Passwd = "/etc/passwd"
	}
	if s.Group == "" {
		s.Group = "/etc/group"
	}
	passwd, err := os.Open(s.Passwd)
	if err != nil {
		return User{}, fmt.Errorf("user %s: %w", name, err)
	}
	defer passwd.Close()
	u, err := Find(passwd, name)
	if err != nil {
		return User{}, err
	}
	group, err := os.Open(s.Group)
	if errors.Is(err, os.ErrNotExist) {
		return u, nil
	}
	if err != nil {
		return User{}, fmt.Errorf("groups of %s: %w", name, err)
	}
	defer group.Close()
	if u.Groups, err = Groups(group, u); err != nil {
		return User{}, err
	}
	return u, nil
}

// Find looks for the first whole line of a user in a passwd file.
func Find(passwd io.Reader, name string) (User, error) {
	u := User{Name: name}
	found := false
	err := lines(passwd, func(f []string) bool {
		if len(f) < 4 || f[0] != name || name == "" {
			return true
		}
		var ok1, ok2 bool
		u.UID, ok1 = number(f[2])
		u.GID, ok2 = number(f[3])
		found = ok1 && ok2
		return !found
	})
	if err != nil {
		return User{}, fmt.Errorf("user %s: %w", name, err)
	}
	if !found {
		return User{}, fmt.Errorf("user %s: %w", name, ErrUnknown)
	}
	return u, nil
}

// Groups are the groups of a group file that name the user as a member, sorted
// and without its primary one.
func Groups(group io.Reader, u User) ([]int, error) {
	var out []int
	err := lines(group, func(f []string) bool {
		if len(f) < 4 || f[0] == "" {
			return true
		}
		gid, ok := number(f[2])
		if !ok || gid == u.GID || slices.Contains(out, gid) {
			return true
		}
		if slices.ContainsFunc(strings.Split(f[3], ","), func(m string) bool { return strings.TrimSpace(m) == u.Name }) {
			out = append(out, gid)
		}
		return len(out) < maxGroups
	})
	if err != nil {
		return nil, fmt.Errorf("groups of %s: %w", u.Name, err)
	}
	slices.Sort(out)
	return out, nil
}

// lines hands the fields of each line to f until it wants no more.
func lines(r io.Reader, f func(fields []string) bool) error {
	in := bufio.NewScanner(io.LimitReader(r, maxFile))
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		line := in.Text()
		if strings.HasPrefix(line, "#") {
			continue
		}
		if !f(strings.Split(line, ":")) {
			return nil
		}
	}
	return in.Err()
}

// number reads a user's or group's number. The highest means "none" to the
// kernel and is no user.
func number(s string) (int, bool) {
	n, err := strconv.ParseUint(s, 10, 32)
	return int(n), err == nil && n < 1<<32-1
}
