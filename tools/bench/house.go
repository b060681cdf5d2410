package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"homeagent/drivers/web/client"
	"homeagent/firmware/control"
	"homeagent/tools/fakellm"
)

// startWait bounds the start of a house, and turnWait one turn.
const (
	startWait = 30 * time.Second
	turnWait  = 30 * time.Second
)

// house is a running homed on a data folder of its own.
type house struct {
	cmd  *exec.Cmd
	dir  string
	api  *client.Client
	ctl  control.Client
	done chan error
	log  string
}

// open starts homed with a configuration and returns at once.
func open(bin, config string) (*house, error) {
	dir, err := os.MkdirTemp("", "homeagent-bench-")
	if err != nil {
		return nil, err
	}
	return openIn(bin, dir, config)
}

func openIn(bin, dir, config string) (*house, error) {
	config = "daemon:\n  listen_addr: 127.0.0.1:0\n" + config
	if err := os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(config), 0o600); err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(dir, "homed.log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	h := &house{dir: dir, log: log.Name(), done: make(chan error, 1),
		api: client.Unix(filepath.Join(dir, "run", "door.sock"), "en"),
		ctl: control.Client{Path: filepath.Join(dir, "run", "control.sock")}}
	h.cmd = exec.Command(filepath.Join(bin, "homed"), "-data", dir)
	h.cmd.Stdout, h.cmd.Stderr = log, log
	if err := h.cmd.Start(); err != nil {
		return nil, err
	}
	go func() { h.done <- h.cmd.Wait() }()
	return h, nil
}

// ready waits until a text is answered.
func (h *house) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startWait)
	defer cancel()
	for {
		if _, err := h.say(ctx, "what time is it"); err == nil {
			return nil
		}
		select {
		case err := <-h.done:
			text, _ := os.ReadFile(h.log)
			return fmt.Errorf("homed ended: %v\n%s", err, text)
		case <-ctx.Done():
			text, _ := os.ReadFile(h.log)
			return fmt.Errorf("the house was not ready in %v\n%s", startWait, text)
		case <-time.After(5 * time.Millisecond): // asking more often would slow down what is measured
		}
	}
}

// say sends a text and returns the time of its final answer.
func (h *house) say(ctx context.Context, text string) (time.Time, error) {
	ctx, cancel := context.WithTimeout(ctx, turnWait)
	defer cancel()
	s, err := h.api.Stream(ctx, http.MethodPost, "chat", map[string]string{"text": text})
	if err != nil {
		return time.Time{}, err
	}
	defer s.Close()
	for {
		ev, err := s.Next()
		if err != nil {
			return time.Time{}, err
		}
		switch ev.Name {
		case "final":
			answered := time.Now()
			for err == nil { // to the end, so that the connection serves the next turn too
				_, err = s.Next()
			}
			return answered, nil
		case "error":
			return time.Time{}, fmt.Errorf("%s", ev.Data)
		}
	}
}

// pids are the process numbers by name, the supervisor's under "homed".
func (h *house) pids(ctx context.Context) (map[string]int, error) {
	var rep control.StatusReport
	if err := h.ctl.Call(ctx, control.Request{Cmd: control.Status}, &rep); err != nil {
		return nil, err
	}
	pids := map[string]int{"homed": h.cmd.Process.Pid}
	for _, p := range rep.Processes {
		pids[p.Name] = p.PID
	}
	return pids, nil
}

// close ends the house and removes its folder.
func (h *house) close() {
	h.stop()
	os.RemoveAll(h.dir)
}

// stop ends the house.
func (h *house) stop() {
	h.api.Close()
	h.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-h.done:
	case <-time.After(10 * time.Second):
		h.cmd.Process.Kill()
		<-h.done
	}
}

// withModel starts a fake language model and a house that uses it.
func withModel(ctx context.Context, bin, dir, more string, fake *fakellm.Server) (*house, func(), error) {
	srv := httptest.NewServer(fake)
	// The distiller's requests would be counted as the turns': it waits.
	config := fmt.Sprintf("providers:\n  - {kind: openai, base_url: %q, model: fake}\nvoice: {microphone: \"off\", speaker: \"off\"}\n"+
		"memory: {distill_interval: 24h, batch: 10000}\n%s", srv.URL, more)
	var h *house
	var err error
	if dir == "" {
		h, err = open(bin, config)
	} else {
		h, err = openIn(bin, dir, config)
	}
	if err != nil {
		srv.Close()
		return nil, nil, err
	}
	end := func() { h.close(); srv.CloseClientConnections(); srv.Close() }
	if err := h.ready(ctx); err != nil {
		end()
		return nil, nil, err
	}
	return h, end, nil
}

// post calls the API and drops the answer.
func (h *house) post(ctx context.Context, path string) error {
	var out json.RawMessage
	err := h.api.Do(ctx, http.MethodPost, path, map[string]string{}, &out)
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// lines reads a file's lines, none if it cannot be read.
func lines(path string) []string {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}
