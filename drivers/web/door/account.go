package door

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"regexp"
	"slices"
	"time"

	bolt "go.etcd.io/bbolt"
)

// ownerName is the account that the claim makes.
const ownerName = "owner"

// sessionTime is how long a login lasts.
const sessionTime = 30 * 24 * time.Hour

// tokenPrefix makes a leaked token easy to find by a scanner of secrets.
const tokenPrefix = "ha_"

var (
	errClaimed  = errors.New("door: an account exists already")
	errTaken    = errors.New("door: the name is taken")
	errNotFound = errors.New("door: not found")
)

// account is one login.
type account struct {
	Name    string    `json:"name"`
	Hash    string    `json:"hash"` // PHC string
	Lang    string    `json:"lang,omitempty"`
	Created time.Time `json:"created"`
}

// session is one browser that has logged in. Its key is the SHA-256 of the
// cookie, so that who reads door.db cannot log in with what it holds.
type session struct {
	// Name is public: the channel of this browser is "web:<name>".
	Name    string    `json:"name"`
	Account string    `json:"account"`
	Created time.Time `json:"created"`
	Expires time.Time `json:"expires"`
	From    string    `json:"from,omitempty"`
}

// token is one bearer token; its key is the SHA-256 of it.
type token struct {
	Name    string    `json:"name"`
	Scope   scope     `json:"scope"`
	Created time.Time `json:"created"`
}

// scope is what a token may do.
type scope string

const (
	scopeAll  scope = "all"  // everything
	scopeChat scope = "chat" // talk: chat, hear, listen, events, status
	scopeRead scope = "read" // look: GET, but neither tokens nor the audit trail
)

var tokenName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$`)

// newSecret is 256 random bits as text.
func newSecret() string {
	b := make([]byte, 32)
	rand.Read(b)
	return base64.RawURLEncoding.EncodeToString(b)
}

func secretKey(secret string) []byte {
	h := sha256.Sum256([]byte(secret))
	return h[:]
}

func newSessionName() string {
	b := make([]byte, 4)
	rand.Read(b)
	return hex.EncodeToString(b)
}

func (s *store) claimed() (bool, error) {
	var yes bool
	err := s.db.View(func(tx *bolt.Tx) error {
		k, _ := tx.Bucket(bucketAccounts).Cursor().First()
		yes = k != nil
		return nil
	})
	return yes, err
}

// claim makes the first account; of two at once exactly one succeeds. An earlier
// loss of the accounts is mended by it.
func (s *store) claim(a account) error {
	return s.db.Update(func(tx *bolt.Tx) error {
		b := tx.Bucket(bucketAccounts)
		if k, _ := b.Cursor().First(); k != nil {
			return errClaimed
		}
		if err := tx.Bucket(bucketMeta).Delete(lossKey); err != nil {
			return err
		}
		return put(b, []byte(a.Name), a)
	})
}

func (s *store) account(name string) (a account, ok bool, err error) {
	err = s.db.View(func(tx *bolt.Tx) (err error) {
		ok, err = get(tx.Bucket(bucketAccounts), []byte(name), &a)
		return err
	})
	return a, ok, err
}

// changeAccount applies f to an account and, when the password changed, ends
// every session of it but the one named keep.
func (s *store) changeAccount(name, keep string, f func(*account)) (ended []string, err error) {
	err = s.db.Update(func(tx *bolt.Tx) error {
		ended = nil
		var a account
		b := tx.Bucket(bucketAccounts)
		ok, err := get(b, []byte(name), &a)
		if err != nil {
			return err
		}
		if !ok {
			return errNotFound
		}
		before := a.Hash
		f(&a)
		if err := put(b, []byte(name), a); err != nil || a.Hash == before {
			return err
		}
		sb := tx.Bucket(bucketSessions)
		var gone [][]byte
		err = each(sb, func(k []byte, v session) error {
			if v.Account == name && v.Name != keep {
				gone, ended = append(gone, bytes.Clone(k)), append(ended, v.Name)
			}
			return nil
		})
		for _, k := range gone {
			err = errors.Join(err, sb.Delete(k))
		}
		return err
	})
	return ended, err
}

// newSession logs an account in and returns the cookie. Expired sessions go;
// above the bound the oldest does.
func (s *store) newSession(account, from string) (cookie string, v session, err error) {
	cookie = newSecret()
	now := s.now().UTC()
	v = session{Name: newSessionName(), Account: account, Created: now, Expires: now.Add(sessionTime), From: from}
	err = s.db.Update(func(tx *bolt.Tx) error {
		b := tx.Bucket(bucketSessions)
		type old struct {
			key     []byte
			created time.Time
		}
		var gone [][]byte
		var rest []old
		err := each(b, func(k []byte, v session) error {
			if !now.Before(v.Expires) {
				gone = append(gone, bytes.Clone(k))
			} else {
				rest = append(rest, old{bytes.Clone(k), v.Created})
			}
			return nil
		})
		if err != nil {
			return err
		}
		slices.SortFunc(rest, func(a, b old) int { return a.created.Compare(b.created) })
		for len(rest) >= maxSessions {
			gone, rest = append(gone, rest[0].key), rest[1:]
		}
		for _, k := range gone {
			if err := b.Delete(k); err != nil {
				return err
			}
		}
		return put(b, secretKey(cookie), v)
	})
	return cookie, v, err
}

// session finds the login of a cookie that has not expired.
func (s *store) session(cookie string) (v session, ok bool, err error) {
	err = s.db.View(func(tx *bolt.Tx) (err error) {
		ok, err = get(tx.Bucket(bucketSessions), secretKey(cookie), &v)
		return err
	})
	return v, ok && s.now().Before(v.Expires), err
}

func (s *store) endSession(cookie string) error {
	return s.db.Update(func(tx *bolt.Tx) error {
		return tx.Bucket(bucketSessions).Delete(secretKey(cookie))
	})
}

// newToken makes a token and returns it; it cannot be read again.
func (s *store) newToken(name string, sc scope) (secret string, err error) {
	secret = tokenPrefix + newSecret()
	err = s.db.Update(func(tx *bolt.Tx) error {
		b := tx.Bucket(bucketTokens)
		n := 0
		err := each(b, func(_ []byte, v token) error {
			if n++; v.Name == name {
				return errTaken
			}
			return nil
		})
		if err != nil {
			return err
		}
		if n >= maxTokens {
			return errFull
		}
		return put(b, secretKey(secret), token{Name: name, Scope: sc, Created: s.now().UTC()})
	})
	return secret, err
}

func (s *store) token(secret string) (v token, ok bool, err error) {
	err = s.db.View(func(tx *bolt.Tx) (err error) {
		ok, err = get(tx.Bucket(bucketTokens), secretKey(secret), &v)
		return err
	})
	return v, ok, err
}

func (s *store) tokens() (out []token, err error) {
	out = []token{}
	err = s.db.View(func(tx *bolt.Tx) error {
		return each(tx.Bucket(bucketTokens), func(_ []byte, v token) error {
			out = append(out, v)
			return nil
		})
	})
	slices.SortFunc(out, func(a, b token) int { return a.Created.Compare(b.Created) })
	return out, err
}

// deleteToken ends a token by its name.
func (s *store) deleteToken(name string) error {
	return s.db.Update(func(tx *bolt.Tx) error {
		b := tx.Bucket(bucketTokens)
		var key []byte
		err := each(b, func(k []byte, v token) error {
			if v.Name == name {
				key = bytes.Clone(k)
			}
			return nil
		})
		if err != nil {
			return err
		}
		if key == nil {
			return errNotFound
		}
		return b.Delete(key)
	})
}
