package knowledge

import (
	"bytes"
	"errors"
	"fmt"
	"unicode"
	"unicode/utf8"
)

var (
	// ErrName is wrapped when a name has signs that it may not have.
	ErrName = errors.New("a name has letters, digits, - and _ only")
	// ErrExists is wrapped when Create finds another content under the name.
	ErrExists = errors.New("there already with another content")
	// ErrNotFound is wrapped when nothing bears the name.
	ErrNotFound = errors.New("no such knowledge")
	// ErrText is wrapped when content is no UTF-8 text.
	ErrText = errors.New("not a text in UTF-8")
	// ErrTooBig is wrapped when content has more than MaxContent bytes.
	ErrTooBig = errors.New("content too big")
	// ErrOutside is wrapped when a link leads out of the folder.
	ErrOutside = errors.New("a link that leads out of the folder")
	// ErrKind is wrapped when something other than a file bears a file's name.
	ErrKind = errors.New("not a file")
	// ErrPlace is wrapped when a text lies beside the folders, not in one.
	ErrPlace = errors.New("a text outside of a folder of its own")
	// ErrTooMany is wrapped when there are more than MaxNames names.
	ErrTooMany = errors.New("too much knowledge")
)

const (
	// MaxContent is the largest content, in bytes.
	MaxContent = 4 << 20
	// MaxNames is how many names are looked at.
	MaxNames = 10_000
	// maxName is the longest name in bytes.
	maxName = 120
)

// CheckName tells whether a name may be used: letters of any script, digits,
// '-' and '_', at most 120 bytes.
func CheckName(name string) error {
	if name == "" || len(name) > maxName || !utf8.ValidString(name) {
		return fmt.Errorf("%w, and 1 to %d bytes: %q", ErrName, maxName, name)
	}
	for _, r := range name {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && r != '-' && r != '_' {
			return fmt.Errorf("%w: %q", ErrName, name)
		}
	}
	return nil
}

// bom is what some editors begin a text with.
var bom = []byte("\ufeff")

// checkContent tells whether content is a text, and returns it as one.
func checkContent(content []byte) (string, error) {
	if len(content) > MaxContent {
		return "", fmt.Errorf("%w: more than %d bytes", ErrTooBig, MaxContent)
	}
	content = bytes.TrimPrefix(content, bom)
	if i := bytes.IndexByte(content, 0); i >= 0 {
		return "", fmt.Errorf("%w: a zero at byte %d", ErrText, i)
	}
	if !utf8.Valid(content) {
		return "", fmt.Errorf("%w: in another encoding, or damaged", ErrText)
	}
	return string(content), nil
}
