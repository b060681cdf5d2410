package supervisor

import (
	"errors"
	"os"

	"homeagent/firmware/account"
	"homeagent/firmware/words"
)

// users are the system users that the processes of an appliance run under; nil
// is one for all, the supervisor's own.
type users struct {
	agent, door *account.User
	// group is one that both belong to, 0 if there is none.
	group int
}

// findUsers looks the named users up. A name of "" keeps the supervisor's own
// user for that process; none named at all makes nil.
func findUsers(source account.Source, agent, door string, root bool) (*users, error) {
	if agent == "" && door == "" {
		return nil, nil
	}
	if !root {
		return nil, words.Errorf("只有 root 能用 -agent-user 和 -door-user 换用户；请用 root 启动 homed，或去掉这两个参数",
			"only root can give the processes users with -agent-user and -door-user; start homed as root, or leave the two out")
	}
	u := &users{}
	for _, w := range []struct {
		flag, name string
		to         **account.User
	}{{"-agent-user", agent, &u.agent}, {"-door-user", door, &u.door}} {
		if w.name == "" {
			continue
		}
		found, err := source.Lookup(w.name)
		if errors.Is(err, account.ErrUnknown) {
			return nil, words.Errorf("系统里没有用户 %[1]q（%[2]s）；请先建立它，例如 adduser --system %[1]s，或换一个名字",
				"the system has no user %[1]q (%[2]s); make it first, for example with adduser --system %[1]s, or give another name", w.name, w.flag)
		}
		if err != nil {
			return nil, words.Errorf("不能查找 %s 的用户（%v）；请检查 /etc/passwd 和 /etc/group",
				"the user of %s cannot be looked up (%v); check /etc/passwd and /etc/group", w.flag, err)
		}
		if found.UID == 0 {
			return nil, words.Errorf("%s 不能是 root（%q）；请换一个没有特权的用户",
				"%s must not be root (%q); give a user without privileges", w.flag, w.name)
		}
		*w.to = &found
	}
	if u.agent != nil && u.door != nil {
		if u.agent.UID == u.door.UID {
			return nil, words.Errorf("-agent-user 和 -door-user 必须是两个不同的用户；否则一个能读另一个的密文",
				"-agent-user and -door-user must be two different users; else the one could read the other's secrets")
		}
		u.group, _ = account.Shared(*u.agent, *u.door)
	}
	return u, nil
}

// The ids of the two processes' users, -1 where they run under the supervisor's.
func (u *users) agentUID() int {
	if u == nil || u.agent == nil {
		return -1
	}
	return u.agent.UID
}

func (u *users) doorUID() int {
	if u == nil || u.door == nil {
		return -1
	}
	return u.door.UID
}

// socketMode is how a socket lies in the run folder: whoever may not use it is
// refused by its number as the kernel tells it, so the mode only keeps the
// curious out where one group can say who may come.
func (u *users) socketMode() os.FileMode {
	if u != nil && u.group == 0 {
		return 0o666
	}
	return 0o660
}

// folderMode is that of a folder in which several users make their files: who
// did not make a file cannot remove or replace it.
func (u *users) folderMode() os.FileMode {
	if u.group == 0 {
		return os.ModeSticky | 0o777
	}
	return os.ModeSticky | 0o770
}
