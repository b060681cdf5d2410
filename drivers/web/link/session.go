package link

import (
	"crypto/sha256"
	"crypto/subtle"
	"io"
	"net"
	"time"

	"github.com/hashicorp/yamux"
)

// Path is where the door takes a link, on its unix socket only.
const Path = "/link"

// protocol is the word of the HTTP Upgrade; the digit changes when an old and
// a new side could no longer talk.
const protocol = "homeagent-link/1"

const (
	secretHeader = "X-Homeagent-Link-Secret"
	shakeTime    = 10 * time.Second // for the upgrade, a header line, opening a stream
	maxStreams   = 256              // open at once, on either side
)

// sessionConfig is yamux as both sides use it. Its own complaints are not
// logged: an ended link is reported once, by Hub and Run.
func sessionConfig() *yamux.Config {
	c := yamux.DefaultConfig()
	c.AcceptBacklog = maxStreams
	c.KeepAliveInterval = 30 * time.Second
	c.ConnectionWriteTimeout = shakeTime
	c.StreamOpenTimeout = shakeTime
	c.StreamCloseTimeout = shakeTime
	c.LogOutput = io.Discard
	return c
}

// sameSecret compares in constant time, the lengths included. Two empty
// secrets are never the same.
func sameSecret(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1 && a != ""
}

// bufferedConn reads first what a bufio.Reader had taken in.
type bufferedConn struct {
	net.Conn
	r io.Reader
}

func (c *bufferedConn) Read(p []byte) (int, error) { return c.r.Read(p) }
