package control

import (
	"encoding/json"

	"homeagent/firmware/words"
)

// MaxLine bounds one request or reply, in bytes.
const MaxLine = 4 << 20

// Command names what is asked of the supervisor.
type Command string

const (
	Status     Command = "status"      // reply Data: StatusReport
	Restart    Command = "restart"     // Name: a process
	Logs       Command = "logs"        // Lines: how many; reply Data: []string
	ConfigGet  Command = "config_get"  // reply Data: the text of config.yaml
	ConfigSet  Command = "config_set"  // Text: the new config.yaml; the agent starts anew
	SecretSet  Command = "secret_set"  // Name, Text; "" removes it
	SecretList Command = "secret_list" // reply Data: names only
	// AccountsLost is the door's word that the accounts are gone and the page
	// must be claimed again. Name: the damaged file's name where one is kept,
	// Text: Memories where the rest of the house is there. The people of the
	// house are told by voice; the words are the supervisor's.
	AccountsLost Command = "accounts_lost"
)

// Memories is the Text of AccountsLost where the rest of the house is there.
const Memories = "memories"

// Request is one command.
type Request struct {
	Cmd   Command `json:"cmd"`
	Name  string  `json:"name,omitempty"`
	Text  string  `json:"text,omitempty"`
	Lines int     `json:"lines,omitempty"`
	// Lang is the language of every sentence in the reply: "zh" is Chinese,
	// anything else English.
	Lang string `json:"lang,omitempty"`
}

// Reply answers one Request.
type Reply struct {
	OK    bool            `json:"ok"`
	Error string          `json:"error,omitempty"`
	Data  json.RawMessage `json:"data,omitempty"`
}

// Process is the state of one supervised process.
type Process struct {
	Name string `json:"name"`
	// State is running, starting, waiting or stopped.
	State    string `json:"state"`
	PID      int    `json:"pid,omitempty"`
	Since    int64  `json:"since_unix,omitempty"`
	Restarts int    `json:"restarts"`
	// LastExit says in words how the process ended last, "" if it never did.
	LastExit string `json:"last_exit,omitempty"`
}

// StatusReport is what the supervisor knows of the house. Its sentences are in
// the language of the request.
type StatusReport struct {
	Version   string    `json:"version"`
	DataDir   string    `json:"data_dir"`
	Processes []Process `json:"processes"`
	// Notices are sentences for people: what the configuration got wrong, what
	// was set aside, what this computer cannot do.
	Notices []string `json:"notices"`
	// Isolation, Tracker, Watchdog and Wifi say in words what is in force.
	Isolation string `json:"isolation"`
	Tracker   string `json:"tracker"`
	Watchdog  string `json:"watchdog"`
	Wifi      string `json:"wifi"`
}

// ErrDenied is a peer that may not use the command.
var ErrDenied error = words.Errorf("这个用户无权这样做；请用 root 或运行 homed 的用户来做",
	"not allowed for this user; do it as root or as the user that homed runs as")
