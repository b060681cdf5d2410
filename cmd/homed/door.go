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
	"homeagent/firmware/words"
)

// doorMain is `homed door`: it joins the door to the supervisor's socket.
func doorMain(t terminal) int {
	h, err := config.ReadHandover()
	if err != nil {
		t.fail("homed door", err)
		return 1
	}
	cfg, _, _ := config.Parse([]byte(h.Config)) // the supervisor hands over what parses
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level(cfg.Daemon.LogLevel)}))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	listen := cfg.Daemon.ListenAddr
	if h.Listen != "" {
		listen = h.Listen
	}
	err = door.Run(ctx, door.Options{
		ListenAddr: listen,
		DataDir:    h.DataDir, RunDir: h.RunDir,
		SocketMode: os.FileMode(h.SocketMode), SocketGroup: h.SocketGroup,
		Hosts: cfg.Daemon.Hosts, LinkSecret: h.LinkSecret, Version: h.Version,
		Control:  doorControl{control.Client{Path: filepath.Join(h.RunDir, "control.sock")}},
		Announce: announce, Log: log,
		Used: h.Used, Lost: lost(control.Client{Path: filepath.Join(h.RunDir, "control.sock")}),
	})
	if err != nil {
		fmt.Fprintln(t.err, "homed door:", lastWord(err))
		return door.ExitCode(err)
	}
	return 0
}

// lost passes on to the supervisor that the accounts are gone.
func lost(client control.Client) func(ctx context.Context, kept string, memories bool) error {
	return func(ctx context.Context, kept string, memories bool) error {
		req := control.Request{Cmd: control.AccountsLost, Name: kept}
		if memories {
			req.Text = control.Memories
		}
		return client.Call(ctx, req, nil)
	}
}

// lastWord is what the supervisor's status quotes of a door that has ended. It
// is read by people of either language.
func lastWord(err error) string {
	var taken *door.ListenError
	if errors.As(err, &taken) {
		return taken.Words(words.Chinese) + " / " + taken.Words(words.English)
	}
	return err.Error()
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

func (s doorControl) Status(ctx context.Context, lang string) (json.RawMessage, error) {
	var data json.RawMessage
	err := s.client.Call(ctx, control.Request{Cmd: control.Status, Lang: lang}, &data)
	return data, err
}

func (s doorControl) Config(ctx context.Context, lang string) (json.RawMessage, error) {
	text, err := s.text(ctx, lang)
	if err != nil {
		return nil, err
	}
	var names []string
	if err := s.client.Call(ctx, control.Request{Cmd: control.SecretList, Lang: lang}, &names); err != nil {
		return nil, err
	}
	return config.View(text, names)
}

func (s doorControl) text(ctx context.Context, lang string) ([]byte, error) {
	var text string
	err := s.client.Call(ctx, control.Request{Cmd: control.ConfigGet, Lang: lang}, &text)
	return []byte(text), err
}

func (s doorControl) SetConfig(ctx context.Context, lang string, patch json.RawMessage) error {
	text, err := s.text(ctx, lang)
	if err != nil {
		return err
	}
	changed, err := config.Patch(text, patch)
	if err != nil {
		return unchanged(words.Text{ZH: words.In(err, words.Chinese), EN: words.In(err, words.English)}, err)
	}
	return fault(s.client.Call(ctx, control.Request{Cmd: control.ConfigSet, Text: string(changed), Lang: lang}, nil))
}

func (s doorControl) SetSecret(ctx context.Context, lang, name, value string) error {
	return fault(s.client.Call(ctx, control.Request{Cmd: control.SecretSet, Name: name, Text: value, Lang: lang}, nil))
}

// fault passes on to the person what the configuration or the supervisor has
// against a change. A refusal comes in the language that was asked for, so both
// of its texts are the same. A supervisor that does not answer is the door's to tell.
func fault(err error) error {
	var refused *control.Refused
	if errors.As(err, &refused) {
		return unchanged(words.Text{ZH: refused.Text, EN: refused.Text}, err)
	}
	return err
}

func unchanged(why words.Text, err error) *door.Fault {
	return &door.Fault{Status: 422, Code: "refused", Words: problem.Words{ZH: "没有改动：" + why.ZH, EN: "Nothing was changed: " + why.EN}, Err: err}
}
