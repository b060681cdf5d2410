package emulator

import (
	"context"
	"net"
	"regexp"
	"time"

	"golang.org/x/crypto/ssh"
)

// VisitCode finds, as its first group, the code for the first visit of the page
// in what a machine prints.
var VisitCode = regexp.MustCompile(`code for the first visit: ([0-9A-Z]{4}-[0-9A-Z]{4})`)

// The waits of a login: for the connection, and for the handshake, which has no
// deadline of its own and takes an emulated processor a while.
const (
	dialWait      = 20 * time.Second
	handshakeWait = 2 * time.Minute
)

// SSH logs in as root with a key. It tries once; the server starts behind the page.
func (m *Machine) SSH(ctx context.Context, key ssh.Signer) (*ssh.Client, error) {
	addr := m.Address(22)
	conn, err := (&net.Dialer{Timeout: dialWait}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	conn.SetDeadline(time.Now().Add(handshakeWait))
	c, channels, requests, err := ssh.NewClientConn(conn, addr, &ssh.ClientConfig{
		User: "root", Auth: []ssh.AuthMethod{ssh.PublicKeys(key)},
		// dropbear offers RSA without having such a key, and ends when it is chosen.
		HostKeyAlgorithms: []string{ssh.KeyAlgoED25519},
		HostKeyCallback:   ssh.InsecureIgnoreHostKey(), // the machine is new and reached by loopback alone
	})
	if err != nil {
		conn.Close()
		return nil, err
	}
	conn.SetDeadline(time.Time{})
	return ssh.NewClient(c, channels, requests), nil
}
