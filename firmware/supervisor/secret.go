package supervisor

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"homeagent/firmware/words"
	"homeagent/memory/disk"
)

// secretStore keeps each secret in a file of its own, mode 0600, below secrets/.
type secretStore struct{ dir string }

const maxSecret = 64 << 10

var secretName = regexp.MustCompile(`^[a-z][a-z0-9_.-]{0,63}$`)

func (s secretStore) set(name, value string) error {
	if !secretName.MatchString(name) {
		return words.Errorf("%q 不能做密文的名称；请用小写字母开头，只用小写字母、数字和 - _ .，最多 64 个字符",
			"%q is no name for a secret; begin with a small letter, use small letters, digits and - _ . inside, 64 at most", name)
	}
	if len(value) > maxSecret {
		return words.Errorf("密文超过 64 KiB；请检查是不是拿错了文件", "the secret is longer than 64 KiB; is it the right file?")
	}
	path := filepath.Join(s.dir, name)
	if value == "" {
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return folderError(s.dir, err)
		}
		if err := (disk.OS{}).SyncDir(s.dir); err != nil {
			return folderError(s.dir, err)
		}
		return nil
	}
	if err := writeOwn(path, []byte(value)); err != nil {
		return folderError(s.dir, err)
	}
	return nil
}

func (s secretStore) names() ([]string, error) {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return nil, folderError(s.dir, err)
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
func (s secretStore) all() (map[string]string, []words.Text) {
	names, err := s.names()
	if err != nil {
		return nil, []words.Text{{ZH: words.In(err, words.Chinese), EN: words.In(err, words.English)}}
	}
	values, notes := map[string]string{}, []words.Text(nil)
	for _, n := range names {
		b, err := os.ReadFile(filepath.Join(s.dir, n))
		if err != nil {
			notes = append(notes, words.Format("密文 %[1]s 不能读（%[2]v）；请用 homectl secret set %[1]s 重新设置",
				"secret %[1]s cannot be read (%[2]v); set it again with homectl secret set %[1]s", n, err))
			continue
		}
		values[n] = strings.TrimRight(string(b), "\r\n")
	}
	return values, notes
}
