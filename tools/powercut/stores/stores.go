package stores

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"homeagent/firmware/config"
	"homeagent/tools/powercut/ledger"
)

// House is where a house's partitions can be read.
type House struct {
	// Setup is the setup partition, Data the data partition.
	Setup, Data string
	// Clock is the file on the data partition that keeps the time, "" if none does.
	Clock string
	// Built is when the image was made; no saved time is before it.
	Built time.Time
}

// Folder is the house's data folder on the data partition.
const Folder = "homeagent"

// maxFile bounds a small file that is read whole.
const maxFile = 1 << 20

// Look opens every store and looks for what is due. A house that has not been
// started yet has no data folder and holds nothing.
func (h House) Look(ctx context.Context, due []ledger.Expectation) ledger.Found {
	l := look{House: h, due: due, dir: filepath.Join(h.Data, Folder)}
	l.f = ledger.Nothing()
	if _, err := os.Stat(l.dir); err == nil {
		l.openGraphAlone(ctx)
		l.openMemory(ctx)
		l.openQueue(ctx)
		l.openDoor()
		l.readConfig()
		l.readSecrets()
		l.setAside()
	} else if !errors.Is(err, fs.ErrNotExist) {
		l.damage("the data folder: %v", err)
	}
	l.readClock()
	l.findGiven()
	return l.f
}

// look is one look at a house.
type look struct {
	House
	due []ledger.Expectation
	dir string
	f   ledger.Found
}

func (l *look) damage(format string, args ...any) {
	l.f.Damage = append(l.f.Damage, fmt.Sprintf(format, args...))
}

// readConfig reads the values of config.yaml that are asked for. The house
// starts with an older copy where the file is broken, and that would be a loss.
func (l *look) readConfig() {
	text, err := os.ReadFile(filepath.Join(l.dir, "config.yaml"))
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err == nil {
		_, _, err = config.Parse(text)
	}
	var sections map[string]map[string]yaml.Node
	if err == nil && len(bytes.TrimSpace(text)) == 0 {
		err = errors.New("the file is empty")
	}
	if err != nil {
		l.damage("config.yaml: %v", err)
		return
	}
	var top map[string]yaml.Node
	if err := yaml.Unmarshal(text, &top); err != nil {
		l.damage("config.yaml: %v", err)
		return
	}
	sections = map[string]map[string]yaml.Node{}
	for name, n := range top {
		var keys map[string]yaml.Node
		if n.Kind == yaml.MappingNode && n.Decode(&keys) == nil {
			sections[name] = keys
		}
	}
	for _, e := range l.due {
		section, key, _ := strings.Cut(e.Name, ".")
		if n, ok := sections[section][key]; e.Kind == ledger.Config && ok {
			l.f.Config[e.Name] = n.Value
		}
	}
}

func (l *look) readSecrets() {
	dir := filepath.Join(l.dir, "secrets")
	entries, err := os.ReadDir(dir)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			l.damage("secrets: %v", err)
		}
		return
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".new") {
			continue // a write that the cut ended
		}
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			l.damage("secret %s: %v", e.Name(), err)
			continue
		}
		if len(b) == 0 {
			l.damage("secret %s is empty", e.Name())
		}
		l.f.Secrets[e.Name()] = strings.TrimRight(string(b), "\r\n")
	}
}

// setAside finds what the house has moved out of its way, now or before the cut.
func (l *look) setAside() {
	err := filepath.WalkDir(l.dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := e.Name(); !e.IsDir() && strings.Contains(name, ".bad-") {
			rel, _ := filepath.Rel(l.dir, path) // below it by construction
			l.damage("%s was set aside", rel)
		}
		return nil
	})
	if err != nil {
		l.damage("the data folder: %v", err)
	}
}

// readClock holds the saved time against the time of building: the clock's
// ladder never stands below that, so an earlier one is garbage.
func (l *look) readClock() {
	if l.Clock == "" {
		return
	}
	b, err := os.ReadFile(filepath.Join(l.Data, l.Clock))
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil {
		l.damage("the saved clock: %v", err)
		return
	}
	at, err := parseClock(string(b))
	switch {
	case err != nil:
		l.damage("the saved clock: %v", err)
	case at.Before(l.Built):
		l.damage("the saved clock is %s, before the image was built", at.Format(time.RFC3339))
	}
}

// parseClock reads seconds since 1970 or a time in RFC 3339.
func parseClock(text string) (time.Time, error) {
	text = strings.TrimSpace(text)
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return time.Unix(n, 0), nil
	}
	return time.Parse(time.RFC3339Nano, text)
}

// findGiven looks for what was given on the setup partition, there and in the
// places of the house that take it.
func (l *look) findGiven() {
	var texts [][]byte
	read := func(dir string) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return
		}
		for _, e := range entries {
			info, err := e.Info()
			if err != nil || !info.Mode().IsRegular() || info.Size() > maxFile || strings.HasSuffix(e.Name(), ".new") {
				continue
			}
			if b, err := os.ReadFile(filepath.Join(dir, e.Name())); err == nil {
				texts = append(texts, b)
			}
		}
	}
	read(l.Setup)
	read(filepath.Join(l.dir, "secrets"))
	read(filepath.Join(l.Data, "system"))
	read(filepath.Join(l.Data, "system", "wifi"))
	for _, e := range l.due {
		if e.Kind == ledger.Given && slices.ContainsFunc(texts, func(b []byte) bool { return bytes.Contains(b, []byte(e.Value)) }) {
			l.f.Given[e.Name] = e.Value
		}
	}
}
