package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"homeagent/firmware/config"
	"homeagent/firmware/control"
	"homeagent/firmware/words"
)

// errRemote is a command that needs the supervisor's socket.
var errRemote = words.Errorf("这个命令只能在这台机器本身上用，不能加 --url；请登录到那台机器上运行", "this works only on the box itself, not with --url; log in there and run it")

// ask calls the supervisor.
func (e *env) ask(req control.Request, out any) error {
	if !e.hasCtl {
		return errRemote
	}
	req.Lang = e.lang
	return e.ctl.Call(e.ctx, req, out)
}

type logsCmd struct {
	Lines int `short:"n" default:"100" help:"${logs_lines}"`
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
	Process string `arg:"" help:"${restart_name}"`
}

func (c *restartCmd) Run(e *env) error {
	if err := e.ask(control.Request{Cmd: control.Restart, Name: c.Process}, nil); err != nil {
		return err
	}
	fmt.Fprintln(e.out, e.words("正在重启；用 homectl status 查看。", "It starts anew; homectl status shows how it does."))
	return nil
}

type llmCmd struct {
	Set   llmSetCmd   `cmd:"" help:"${llm_set}"`
	Clear llmClearCmd `cmd:"" help:"${llm_clear}"`
}

type llmClearCmd struct{}

// Run takes every language model out of the configuration; keys stay.
func (c *llmClearCmd) Run(e *env) error {
	var text string
	if err := e.ask(control.Request{Cmd: control.ConfigGet}, &text); err != nil {
		return err
	}
	changed, err := config.Patch([]byte(text), []byte(`{"providers":null}`))
	if err != nil {
		return err
	}
	if err := e.ask(control.Request{Cmd: control.ConfigSet, Text: string(changed)}, nil); err != nil {
		return err
	}
	fmt.Fprintln(e.out, e.words("已去掉所有大模型，正在重启智能体。", "No language model is used any more; the agent starts anew."))
	return nil
}

type llmSetCmd struct {
	Kind    string `arg:"" enum:"deepseek,openai,ollama" help:"${llm_kind}"`
	BaseURL string `help:"${llm_base}"`
	Model   string `help:"${llm_model}"`
	NoKey   bool   `help:"${no_key}"`
}

func (c *llmSetCmd) Run(e *env) error {
	p := config.Provider{Kind: c.Kind, BaseURL: c.BaseURL, Model: c.Model}
	if u, err := url.Parse(c.BaseURL); c.BaseURL != "" && (err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "") {
		return words.Errorf("%q 不是网址；网址形如 http://192.168.1.5:8000/v1", "%q is no web address; it looks like http://192.168.1.5:8000/v1", c.BaseURL)
	}
	if c.Kind == "ollama" && c.Model == "" {
		return words.Errorf("请用 --model 名称 指明模型，名称见 `ollama list`", "say which model with --model NAME, as `ollama list` shows it")
	}
	if !c.NoKey && c.Kind != "ollama" {
		key, err := e.secret(e.words("密钥：", "API key: "))
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
	fmt.Fprintln(e.out, e.words("已设置，正在重启智能体。", "Done; the agent starts anew."))
	return nil
}

// words chooses by the language of messages.
func (e *env) words(zh, en string) string {
	return words.Text{ZH: zh, EN: en}.In(e.lang)
}

// secret reads one line; on a terminal it asks first. The line may be seen
// while it is typed; a pipe keeps it off the screen.
func (e *env) secret(prompt string) (string, error) {
	if e.terminal {
		fmt.Fprint(e.out, prompt)
	}
	line, err := bufio.NewReader(io.LimitReader(e.in, 64<<10)).ReadString('\n')
	line = strings.TrimSpace(line)
	if line == "" {
		if err != nil && !errors.Is(err, io.EOF) {
			return "", err
		}
		return "", words.Errorf("什么都没有输入，没有改动；请再运行一次并输入内容，或用管道送入", "nothing was entered and nothing was changed; run it again and enter something, or pipe it in")
	}
	return line, nil
}

type secretCmd struct {
	Set  secretSetCmd  `cmd:"" help:"${secret_set}"`
	List secretListCmd `cmd:"" help:"${secret_list}"`
}

type secretSetCmd struct {
	Name   string `arg:"" help:"${secret_name}"`
	Remove bool   `help:"${secret_remove}"`
}

func (c *secretSetCmd) Run(e *env) error {
	value := ""
	if !c.Remove {
		var err error
		if value, err = e.secret(e.words("密文：", "secret: ")); err != nil {
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
	Show configShowCmd `cmd:"" help:"${config_show}"`
	Set  configSetCmd  `cmd:"" help:"${config_set}"`
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
	File string `arg:"" help:"${config_file}"`
}

func (c *configSetCmd) Run(e *env) error {
	in, err := e.open(c.File)
	if err != nil {
		return err
	}
	defer in.Close()
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
	New    tokenNewCmd    `cmd:"" help:"${token_new}"`
	List   tokenListCmd   `cmd:"" help:"${token_list}"`
	Delete tokenDeleteCmd `cmd:"" help:"${token_delete}"`
}

type token struct {
	Name    string    `json:"name"`
	Scope   string    `json:"scope"`
	Created time.Time `json:"created"`
	Token   string    `json:"token"`
}

type tokenNewCmd struct {
	Name  string `arg:"" help:"${token_for}"`
	Scope string `enum:"all,chat,read" default:"all" help:"${token_scope}"`
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
	Name string `arg:"" help:"${token_name}"`
}

func (c *tokenDeleteCmd) Run(e *env) error {
	return e.api.Do(e.ctx, http.MethodDelete, "tokens/"+url.PathEscape(c.Name), nil, nil)
}
