package door

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"
)

// The cost of a password, after the OWASP password storage cheat sheet: 19 MiB
// and 2 passes, which a board of 512 MB can spare.
const (
	argonMemory  = 19 << 10 // KiB
	argonTime    = 2
	argonThreads = 1
	argonSalt    = 16
	argonKey     = 32
)

const (
	minPassword = 8    // characters
	maxPassword = 1024 // bytes
)

var errBadHash = errors.New("door: stored password is damaged")

// passwordOK reports whether a new password may be taken.
func passwordOK(p string) bool {
	return utf8.ValidString(p) && utf8.RuneCountInString(p) >= minPassword && len(p) <= maxPassword
}

// hash runs argon2id, one at a time in the whole door, and gives the PHC string
// ($argon2id$v=19$m=…,t=…,p=…$salt$key).
func (s *server) hash(ctx context.Context, password string) (string, error) {
	if err := s.takeHashing(ctx); err != nil {
		return "", err
	}
	defer func() { <-s.hashing }()
	salt := make([]byte, argonSalt)
	rand.Read(salt) // never fails (crypto/rand, since Go 1.24)
	memory := uint32(argonMemory)
	if s.opt.cheapHash {
		memory = 8
	}
	key := argon2.IDKey([]byte(password), salt, argonTime, memory, argonThreads, argonKey)
	b := base64.RawStdEncoding
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, memory, argonTime, argonThreads,
		b.EncodeToString(salt), b.EncodeToString(key)), nil
}

// verify compares a password with a PHC string.
func (s *server) verify(ctx context.Context, phc, password string) (bool, error) {
	var v, m, t, p int
	part := strings.Split(phc, "$")
	if len(part) != 6 || part[1] != "argon2id" {
		return false, errBadHash
	}
	if _, err := fmt.Sscanf(part[2], "v=%d", &v); err != nil || v != argon2.Version {
		return false, errBadHash
	}
	if _, err := fmt.Sscanf(part[3], "m=%d,t=%d,p=%d", &m, &t, &p); err != nil ||
		m < 8 || m > 1<<20 || t < 1 || t > 100 || p < 1 || p > 16 {
		return false, errBadHash
	}
	salt, err1 := base64.RawStdEncoding.DecodeString(part[4])
	want, err2 := base64.RawStdEncoding.DecodeString(part[5])
	if err1 != nil || err2 != nil || len(want) < 16 || len(want) > 128 {
		return false, errBadHash
	}
	if err := s.takeHashing(ctx); err != nil {
		return false, err
	}
	defer func() { <-s.hashing }()
	got := argon2.IDKey([]byte(password), salt, uint32(t), uint32(m), uint8(p), uint32(len(want)))
	return subtle.ConstantTimeCompare(got, want) == 1, nil
}

func (s *server) takeHashing(ctx context.Context) error {
	select {
	case s.hashing <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
