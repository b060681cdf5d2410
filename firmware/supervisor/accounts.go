package supervisor

import (
	"os"
	"path/filepath"

	"homeagent/firmware/note"
	"homeagent/firmware/words"
)

// usedBefore tells whether a house has lived in the data folder. It must be
// asked before the processes start: the agent makes both files in its first
// seconds, and the door makes its own beside it.
func usedBefore(dir string) bool {
	for _, name := range []string{"state.db", filepath.Join("memory", "graph.db")} {
		if info, err := os.Lstat(filepath.Join(dir, name)); err == nil && info.Mode().IsRegular() {
			return true
		}
	}
	return false
}

// accountsLost has the people of the house told that the accounts are gone:
// page and status say it by the door, and who does not look at them hears it
// from the agent. The agent has most often been given its document before the
// door finds out, and is started anew for it, once in a run of the supervisor,
// whatever the door says how often.
func (s *Supervisor) accountsLost(kept, memories bool) {
	s.mu.Lock()
	again := s.lost == nil && s.handed
	if s.lost == nil {
		n := note.FromText(s.lostWords(kept, memories), true)
		s.lost = &n
	}
	s.mu.Unlock()
	if again {
		s.agent.restart()
	}
}

// lostWords are made for the ear: no names of damaged files.
func (s *Supervisor) lostWords(kept, memories bool) words.Text {
	t := words.Text{ZH: "账户文件不见了，网页的密码没有了。", EN: "The file of accounts is gone, and with it the page's password."}
	if kept {
		t = words.Text{ZH: "账户文件坏了，网页的密码没有了；坏的文件还留在数据文件夹里。",
			EN: "The file of accounts is damaged, and the page's password is lost; the damaged file is kept in the data folder."}
	}
	if memories {
		t.ZH += "记忆都还在。"
		t.EN += " The memories are still there."
	}
	where := words.Text{ZH: "数据文件夹里的 setup-code.txt", EN: "setup-code.txt in the data folder"}
	if s.opts.SetupDir != "" {
		where = words.Text{ZH: "存储卡上的 setup-code.txt", EN: "setup-code.txt on the card"}
	}
	t.ZH += "请打开网页，用新的设置码重新设置密码；设置码写在" + where.ZH + " 里。"
	t.EN += " Open the page and claim it again with the new setup code, which stands in " + where.EN + "."
	return t
}
