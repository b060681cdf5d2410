package config

import (
	"encoding/json"
	"io"
	"os"

	"homeagent/firmware/note"
	"homeagent/firmware/words"
)

// HandoverFD is the descriptor on which a started process finds its Handover.
const HandoverFD = 3

// Handover is what the supervisor gives a process it starts: one JSON document
// on a pipe, so that no secret stands in arguments or environment.
type Handover struct {
	// DataDir and RunDir are absolute.
	DataDir string `json:"data_dir"`
	RunDir  string `json:"run_dir"`
	// Config is the effective config.yaml; it parses without error.
	Config string `json:"config"`
	// Notices are what Parse and the supervisor had to say at this start, in English.
	Notices []string `json:"notices,omitempty"`
	// Secrets by name; only for the agent.
	Secrets map[string]string `json:"secrets,omitempty"`
	// Listen is where the page is served; "" is what Config says.
	Listen string `json:"listen,omitempty"`
	// SocketMode and SocketGroup are those of door.sock, where the agent runs
	// under another user than the door; 0 is the door's default.
	SocketMode  uint32 `json:"socket_mode,omitempty"`
	SocketGroup int    `json:"socket_group,omitempty"`
	// Notes are what the start of the machine has to tell people; only for the agent.
	Notes []note.Note `json:"notes,omitempty"`
	// Used tells that the data folder held a house before this start; only for the door.
	Used bool `json:"used,omitempty"`
	// SmallBoard tells that the machine is short of memory; see the supervisor's limits.
	SmallBoard bool `json:"small_board,omitempty"`
	// LinkSecret proves the agent to the door.
	LinkSecret string `json:"link_secret"`
	Version    string `json:"version"`
}

// Write sends the document and closes nothing.
func (h Handover) Write(w io.Writer) error { return json.NewEncoder(w).Encode(h) }

// ReadHandover reads the document from HandoverFD and closes it. A process that
// was started by hand has none; the error, a *words.Error, says how it is meant to be started.
func ReadHandover() (Handover, error) {
	var h Handover
	f := os.NewFile(HandoverFD, "handover")
	if f == nil {
		return h, words.Errorf("这个程序由 homed 启动；请运行 `homed -data 文件夹`", "this program is started by homed; run `homed -data FOLDER`")
	}
	defer f.Close()
	if err := json.NewDecoder(io.LimitReader(f, 8<<20)).Decode(&h); err != nil {
		return h, words.Errorf("没有收到监管进程交来的内容（%v）；这个程序由 homed 启动，请运行 `homed -data 文件夹`",
			"no document from the supervisor (%v); this program is started by homed, run `homed -data FOLDER`", err)
	}
	return h, nil
}
