package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"homeagent/firmware/config"
	"homeagent/firmware/control"
)

// errRemote is a command that needs the supervisor's socket.
var errRemote = errors.New("this works only on the box itself, not with --url")

// ask calls the supervisor.
func (e *env) ask(req control.Request, out any) error {
	if !e.hasCtl {
		return errRemote
	}
	req.Lang = e.lang
	return e.ctl.Call(e.ctx, req, out)
}

type logsCmd struct {
	Lines int `short:"n" default:"100" help:"How many lines."`
}

func (c *logsCmd) Run(e *env) error {
	var lines []string
	if err := e.ask(control.Request{Cmd: control.Logs, Lines: c.Lines}, &lines); err != nil {
		return err
	}
	for _, l := range lines {
		fmt.Fprintln(e.out, l)
	}
	return nil
}

type restartCmd struct {
	Process string `arg:"" help:"agent or door."`
}

func (c *restartCmd) Run(e *env) error {
	return e.ask(control.Request{Cmd: control.Restart, Name: c.Process}, nil)
}

type llmCmd struct {
	Set llmSetCmd `cmd:"" help:"Use a language model; its key is asked for."`
}

type llmSetCmd struct {
	Kind    string `arg:"" enum:"deepseek,openai,ollama" help:"deepseek, openai (and what speaks like it), or ollama."`
	BaseURL string `help:"Address of the server, up to /v1."`
	Model   string `help:"Name of the model."`
	NoKey   bool   `help:"The server wants no key."`
}

func (c *llmSetCmd) Run(e *env) error {
	p := config.Provider{Kind: c.Kind, BaseURL: c.BaseURL, Model: c.Model}
	if c.Kind == "ollama" && c.Model == "" {
		return errors.New("say which model with --model NAME, as `ollama list` shows it")
	}
	if !c.NoKey && c.Kind != "ollama" {
		key, err := e.secret("API key / 密钥: ")
		if err != nil {
			return err
		}
		p.Key = c.Kind
		if err := e.ask(control.Request{Cmd: control.SecretSet, Name: c.Kind, Text: key}, nil); err != nil {
			return err
		}
	}
	var text string
	if err := e.ask(control.Request{Cmd: control.ConfigGet}, &text); err != nil {
		return err
	}
	changed, err := config.SetProvider([]byte(text), p)
	if err != nil {
		return err
	}
	if err := e.ask(control.Request{Cmd: control.ConfigSet, Text: string(changed)}, nil); err != nil {
		return err
	}
	fmt.Fprintln(e.out, e.words("已设置，正在重启代理。", "Done; the agent starts anew."))
	return nil
}

// words chooses by the language of messages.
func (e *env) words(zh, en string) string {
	if e.lang == "zh" {
		return zh
	}
	return en
}

// secret reads one line; on a terminal it asks first. The line may be seen
// while it is typed; a pipe keeps it off the screen.
func (e *env) secret(prompt string) (string, error) {
	if f, ok := e.in.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
			fmt.Fprint(e.out, prompt)
		}
	}
	line, err := bufio.NewReader(io.LimitReader(e.in, 64<<10)).ReadString('\n')
	line = strings.TrimSpace(line)
	if line == "" {
		if err != nil && !errors.Is(err, io.EOF) {
			return "", err
		}
		return "", errors.New("nothing was entered; nothing was changed")
	}
	return line, nil
}

type secretCmd struct {
	Set  secretSetCmd  `cmd:"" help:"Set a secret from standard input; an empty line removes it."`
	List secretListCmd `cmd:"" help:"List the names of secrets."`
}

type secretSetCmd struct {
	Name   string `arg:"" help:"The secret's name."`
	Remove bool   `help:"Remove it instead."`
}

func (c *secretSetCmd) Run(e *env) error {
	value := ""
	if !c.Remove {
		var err error
		if value, err = e.secret("secret / 密文: "); err != nil {
			return err
		}
	}
	return e.ask(control.Request{Cmd: control.SecretSet, Name: c.Name, Text: value}, nil)
}

