package supervisor

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"homeagent/firmware/account"
	"homeagent/firmware/config"
	"homeagent/firmware/control"
	"homeagent/firmware/note"
	"homeagent/firmware/words"
)

// Options say which house is run.
type Options struct {
	// ConfigPath is config.yaml; "" is the one in the data folder.
	ConfigPath string
	// DataDir is the data folder; it is made if it does not exist.
	DataDir string
	// Door and Agent are the commands of the two processes.
	Door, Agent []string
	Version     string
	// Output takes the log lines of all processes.
	Output io.Writer
	// Listen is where the page is served if config.yaml names no address; ""
	// is the default of the configuration.
	Listen string
	// AgentUser and DoorUser are the system users the two processes run under,
	// without any privilege; "" is the supervisor's own. Only root can name them.
	AgentUser, DoorUser string
	// Accounts is where users are looked up; the zero value is the system's files.
	Accounts account.Source
	// SetupDir is a folder, usually the card's first partition, that gets a copy
	// of setup-code.txt while the box is unclaimed; "" is none.
	SetupDir string
	// Mounts makes SetupDir writable for a moment; nil is Mounted.
	Mounts Remounter
	// Addresses are the machine's own addresses, as text with their prefix; nil is
	// net.InterfaceAddrs. They are asked only where there is a SetupDir.
	Addresses func() ([]net.Addr, error)
	// NotesPath is the file of package note; "" is none.
	NotesPath string
	// LogPath is a log file that takes all lines and is kept small; Output then
	// gets only what matters at a console, and neither can hold the house up.
	LogPath string
}

// Supervisor runs the processes of one data folder.
type Supervisor struct {
	opts    Options
	runDir  string
	log     *slog.Logger
	ring    *ring
	secrets secretStore
	link    string
	door    *child
	agent   *child
	users   *users // nil: all processes run under the supervisor's user
	limits  limits
	found   []words.Text // what the start found; fixed afterwards
	used    bool         // the data folder held a house before; fixed afterwards

	mu      sync.Mutex // guards what follows and the files config.yaml and secrets/
	text    []byte     // the effective config.yaml
	notices []config.Notice
	lost    *note.Note // that the accounts are gone, once the door has told
	handed  bool       // the agent has been given its document in this run
}

// New checks nothing and starts nothing; Run does.
func New(opts Options) *Supervisor {
	if opts.Mounts == nil {
		opts.Mounts = Mounted{}
	}
	if opts.Addresses == nil {
		opts.Addresses = net.InterfaceAddrs
	}
	r := newRing(opts.Output)
	return &Supervisor{opts: opts, ring: r, log: slog.New(slog.NewTextHandler(r, nil))}
}

// Log takes the log lines of what else runs beside the house, such as the
// keeper of the clock, one line a Write. It may be used before, during and after Run.
func (s *Supervisor) Log() io.Writer { return s.ring }

// The folders of an installed system; its sockets lie in memory, not on the card.
const (
	installedData = "/var/lib/homeagent"
	installedRun  = "/run/homeagent"
)

// RunDir is where a homed running on the data folder has its sockets:
// /run/homeagent for an installed system, else run/ inside the data folder.
func RunDir(dataDir string) string {
	if dataDir == installedData {
		if _, err := os.Stat(filepath.Join(installedRun, "control.sock")); err == nil {
			return installedRun
		}
	}
	return filepath.Join(dataDir, "run")
}

// newRunDir chooses and makes the folder for the sockets of this start. The
// door makes its own in it; whoever else may write there can neither remove
// nor replace what is not theirs.
func newRunDir(dataDir string, u *users) (string, error) {
	dir := filepath.Join(dataDir, "run")
	if dataDir == installedData && os.MkdirAll(installedRun, 0o755) == nil && unix.Access(installedRun, unix.W_OK) == nil {
		dir = installedRun
	} else if err := os.MkdirAll(dir, 0o755); err != nil {
		return dir, err
	}
	if u == nil || u.door == nil {
		return dir, nil
	}
	f, err := os.OpenFile(dir, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return dir, err
	}
	defer f.Close()
	if err := f.Chown(0, u.door.GID); err != nil {
		return dir, err
	}
	return dir, f.Chmod(os.ModeSticky | 0o775)
}

// Run keeps the house up until ctx ends. It returns an error only for what
// keeps it from starting: a data folder in use or not writable, no control
// socket. The error has words in both languages, see words.In.
func (s *Supervisor) Run(ctx context.Context) error {
	if s.opts.LogPath != "" {
		out := openSink(s.opts.LogPath, s.opts.Output)
		defer func() {
			s.ring.redirect(s.opts.Output) // for who still speaks by Log
			out.close()
		}()
		s.ring.redirect(out)
	}
	err := s.run(ctx)
	if err != nil && s.opts.LogPath != "" {
		s.log.Error("homed cannot run", "err", err)
	}
	return err
}

