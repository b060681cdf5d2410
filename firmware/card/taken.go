package card

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// taken is card.json: what was taken from the card the last time, by key.
// Secrets stand in it as digests. A file that cannot be read counts as none:
// everything is taken once more, which is harmless.
type taken map[string]string

func parseTaken(data []byte) taken {
	var t taken
	if len(data) > maxFile || json.Unmarshal(data, &t) != nil || t == nil {
		return taken{}
	}
	return t
}

func (t taken) bytes() ([]byte, error) {
	b, err := json.MarshalIndent(t, "", " ")
	return append(b, '\n'), err
}

// digest stands for a secret and what belongs to it.
func digest(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:])
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
