package debian

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Store is a folder of downloaded files, named by their content so that two
// locks share it.
type Store struct {
	Dir     string
	Mirrors func() (Mirrors, error) // asked only when something is missing
	Log     io.Writer
}

// GoneError says that the mirror does not serve a pinned version any more.
type GoneError struct {
	Pin    Pin
	Output string // apt's words
}

// Error says in both languages what to do.
func (e *GoneError) Error() string {
	return fmt.Sprintf("镜像站上取不到 %[1]s %[2]s（也可能是网络不通）。如果网络正常，说明这个版本已被新版取代：请运行 make image-lock，再重试。"+
		"%[1]s %[2]s cannot be had from the mirror; if the network works, a newer version has replaced it: "+
		"run make image-lock and try again\n%[3]s", e.Pin.Name, e.Pin.Version, e.Output)
}

// Path is where a pin's file lies once Bring has brought it.
func (s Store) Path(p Pin) string { return filepath.Join(s.Dir, p.SHA256[:16]+"_"+p.File()) }

// Bring downloads what of the lock is missing.
func (s Store) Bring(ctx context.Context, l Lock) error {
	if err := os.MkdirAll(s.Dir, 0o755); err != nil {
		return fmt.Errorf("make the folder for Debian's packages: %w", err)
	}
	var missing Lock
	for _, p := range l {
		if st, err := os.Stat(s.Path(p)); err != nil || st.Size() != p.Size {
			missing = append(missing, p)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	m, err := s.Mirrors()
	if err != nil {
		return err
	}
	for _, p := range missing {
		fmt.Fprintf(s.Log, "image: fetching %s %s\n", p.Name, p.Version)
		if err := s.fetch(ctx, m, p); err != nil {
			return err
		}
	}
	return nil
}

func (s Store) fetch(ctx context.Context, m Mirrors, p Pin) error {
	tmp := s.Path(p) + ".part"
	defer os.Remove(tmp)
	cmd := exec.CommandContext(ctx, "/usr/lib/apt/apt-helper", "-o", "APT::Sandbox::User=root", "-o", "Acquire::Retries=3",
		"download-file", m.Of(p.Suite)+"/"+p.Path, tmp, "SHA256:"+p.SHA256)
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return &GoneError{p, lastLine(out)}
	}
	// apt has checked it; checked once more because a wrong answer would be
	// kept for ever.
	if err := p.Check(tmp); err != nil {
		return err
	}
	if err := os.Rename(tmp, s.Path(p)); err != nil {
		return fmt.Errorf("keep %s: %w", p.File(), err)
	}
	return nil
}

// Check compares a file with its pin: size and sum.
func (p Pin) Check(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return fmt.Errorf("check %s: %w", p.File(), err)
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, f)
	if err != nil {
		return fmt.Errorf("check %s: %w", p.File(), err)
	}
	if sum := hex.EncodeToString(h.Sum(nil)); sum != p.SHA256 || n != p.Size {
		return fmt.Errorf("%s is not what the lock names: %d bytes, sha256 %s", p.File(), n, sum)
	}
	return nil
}

func lastLine(out []byte) string {
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return lines[len(lines)-1]
}
