package supervisor

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"homeagent/memory/disk"
)

// secretStore keeps each secret in a file of its own, mode 0600, below secrets/.
type secretStore struct{ dir string }

const maxSecret = 64 << 10

var secretName = regexp.MustCompile(`^[a-z][a-z0-9_.-]{0,63}$`)

func (s secretStore) set(name, value string) error {
	if !secretName.MatchString(name) {
		return fmt.Errorf("%q is no name for a secret; use small letters, digits, and - _ . inside", name)
	}
	if len(value) > maxSecret {
		return errors.New("the secret is longer than 64 KiB")
	}
	path := filepath.Join(s.dir, name)
	if value == "" {
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("remove secret %s: %w", name, err)
		}
		return disk.OS{}.SyncDir(s.dir)
	}
	return disk.WriteFile(path, []byte(value), 0o600)
}

func (s secretStore) names() ([]string, error) {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return nil, fmt.Errorf("secrets: %w", err)
	}
	names := []string{}
	for _, e := range entries {
		if secretName.MatchString(e.Name()) && !strings.HasSuffix(e.Name(), ".new") {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// all reads every secret; one that cannot be read is named and left out.
func (s secretStore) all() (map[string]string, []string) {
	names, err := s.names()
	if err != nil {
		return nil, []string{err.Error()}
	}
	values, notes := map[string]string{}, []string(nil)
	for _, n := range names {
		b, err := os.ReadFile(filepath.Join(s.dir, n))
		if err != nil {
			notes = append(notes, fmt.Sprintf("secret %s cannot be read: %v", n, err))
			continue
		}
		values[n] = strings.TrimRight(string(b), "\r\n")
	}
	return values, notes
}
