package supervisor

import (
	"errors"
	"io"
	"os"
	"path/filepath"

	"go.yaml.in/yaml/v3"
	"golang.org/x/sys/unix"

	"homeagent/firmware/config"
	"homeagent/firmware/words"
)

// loadConfig reads config.yaml. A file that does not parse is left as it is for
// its owner to mend; the last good text, or the defaults, serve meanwhile.
func (s *Supervisor) loadConfig() {
	s.mu.Lock()
	defer s.mu.Unlock()
	good := filepath.Join(s.opts.DataDir, "config.good.yaml")
	s.text, s.notices = nil, nil
	text, err := s.readConfig(s.opts.ConfigPath)
	if errors.Is(err, os.ErrNotExist) {
		return
	}
	if err == nil {
		_, notes, perr := config.Parse(text)
		if perr == nil {
			s.text, s.notices = text, notes
			if last, rerr := s.readConfig(good); rerr != nil || string(last) != string(text) {
				if werr := writeOwn(good, text); werr != nil {
					s.notices = append(s.notices, config.Notice{Text: folderError(s.opts.DataDir, werr).Text})
				}
			}
			return
		}
		err = perr
	}
	meanwhile := words.Text{ZH: "默认值", EN: "the defaults are used"}
	if text, rerr := s.readConfig(good); rerr == nil {
		if _, _, perr := config.Parse(text); perr == nil {
			s.text = text
			meanwhile = words.Text{ZH: "上一份好的配置", EN: "the last good configuration is used"}
		}
	}
	s.notices = []config.Notice{{Text: words.Format("%s 不能用：%v；改正之前用的是%s",
		"%s cannot be used: %v; until it is mended %s", s.opts.ConfigPath, err, meanwhile)}}
}

// readConfig reads a file and nothing else: a pipe of that name would be waited
// for without end. Where the processes have users of their own it must be
// root's, because they may make files in the data folder.
func (s *Supervisor) readConfig(path string) ([]byte, error) {
	flags := os.O_RDONLY | unix.O_NONBLOCK
	if s.users != nil {
		flags |= unix.O_NOFOLLOW
	}
	f, err := os.OpenFile(path, flags, 0)
	if errors.Is(err, unix.ELOOP) {
		return nil, words.Errorf("它是一个链接；请换成文件本身", "it is a link; put the file itself there")
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return nil, err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return nil, words.Errorf("它不是普通文件", "it is no regular file")
	}
	if s.users != nil && st.Uid != 0 {
		return nil, words.Errorf("它不属于 root；请用 chown root 改正", "it does not belong to root; mend that with chown root")
	}
	return io.ReadAll(f)
}

// listen is where the page is served: what the configuration names, else what
// the command line says, else "", the default of the configuration.
func (s *Supervisor) listen(text []byte) string {
	var named struct {
		Daemon struct {
			ListenAddr string `yaml:"listen_addr"`
		} `yaml:"daemon"`
	}
	// A wrong address is replaced by Parse, which says so; it counts as named none.
	if yaml.Unmarshal(text, &named) == nil && named.Daemon.ListenAddr != "" {
		if c, _, err := config.Parse(text); err == nil && c.Daemon.ListenAddr == named.Daemon.ListenAddr {
			return c.Daemon.ListenAddr
		}
	}
	return s.opts.Listen
}
