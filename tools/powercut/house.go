package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"homeagent/tools/emulator"
	"homeagent/tools/powercut/ledger"
	"homeagent/tools/powercut/use"
)

// Waits; an emulated Pi on a busy computer needs minutes.
const (
	startWait = 6 * time.Minute
	stepWait  = 6 * time.Minute
	askWait   = 20 * time.Minute // a turn for each fact
)

// cardBytes is the size of a card: larger than the image, so that it grows.
const cardBytes = 1 << 30

// givenKey is the secret that the card brings to its first boot.
const givenKey = "givenkeyOfTheCard0123456789"

// house is one card with its user and what was acknowledged on it.
type house struct {
	card  *emulator.Disk
	acked *ledger.Ledger
	user  *use.House
	model *use.Model
	file  *os.File // the ledger as it is kept
}

// newHouse makes a card from the image, with a homeagent.txt as a person writes it.
func (b *bench) newHouse(ctx context.Context, name string, seed uint64) (*house, error) {
	card, err := emulator.NewDisk(b.image, filepath.Join(b.work, name+".img"), b.parts, cardBytes)
	if err != nil {
		return nil, err
	}
	h := &house{card: card}
	if h.model, err = use.NewModel(); err != nil {
		return nil, err
	}
	if h.file, err = os.Create(filepath.Join(b.work, name+".jsonl")); err != nil {
		h.close()
		return nil, err
	}
	text := fmt.Sprintf("# powercut\nhost_name=powercut\nlanguage=en\ntime_zone=Europe/London\nllm_url=%s\nllm_key=%s\n", h.model.GuestURL(), givenKey)
	if err := card.WriteFile(ctx, b.parts.Setup, "homeagent.txt", []byte(text)); err != nil {
		h.close()
		return nil, err
	}
	h.acked = ledger.New(h.file)
	h.user = use.New(h.acked, h.model, seed)
	w := ledger.Write{Kind: ledger.Given, Name: "llm_key", Value: givenKey}
	op, err := h.acked.Tried(w)
	if err == nil {
		err = h.acked.Acked(op, w, 0)
	}
	if err != nil {
		h.close()
		return nil, err
	}
	return h, nil
}

func (h *house) close() {
	if h.file != nil {
		h.file.Close()
	}
	h.model.Close()
}

// page waits until the page of a machine answers and returns its address.
func page(ctx context.Context, m *emulator.Machine) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, startWait)
	defer cancel()
	base := "http://" + m.Address(80)
	client := &http.Client{Timeout: 20 * time.Second}
	defer client.CloseIdleConnections()
	for {
		err := answers(ctx, client, base)
		if err == nil {
			return base, nil
		}
		select {
		case <-time.After(250 * time.Millisecond):
		case <-m.Done():
			return "", fmt.Errorf("the machine has ended\n%s", m.Log().Tail(30))
		case <-ctx.Done():
			return "", fmt.Errorf("no page: %w\n%s", errors.Join(ctx.Err(), err), m.Log().Tail(60))
		}
	}
}

func answers(ctx context.Context, client *http.Client, base string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/api/v1/session", nil)
	if err != nil {
		return err
	}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("the page answers %s", resp.Status)
	}
	return nil
}

// back lets a user who has been in the house before come back after a start.
func (h *house) back(ctx context.Context, base string) error {
	ctx, cancel := context.WithTimeout(ctx, stepWait)
	defer cancel()
	if err := h.user.Connect(base); err != nil {
		return err
	}
	return h.user.Ready(ctx)
}

// enter makes the user at home on a machine whose page answers, as far as that
// has not been done: the claim with the code from the console, the settings.
func (h *house) enter(ctx context.Context, m *emulator.Machine, base string) error {
	ctx, cancel := context.WithTimeout(ctx, stepWait)
	defer cancel()
	if !h.user.Claimed() {
		// A claim that was made and not heard of leaves no code on the console; the
		// user then logs in and needs none.
		code := "NONE-NONE"
		if found := emulator.VisitCode.FindStringSubmatch(m.Log().String()); found != nil {
			code = found[1]
		}
		if err := h.user.Claim(ctx, base, code); err != nil {
			return err
		}
		if err := h.user.Ready(ctx); err != nil {
			return err
		}
		if err := h.given(ctx); err != nil {
			return err
		}
	}
	return h.user.Setup(ctx, h.model.GuestURL())
}

// given holds that the key from the card is the one the house uses now.
func (h *house) given(ctx context.Context) error {
	if _, err := h.user.Say(ctx, "Powercut note first"); err != nil {
		return err
	}
	if key := h.model.Key(); key != givenKey {
		return fmt.Errorf("%w: the language model was shown the key %q of %d characters", errGiven, strings.Repeat("*", min(len(key), 4)), len(key))
	}
	return nil
}

// errGiven is a house that does not know the key that its card brought.
var errGiven = errors.New("the key from homeagent.txt is not in use")
