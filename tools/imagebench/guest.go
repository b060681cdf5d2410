package main

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"

	"homeagent/tools/emulator"
)

// guest is a running machine that lets us in.
type guest struct {
	m   *emulator.Machine
	ssh *ssh.Client
}

// newGuest boots a new card with a key of its own and waits for its page. lines
// are further lines of homeagent.txt.
func (b *bench) newGuest(ctx context.Context, name string, c emulator.Config, lines ...string) (*guest, error) {
	card, err := emulator.NewDisk(b.image, filepath.Join(b.work, name+".img"), b.parts, cardBytes)
	if err != nil {
		return nil, err
	}
	_, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		return nil, err
	}
	key, err := ssh.NewSignerFromKey(private)
	if err != nil {
		return nil, err
	}
	lines = append(lines, "language=en", "ssh_key="+strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key.PublicKey()))))
	if err := card.WriteFile(ctx, b.parts.Setup, "homeagent.txt", []byte(strings.Join(lines, "\n")+"\n")); err != nil {
		return nil, err
	}
	c.Disk = card
	m, err := emulator.Start(ctx, c)
	if err != nil {
		return nil, err
	}
	g := &guest{m: m}
	if err := page(ctx, m); err != nil {
		g.close()
		return nil, err
	}
	if err := g.logIn(ctx, key); err != nil {
		g.close()
		return nil, err
	}
	return g, nil
}

func (g *guest) close() {
	if g.ssh != nil {
		g.ssh.Close()
	}
	g.m.Close()
}

// logIn waits for the guest's SSH, which starts behind the page.
func (g *guest) logIn(ctx context.Context, key ssh.Signer) error {
	ctx, cancel := context.WithTimeout(ctx, bootWait)
	defer cancel()
	for {
		var err error
		if g.ssh, err = g.m.SSH(ctx, key); err == nil {
			return nil
		}
		select {
		case <-time.After(time.Second):
		case <-g.m.Done():
			return errors.New("the machine has ended\n" + g.m.Log().Tail(30))
		case <-ctx.Done():
			return fmt.Errorf("no SSH: %w\n%s", errors.Join(ctx.Err(), err), g.m.Log().Tail(40))
		}
	}
}

// run runs a line of shell in the guest.
func (g *guest) run(ctx context.Context, script string) (string, error) {
	s, err := g.ssh.NewSession()
	if err != nil {
		return "", err
	}
	defer s.Close()
	defer context.AfterFunc(ctx, func() { s.Close() })()
	out, err := s.Output(script)
	if err != nil {
		return string(out), fmt.Errorf("in the guest: %.60s: %w", script, err)
	}
	return string(out), nil
}
