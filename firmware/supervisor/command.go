package supervisor

import (
	"context"
	"errors"
	"os"
	"time"

	"homeagent/firmware/config"
	"homeagent/firmware/control"
	"homeagent/firmware/words"
	"homeagent/memory/disk"
)

// What this stage of the house does not do, in the words that status shows.
var (
	isolation = words.Text{ZH: "只分进程：智能体没有自己的命名空间；请只装可信的插件",
		EN: "processes only: the agent runs without namespaces of its own; use only plugins you trust"}
	tracker = words.Text{ZH: "不记录：工具做的改动还不能撤销；重要的东西请自己备份",
		EN: "records nothing: what tools change cannot be undone yet; keep copies of what matters"}
	watchdog = words.Text{ZH: "没有：不喂硬件看门狗；整机卡死时请断电重启",
		EN: "none: no hardware watchdog is fed; if the whole box hangs, switch it off and on"}
	wifi = words.Text{ZH: "不管理：网络由操作系统负责；请在系统里设置", EN: "not managed: the network is the operating system's; set it up there"}
)

// Handle answers the control socket. Root and the supervisor's own user may do
// everything, except that the agent itself may only ask for the status.
func (s *Supervisor) Handle(_ context.Context, peer control.Peer, req control.Request) (any, error) {
	if peer.UID != 0 && peer.UID != os.Getuid() {
		return nil, control.ErrDenied
	}
	if pid := s.agent.status().PID; pid != 0 && pid == peer.PID && req.Cmd != control.Status {
		return nil, control.ErrDenied
	}
	switch req.Cmd {
	case control.Status:
		s.mu.Lock()
		defer s.mu.Unlock()
		return control.StatusReport{
			Version: s.opts.Version, DataDir: s.opts.DataDir,
			Processes: []control.Process{s.door.report(req.Lang), s.agent.report(req.Lang)},
			Notices:   config.Texts(s.notices, req.Lang),
			Isolation: isolation.In(req.Lang), Tracker: tracker.In(req.Lang),
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
	}
	return nil, words.Errorf("没有命令 %q；请让 homectl 与 homed 用同一个版本", "no command %q; use homectl and homed of the same version", req.Cmd)
}

// setConfig replaces config.yaml and starts the agent anew. A text that does
// not parse changes nothing. A broken file that it replaces is kept aside.
func (s *Supervisor) setConfig(text string) ([]config.Notice, error) {
	after, notes, err := config.Parse([]byte(text))
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	before, _, _ := config.Parse(s.text)
	if old, rerr := readRegular(s.opts.ConfigPath); rerr == nil {
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
	err = disk.WriteFile(s.opts.ConfigPath, []byte(text), 0o600)
	s.mu.Unlock()
	if err != nil {
		return nil, folderError(s.opts.DataDir, err)
	}
	s.loadConfig()
	s.agent.restart()
	if before.Daemon.ListenAddr != after.Daemon.ListenAddr {
		s.door.restart()
	}
	return notes, nil
}
