package supervisor

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"

	"homeagent/firmware/config"
	"homeagent/firmware/control"
	"homeagent/firmware/words"
	"homeagent/memory/disk"
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

	mu      sync.Mutex // guards what follows and the files config.yaml and secrets/
	text    []byte     // the effective config.yaml
	notices []config.Notice
}

// New checks nothing and starts nothing; Run does.
func New(opts Options) *Supervisor {
	r := newRing(opts.Output)
	return &Supervisor{opts: opts, ring: r, log: slog.New(slog.NewTextHandler(r, nil))}
}

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

// newRunDir chooses and makes the folder for the sockets of this start.
func newRunDir(dataDir string) (string, error) {
	if dataDir == installedData && os.MkdirAll(installedRun, 0o755) == nil && unix.Access(installedRun, unix.W_OK) == nil {
		return installedRun, nil
	}
	dir := filepath.Join(dataDir, "run")
	return dir, os.MkdirAll(dir, 0o755)
}

// Run keeps the house up until ctx ends. It returns an error only for what
// keeps it from starting: a data folder in use or not writable, no control
// socket. The error has words in both languages, see words.In.
func (s *Supervisor) Run(ctx context.Context) error {
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
	for _, d := range []struct {
		path string
		mode os.FileMode
	}{{s.secrets.dir, 0o700}, {filepath.Join(dir, "workspace"), 0o755}} {
		if err := os.MkdirAll(d.path, d.mode); err != nil {
			return folderError(dir, err)
		}
	}
	if s.runDir, err = newRunDir(dir); err != nil {
		return folderError(dir, err)
	}
	s.link = newSecret()
	s.loadConfig()
	for _, n := range s.notices {
		s.log.Warn(n.EN)
	}

	s.door = newChild(spec{name: "door", command: s.opts.Door, env: []string{"GOMEMLIMIT=32MiB"}, handover: s.doorHandover}, s.log, s.ring)
	s.agent = newChild(spec{name: "agent", command: s.opts.Agent, env: []string{"GOMEMLIMIT=160MiB"}, handover: s.agentHandover}, s.log, s.ring)

	srv, err := control.Listen(filepath.Join(s.runDir, "control.sock"), s, s.log)
	if err != nil {
		return err
	}
	var wg sync.WaitGroup
	wg.Go(func() { srv.Serve(ctx) })
	wg.Go(func() { s.door.run(ctx) })
	wg.Go(func() { s.agent.run(ctx) })
	s.log.Info("homed runs", "version", s.opts.Version, "data", dir, "isolation", isolation.EN)
	<-ctx.Done()
	srv.Close()
	wg.Wait()
	s.log.Info("homed ended")
	return nil
}

func newSecret() string {
	var b [32]byte
	rand.Read(b[:]) // never fails; see crypto/rand
	return hex.EncodeToString(b[:])
}

// loadConfig reads config.yaml. A file that does not parse is left as it is for
// its owner to mend; the last good text, or the defaults, serve meanwhile.
func (s *Supervisor) loadConfig() {
	s.mu.Lock()
	defer s.mu.Unlock()
	good := filepath.Join(s.opts.DataDir, "config.good.yaml")
	s.text, s.notices = nil, nil
	text, err := readRegular(s.opts.ConfigPath)
	if errors.Is(err, os.ErrNotExist) {
		return
	}
	if err == nil {
		_, notes, perr := config.Parse(text)
		if perr == nil {
			s.text, s.notices = text, notes
			if last, rerr := os.ReadFile(good); rerr != nil || string(last) != string(text) {
				if werr := disk.WriteFile(good, text, 0o600); werr != nil {
					s.notices = append(s.notices, config.Notice{Text: folderError(s.opts.DataDir, werr).Text})
				}
			}
			return
		}
		err = perr
	}
	meanwhile := words.Text{ZH: "默认值", EN: "the defaults are used"}
	if text, rerr := os.ReadFile(good); rerr == nil {
		if _, _, perr := config.Parse(text); perr == nil {
			s.text = text
			meanwhile = words.Text{ZH: "上一份好的配置", EN: "the last good configuration is used"}
		}
	}
	s.notices = []config.Notice{{Text: words.Format("%s 不能用：%v；改正之前用的是%s",
		"%s cannot be used: %v; until it is mended %s", s.opts.ConfigPath, err, meanwhile)}}
}

// readRegular reads a file and nothing else: a pipe of that name would be waited
// for without end.
func readRegular(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, words.Errorf("它不是普通文件", "it is no regular file")
	}
	return os.ReadFile(path)
}

func (s *Supervisor) doorHandover() (config.Handover, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return config.Handover{
		DataDir: s.opts.DataDir, RunDir: s.runDir, Config: string(s.text), Notices: config.Texts(s.notices, words.English),
		LinkSecret: s.link, Version: s.opts.Version,
	}, nil
}

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
	return h, nil
}
