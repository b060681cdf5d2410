package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"homeagent/drivers/web/door"
	"homeagent/drivers/web/problem"
	"homeagent/firmware/config"
	"homeagent/firmware/control"
)

// doorMain is `homed door`: it joins the door to the supervisor's socket.
func doorMain() int {
	h, err := config.ReadHandover()
	if err != nil {
		fmt.Fprintln(os.Stderr, "homed door:", err)
		return 1
	}
	cfg, _, _ := config.Parse([]byte(h.Config)) // the supervisor hands over what parses
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level(cfg.Daemon.LogLevel)}))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err = door.Run(ctx, door.Options{
		ListenAddr: cfg.Daemon.ListenAddr,
		DataDir:    h.DataDir, RunDir: h.RunDir,
		Hosts: cfg.Daemon.Hosts, LinkSecret: h.LinkSecret, Version: h.Version,
		Control:  doorControl{control.Client{Path: filepath.Join(h.RunDir, "control.sock")}},
		Announce: announce, Log: log,
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "homed door:", err)
		return door.ExitCode(err)
	}
	return 0
}

func level(name string) slog.Level {
	var l slog.Level
	if l.UnmarshalText([]byte(name)) != nil {
		return slog.LevelInfo
	}
	return l
}

// announce prints where the page is and, until it is claimed, the code.
func announce(code string, urls []string) {
	fmt.Println("页面 / page:", strings.Join(urls, "  "))
	if code != "" {
		fmt.Printf("首次打开时输入此码 / code for the first visit: %s\n", code)
	}
}

// doorControl is the door's view of the control socket.
type doorControl struct{ client control.Client }

var _ door.Control = doorControl{}

func (s doorControl) Status(ctx context.Context, _ string) (json.RawMessage, error) {
	var data json.RawMessage
	err := s.client.Call(ctx, control.Request{Cmd: control.Status}, &data)
	return data, err
}

func (s doorControl) Config(ctx context.Context, _ string) (json.RawMessage, error) {
	text, err := s.text(ctx)
	if err != nil {
		return nil, err
	}
	var names []string
	if err := s.client.Call(ctx, control.Request{Cmd: control.SecretList}, &names); err != nil {
		return nil, err
	}
	return config.View(text, names)
}

func (s doorControl) text(ctx context.Context) ([]byte, error) {
	var text string
	err := s.client.Call(ctx, control.Request{Cmd: control.ConfigGet}, &text)
	return []byte(text), err
}

func (s doorControl) SetConfig(ctx context.Context, lang string, patch json.RawMessage) error {
	text, err := s.text(ctx)
	if err != nil {
		return err
	}
	changed, err := config.Patch(text, patch)
	if err != nil {
		return fault(err)
	}
	return fault(s.client.Call(ctx, control.Request{Cmd: control.ConfigSet, Text: string(changed), Lang: lang}, nil))
}

func (s doorControl) SetSecret(ctx context.Context, lang, name, value string) error {
	return fault(s.client.Call(ctx, control.Request{Cmd: control.SecretSet, Name: name, Text: value, Lang: lang}, nil))
}

// fault passes the supervisor's own words on to the person.
func fault(err error) error {
	var refused *control.Refused
	var f *door.Fault
	switch {
	case err == nil || errors.As(err, &f):
		return err
	case errors.As(err, &refused) || strings.HasPrefix(err.Error(), "config:"):
		return &door.Fault{Status: 422, Code: "refused", Words: problem.Words{ZH: "没有改动：" + err.Error(), EN: "Nothing was changed: " + err.Error()}, Err: err}
	}
	return err
}