func (s *Supervisor) run(ctx context.Context) error {
	var err error
	if s.users, err = findUsers(s.opts.Accounts, s.opts.AgentUser, s.opts.DoorUser, os.Geteuid() == 0); err != nil {
		return err
	}
	dir, err := filepath.Abs(s.opts.DataDir)
	if err != nil {
		return folderError(s.opts.DataDir, err)
	}
	s.opts.DataDir = dir
	if s.opts.ConfigPath == "" {
		s.opts.ConfigPath = filepath.Join(dir, "config.yaml")
	}
	s.secrets = secretStore{filepath.Join(dir, "secrets")}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return folderError(dir, err)
	}
	lockFile, err := lock(dir)
	if err != nil {
		return err
	}
	defer lockFile.Close()
	if s.users != nil {
		if s.found, err = repair(dir, s.users, time.Now(), s.log); err != nil {
			return folderError(dir, err)
		}
	}
	s.used = usedBefore(dir)
	made := false
	for _, d := range []struct {
		path string
		mode os.FileMode
	}{{s.secrets.dir, 0o700}, {filepath.Join(dir, "workspace"), 0o755}} {
		if _, err := os.Lstat(d.path); err != nil {
			made = true
		}
		if err := os.MkdirAll(d.path, d.mode); err != nil {
			return folderError(dir, err)
		}
	}
	if s.users != nil && made {
		if _, err := repair(dir, s.users, time.Now(), s.log); err != nil {
			return folderError(dir, err)
		}
	}
	if s.runDir, err = newRunDir(dir, s.users); err != nil {
		return folderError(dir, err)
	}
	s.holdNotes()
	s.link = newSecret()
	s.loadConfig()
	for _, n := range s.notices {
		s.log.Warn(n.EN)
	}

	for _, n := range s.found {
		s.log.Warn(n.EN)
	}
	s.setLimits()
	s.door = newChild(spec{name: "door", command: s.opts.Door, env: []string{goMemLimit(s.limits.door)}, handover: s.doorHandover}, s.log, s.ring)
	s.agent = newChild(spec{name: "agent", command: s.opts.Agent, env: []string{goMemLimit(s.limits.agent)}, handover: s.agentHandover}, s.log, s.ring)
	if s.users != nil {
		s.door.user, s.door.home, s.door.score = s.users.door, dir, doorScore
		s.agent.user, s.agent.home, s.agent.score = s.users.agent, dir, agentScore
	}

	srv, err := s.listenControl()
	if err != nil {
		return err
	}
	var wg sync.WaitGroup
	wg.Go(func() { srv.Serve(ctx) })
	wg.Go(func() { s.door.run(ctx) })
	wg.Go(func() { s.agent.run(ctx) })
	if s.opts.SetupDir != "" {
		m := mirror{from: dir, to: s.opts.SetupDir, mounts: s.opts.Mounts, log: s.log}
		wg.Go(func() { m.run(ctx) })
	}
	s.log.Info("homed runs", "version", s.opts.Version, "data", dir, "isolation", s.isolation().EN)
	<-ctx.Done()
	srv.Close()
	wg.Wait()
	s.log.Info("homed ended")
	return nil
}

// setLimits chooses what each process may take of the machine's memory. Only
// an appliance has the kernel end them in an order of its own.
func (s *Supervisor) setLimits() {
	s.limits = limitsFor(machineMemory())
	if s.limits.homed > 0 {
		debug.SetMemoryLimit(int64(s.limits.homed) << 20)
	}
	if s.users != nil {
		if err := setScore(os.Getpid(), homedScore); err != nil {
			s.log.Debug("memory priority", "err", err)
		}
	}
}

// listenControl opens the control socket where door and agent can reach it.
func (s *Supervisor) listenControl() (*control.Server, error) {
	path := filepath.Join(s.runDir, "control.sock")
	srv, err := control.Listen(path, s, s.log)
	if err != nil || s.users == nil {
		return srv, err
	}
	// The folder is sticky and the socket root's: nobody changes what the name means.
	if err = os.Lchown(path, 0, s.users.group); err == nil {
		err = os.Chmod(path, s.users.socketMode())
	}
	if err != nil {
		srv.Close()
		return nil, folderError(s.runDir, err)
	}
	return srv, nil
}

func newSecret() string {
	var b [32]byte
	rand.Read(b[:]) // never fails; see crypto/rand
	return hex.EncodeToString(b[:])
}
