package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"time"

	"homeagent/tools/emulator"
)

const (
	// bootWait bounds a boot; an emulated Pi on a busy computer needs minutes.
	bootWait = 6 * time.Minute
	// used is how long a card is left to itself before its power goes.
	used = 20 * time.Second
	// cardBytes is the size of a card: larger than the image, so that it grows.
	cardBytes = 2 << 30
	// probeEvery is how often the page is asked, probeWait how long one asking
	// lasts at most: where the guest has no network yet, nothing answers it.
	probeEvery, probeWait = 200 * time.Millisecond, 3 * time.Second
)

// boot measures first and later boots of a board.
func (b *bench) boot(ctx context.Context, board emulator.Board) error {
	var first, later, power []time.Duration
	for i := range b.boots {
		card, err := emulator.NewDisk(b.image, filepath.Join(b.work, fmt.Sprintf("%s-%d.img", board, i)), b.parts, cardBytes)
		if err != nil {
			return err
		}
		d, err := b.timed(ctx, emulator.Config{Board: board, Disk: card})
		if err != nil {
			return err
		}
		first = append(first, d)
		if d, err = b.timed(ctx, emulator.Config{Board: board, Disk: card}); err != nil {
			return err
		}
		later = append(later, d)
		if board != emulator.Pi3 {
			continue
		}
		if d, err = b.timed(ctx, emulator.Config{Board: board, Disk: card, UBoot: true}); err != nil {
			return err
		}
		power = append(power, d)
	}
	fmt.Fprintf(b.log, "boots of %s: first %v, later %v, through U-Boot %v\n", board, first, later, power)
	b.out.add("boot.page_first_s."+string(board), median(first).Seconds(), "s", len(first))
	b.out.add("boot.page_s."+string(board), median(later).Seconds(), "s", len(later))
	if len(power) > 0 {
		b.out.add("boot.power_page_s."+string(board), median(power).Seconds(), "s", len(power))
	}
	return nil
}

// timed boots a card, waits for the page, leaves it a moment and cuts its power.
func (b *bench) timed(ctx context.Context, c emulator.Config) (time.Duration, error) {
	began := time.Now()
	m, err := emulator.Start(ctx, c)
	if err != nil {
		return 0, err
	}
	defer m.Close()
	if err := page(ctx, m); err != nil {
		return 0, err
	}
	took := time.Since(began)
	return took, wait(ctx, m, used)
}

// page waits for the first answer of the page. Askings overlap: one that was
// sent before the guest's network was there is never answered.
func page(ctx context.Context, m *emulator.Machine) error {
	ctx, cancel := context.WithTimeout(ctx, bootWait)
	defer cancel()
	answered := make(chan struct{}, 1)
	client := &http.Client{Timeout: probeWait, Transport: &http.Transport{DisableKeepAlives: true}}
	tick := time.NewTicker(probeEvery)
	defer tick.Stop()
	for {
		go func() {
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+m.Address(80)+"/", nil)
			if err != nil {
				return
			}
			resp, err := client.Do(req)
			if err != nil {
				return
			}
			defer resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				select {
				case answered <- struct{}{}:
				default:
				}
			}
		}()
		select {
		case <-answered:
			return nil
		case <-m.Done():
			return fmt.Errorf("the machine has ended\n%s", m.Log().Tail(30))
		case <-ctx.Done():
			return fmt.Errorf("no page: %w\n%s", ctx.Err(), m.Log().Tail(60))
		case <-tick.C:
		}
	}
}

// wait leaves a machine to itself.
func wait(ctx context.Context, m *emulator.Machine, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-m.Done():
		return errors.New("the machine has ended\n" + m.Log().Tail(30))
	case <-ctx.Done():
		return ctx.Err()
	}
}

func median(d []time.Duration) time.Duration {
	s := slices.Clone(d)
	slices.Sort(s)
	return s[len(s)/2]
}
