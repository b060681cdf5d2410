package supervisor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"homeagent/firmware/config"
	"homeagent/firmware/control"
	"homeagent/memory/disk"
)

// What this stage of the house does not do, in the words that status shows.
const (
	isolation = "processes only: the agent runs without namespaces of its own"
	tracker   = "records nothing: what tools change cannot be undone yet"
	watchdog  = "none: no hardware watchdog is fed"
	wifi      = "not managed: the network is the operating system's"
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
			Processes: []control.Process{s.door.status(), s.agent.status()},
			Notices:   s.notices,
			Isolation: isolation, Tracker: tracker, Watchdog: watchdog, Wifi: wifi,
		}, nil
	case control.Restart:
		switch req.Name {
		case "agent":
			s.agent.restart()
		case "door":
			s.door.restart()
		default:
			return nil, fmt.Errorf("no process %q; there are agent and door", req.Name)
		}
		return nil, nil
	case control.Logs:
		return s.ring.last(req.Lines), nil
	case control.ConfigGet:
		s.mu.Lock()
		defer s.mu.Unlock()
		return string(s.text), nil
	case control.ConfigSet:
		return s.setConfig(req.Text)
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
	return nil, fmt.Errorf("no command %q", req.Cmd)
}

// setConfig replaces config.yaml and starts the agent anew. A text that does
// not parse changes nothing. A broken file that it replaces is kept aside.
func (s *Supervisor) setConfig(text string) ([]string, error) {
	after, notes, err := config.Parse([]byte(text))
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	before, _, _ := config.Parse(s.text)
	if old, rerr := os.ReadFile(s.opts.ConfigPath); rerr == nil {
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
