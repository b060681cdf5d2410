package supervisor

import (
	"context"
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"homeagent/firmware/config"
	"homeagent/firmware/control"
	"homeagent/firmware/note"
	"homeagent/firmware/words"
	"homeagent/memory/disk"
)

// What this stage of the house does not do, in the words that status shows.
var (
	isolation = words.Text{ZH: "只分进程：智能体没有自己的命名空间；请只装可信的插件",
		EN: "processes only: the agent runs without namespaces of its own; use only plugins you trust"}
	isolationUsers = words.Text{ZH: "每个进程有自己的用户，没有特权；智能体还没有自己的命名空间，请只装可信的插件",
		EN: "each process has a user of its own without privileges; the agent still has no namespaces, use only plugins you trust"}
	tracker = words.Text{ZH: "不记录：工具做的改动还不能撤销；重要的东西请自己备份",
		EN: "records nothing: what tools change cannot be undone yet; keep copies of what matters"}
	watchdog = words.Text{ZH: "没有：不喂硬件看门狗；整机卡死时请断电重启",
		EN: "none: no hardware watchdog is fed; if the whole box hangs, switch it off and on"}
	wifi = words.Text{ZH: "不管理：网络由操作系统负责；请在系统里设置", EN: "not managed: the network is the operating system's; set it up there"}
)

// Handle answers the control socket. Root and the supervisor's own user may do
// everything, the door what the page needs, the agent only ask for the status,
// by its user where it has one and by its process else. Nobody else may do anything.
func (s *Supervisor) Handle(_ context.Context, peer control.Peer, req control.Request) (any, error) {
	if !s.allowed(peer, req.Cmd) {
		return nil, control.ErrDenied
	}
	switch req.Cmd {
	case control.Status:
		s.mu.Lock()
		defer s.mu.Unlock()
		return control.StatusReport{
			Version: s.opts.Version, DataDir: s.opts.DataDir,
			Processes: []control.Process{s.door.report(req.Lang), s.agent.report(req.Lang)},
			Notices:   append(s.told(req.Lang), config.Texts(s.notices, req.Lang)...),
			Isolation: s.isolation().In(req.Lang), Tracker: tracker.In(req.Lang),
			Watchdog: watchdog.In(req.Lang), Wifi: wifi.In(req.Lang),
		}, nil
	case control.Restart:
		s.loadConfig() // its owner may have edited config.yaml by hand
		switch req.Name {
		case "agent":
			s.agent.restart()
		case "door":
			s.door.restart()
		default:
			return nil, words.Errorf("没有叫 %q 的进程；可以重启 agent 或 door", "no process %q; there are agent and door", req.Name)
		}
		return nil, nil
	case control.Logs:
		return s.ring.last(req.Lines), nil
	case control.ConfigGet:
		s.mu.Lock()
		defer s.mu.Unlock()
		return string(s.text), nil
	case control.ConfigSet:
		notes, err := s.setConfig(req.Text)
		if err != nil {
			return nil, err
		}
		return config.Texts(notes, req.Lang), nil
	case control.SecretSet:
		s.mu.Lock()
		err := s.secrets.set(req.Name, req.Text)
		s.mu.Unlock()
		if err != nil {
			return nil, err
		}
		s.agent.restart()
		return nil, nil
	case control.SecretList:
		return s.secrets.names()
	case control.AccountsLost:
		s.accountsLost(req.Name != "", req.Text == control.Memories)
		return nil, nil
	}
	return nil, words.Errorf("没有命令 %q；请让 homectl 与 homed 用同一个版本", "no command %q; use homectl and homed of the same version", req.Cmd)
}

// allowed tells whether a peer may use a command.
func (s *Supervisor) allowed(peer control.Peer, cmd control.Command) bool {
	if peer.UID < 0 {
		return false // nobody; and -1 is how users says "none"
	}
	switch peer.UID {
	case s.users.agentUID():
		return cmd == control.Status
	case s.users.doorUID():
		switch cmd {
		case control.Status, control.ConfigGet, control.ConfigSet, control.SecretSet, control.SecretList, control.AccountsLost:
			return true
		}
		return false
	case 0, os.Getuid():
		pid := s.agent.status().PID
		return pid == 0 || pid != peer.PID || cmd == control.Status
	}
	return false
}

// isolation is what keeps the processes apart.
func (s *Supervisor) isolation() words.Text {
	if s.users.agentUID() >= 0 {
		return isolationUsers
	}
	return isolation
}

// told is what the start of the machine and of the house had to tell, and
// whether there is a network now.
func (s *Supervisor) told(lang string) []string {
	var out []string
	for _, n := range s.notes() {
		out = append(out, n.In(lang))
	}
	for _, n := range s.found {
		out = append(out, n.In(lang))
	}
	if s.opts.SetupDir != "" && isLonely(s.opts.Addresses) {
		out = append(out, lonely.In(lang))
	}
	return out
}

// notes are those of the machine's start. The file lies in memory; it is read
// anew each time, because a script may add to it later.
func (s *Supervisor) notes() []note.Note {
	if s.opts.NotesPath == "" {
		return nil
	}
	var st unix.Stat_t
	if s.users != nil && unix.Lstat(s.opts.NotesPath, &st) == nil && st.Uid != 0 {
		s.log.Debug("the notes are not root's and are left out", "file", s.opts.NotesPath)
		return nil
	}
	got, skipped, err := note.Read(s.opts.NotesPath)
	if err != nil || skipped > 0 {
		s.log.Debug("notes", "file", s.opts.NotesPath, "skipped", skipped, "err", err)
	}
	return got
}

// holdNotes makes the file of the notes where there is none yet, before a
// process of another user runs: scripts that are root add to it later, and
// nobody else may have laid a file or a link there for them.
func (s *Supervisor) holdNotes() {
	if s.users == nil || s.opts.NotesPath == "" {
		return
	}
	f, err := os.OpenFile(s.opts.NotesPath, os.O_WRONLY|os.O_CREATE|os.O_EXCL|unix.O_NOFOLLOW, 0o644)
	if err == nil {
		f.Close()
	} else if !errors.Is(err, os.ErrExist) {
		s.log.Warn("the file of the notes cannot be made", "err", err)
	}
}

// setConfig replaces config.yaml and starts the agent anew. A text that does
// not parse changes nothing. A broken file that it replaces is kept aside.
func (s *Supervisor) setConfig(text string) ([]config.Notice, error) {
	_, notes, err := config.Parse([]byte(text))
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	before := s.listen(s.text)
	if old, rerr := s.readConfig(s.opts.ConfigPath); rerr == nil {
		if _, _, perr := config.Parse(old); perr != nil {
			if _, err := disk.SetAside(s.opts.ConfigPath, time.Now()); err != nil {
				s.mu.Unlock()
				return nil, folderError(s.opts.DataDir, err)
			}
		}
	} else if !errors.Is(rerr, os.ErrNotExist) {
		s.mu.Unlock()
		return nil, folderError(s.opts.DataDir, rerr)
	}
	err = writeOwn(s.opts.ConfigPath, []byte(text))
	s.mu.Unlock()
	if err != nil {
		return nil, folderError(s.opts.DataDir, err)
	}
	s.loadConfig()
	s.agent.restart()
	if before != s.listen([]byte(text)) {
		s.door.restart()
	}
	return notes, nil
}