type secretListCmd struct{}

func (c *secretListCmd) Run(e *env) error {
	var names []string
	if err := e.ask(control.Request{Cmd: control.SecretList}, &names); err != nil {
		return err
	}
	for _, n := range names {
		fmt.Fprintln(e.out, n)
	}
	return nil
}

type configCmd struct {
	Show configShowCmd `cmd:"" help:"Print config.yaml."`
	Set  configSetCmd  `cmd:"" help:"Replace config.yaml; the agent starts anew."`
}

type configShowCmd struct{}

func (c *configShowCmd) Run(e *env) error {
	var text string
	if err := e.ask(control.Request{Cmd: control.ConfigGet}, &text); err != nil {
		return err
	}
	if text == "" {
		fmt.Fprintln(e.out, e.words("# 没有配置，一切用默认值", "# nothing is configured; every default holds"))
		return nil
	}
	fmt.Fprint(e.out, text)
	return nil
}

type configSetCmd struct {
	File string `arg:"" help:"The new config.yaml; - reads standard input."`
}

func (c *configSetCmd) Run(e *env) error {
	in := e.in
	if c.File != "-" {
		f, err := os.Open(c.File)
		if err != nil {
			return err
		}
		defer f.Close()
		in = f
	}
	text, err := io.ReadAll(io.LimitReader(in, config.MaxSize+1))
	if err != nil {
		return err
	}
	var notes []string
	if err := e.ask(control.Request{Cmd: control.ConfigSet, Text: string(text)}, &notes); err != nil {
		return err
	}
	for _, n := range notes {
		fmt.Fprintln(e.out, n)
	}
	return nil
}

type passwdCmd struct{}

// Run sets the password over the door's unix socket, where the user id of the
// process is the login.
func (c *passwdCmd) Run(e *env) error {
	if !e.hasCtl {
		return errRemote
	}
	password, err := e.secret(e.words("新密码：", "New password: "))
	if err != nil {
		return err
	}
	if err := e.api.Do(e.ctx, http.MethodPut, "account", map[string]string{"password": password}, nil); err != nil {
		return err
	}
	fmt.Fprintln(e.out, e.words("密码已更改。", "The password is changed."))
	return nil
}

type tokenCmd struct {
	New    tokenNewCmd    `cmd:"" help:"Make a token; it is shown once."`
	List   tokenListCmd   `cmd:"" help:"List tokens."`
	Delete tokenDeleteCmd `cmd:"" help:"Delete a token."`
}

type token struct {
	Name    string    `json:"name"`
	Scope   string    `json:"scope"`
	Created time.Time `json:"created"`
	Token   string    `json:"token"`
}

type tokenNewCmd struct {
	Name  string `arg:"" help:"What it is for."`
	Scope string `enum:"all,chat,read" default:"all" help:"all, chat or read."`
}

func (c *tokenNewCmd) Run(e *env) error {
	var t token
	if err := e.api.Do(e.ctx, http.MethodPost, "tokens", map[string]string{"name": c.Name, "scope": c.Scope}, &t); err != nil {
		return err
	}
	fmt.Fprintln(e.out, t.Token)
	return nil
}

type tokenListCmd struct{}

func (c *tokenListCmd) Run(e *env) error {
	var list struct {
		Tokens []token `json:"tokens"`
	}
	if err := e.api.Do(e.ctx, http.MethodGet, "tokens", nil, &list); err != nil {
		return err
	}
	for _, t := range list.Tokens {
		fmt.Fprintf(e.out, "%-20s %-5s %s\n", t.Name, t.Scope, t.Created.Local().Format(time.DateTime))
	}
	return nil
}

type tokenDeleteCmd struct {
	Name string `arg:"" help:"The token's name, as list shows it."`
}

func (c *tokenDeleteCmd) Run(e *env) error {
	return e.api.Do(e.ctx, http.MethodDelete, "tokens/"+url.PathEscape(c.Name), nil, nil)
}
