package supervisor

import (
	"homeagent/firmware/config"
	"homeagent/firmware/words"
)

// doorHandover is what the door is given at a start.
func (s *Supervisor) doorHandover() (config.Handover, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := config.Handover{
		DataDir: s.opts.DataDir, RunDir: s.runDir, Config: string(s.text), Notices: config.Texts(s.notices, words.English),
		LinkSecret: s.link, Version: s.opts.Version, Listen: s.listen(s.text),
	}
	h.Used = s.used
	if s.users != nil {
		h.SocketMode, h.SocketGroup = uint32(s.users.socketMode()), s.users.group
	}
	return h, nil
}

// agentHandover is what the agent is given: the secrets too.
func (s *Supervisor) agentHandover() (config.Handover, error) {
	h, err := s.doorHandover()
	if err != nil {
		return h, err
	}
	var notes []words.Text
	h.Secrets, notes = s.secrets.all()
	for _, n := range notes {
		h.Notices = append(h.Notices, n.EN)
	}
	h.Used = false
	h.Notes, h.SmallBoard = s.notes(), s.limits.small
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lost != nil {
		h.Notes = append(h.Notes, *s.lost)
	}
	s.handed = true
	return h, nil
}
