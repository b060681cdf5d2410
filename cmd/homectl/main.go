package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"homeagent/drivers/web/client"
	"homeagent/firmware/control"
	"homeagent/firmware/supervisor"
)

var version = "dev" // set by the linker

// commands is the command line. A field's help is what `homectl --help` prints.
type commands struct {
	Data    string           `short:"d" placeholder:"FOLDER" help:"Data folder of the running homed. Also as -data FOLDER."`
	URL     string           `placeholder:"URL" help:"Address of another box, such as http://homeagent.local; needs --token."`
	Token   string           `env:"HOMEAGENT_TOKEN" placeholder:"TOKEN" help:"Token made with 'homectl token new'."`
	Lang    string           `enum:"zh,en,auto" default:"auto" help:"Language of messages: zh, en, or by the environment."`
	Version kong.VersionFlag `help:"Print the version."`

	Say     sayCmd     `cmd:"" help:"Say something and print the answer as it comes."`
	Hear    hearCmd    `cmd:"" help:"Play a recording to the microphone path as if it had been heard."`
	Listen  listenCmd  `cmd:"" help:"Start listening without the wake word."`
	Wake    wakeCmd    `cmd:"" help:"Wake words: enrol, list, delete."`
	Events  eventsCmd  `cmd:"" help:"Print what happens, one JSON object a line."`
	Status  statusCmd  `cmd:"" help:"Show how the house is."`
	Logs    logsCmd    `cmd:"" help:"Print the last log lines."`
	Restart restartCmd `cmd:"" help:"Restart a process: agent or door."`
	LLM     llmCmd     `cmd:"" name:"llm" help:"Language models: set one."`
	Secret  secretCmd  `cmd:"" help:"Secrets: set one, list their names."`
	Config  configCmd  `cmd:"" help:"Configuration: show or replace it."`
	Passwd  passwdCmd  `cmd:"" help:"Set the page's password; works without the old one."`
	Token_  tokenCmd   `cmd:"" name:"token" help:"Tokens for other programs: new, list, delete."`
}

// env is what a command works with.
type env struct {
	ctx    context.Context
	in     io.Reader
	out    io.Writer
	lang   string
	api    *client.Client
	ctl    *control.Client
	hasCtl bool
}

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	var cmd commands
	code := 0
	parser, err := kong.New(&cmd, kong.Name("homectl"), kong.Description("Speak to HomeAgent."),
		kong.Writers(stdout, stderr), kong.Exit(func(c int) { code = c }), kong.UsageOnError(),
		kong.Vars{"version": version})
	if err != nil {
		fmt.Fprintln(stderr, "homectl:", err)
		return 2
	}
	exited := false
	parser.Exit = func(c int) { code, exited = c, true }
	kctx, err := parser.Parse(longFlags(args))
	if exited {
		return code
	}
	if err != nil {
		fmt.Fprintln(stderr, "homectl:", err)
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	e, err := connect(ctx, &cmd)
	if err == nil {
		defer e.api.Close()
		e.in, e.out = stdin, stdout
		err = kctx.Run(e)
	}
	if err != nil {
		fmt.Fprintln(stderr, "homectl:", explain(err, &cmd))
		return 1
	}
	return 0
}

// longFlags lets -data FOLDER stand for --data FOLDER, as homed has it.
func longFlags(args []string) []string {
	out := append([]string(nil), args...)
	for i, a := range out {
		if a == "--" {
			break
		}
		if a == "-data" || strings.HasPrefix(a, "-data=") {
			out[i] = "-" + a
		}
	}
	return out
}

// connect finds the sockets of the data folder, or another box.
func connect(ctx context.Context, c *commands) (*env, error) {
	e := &env{ctx: ctx, lang: c.Lang}
	if e.lang == "auto" {
		e.lang = envLang()
	}
	if c.URL != "" {
		api, err := client.TCP(c.URL, c.Token, e.lang)
		e.api, e.ctl = api, &control.Client{}
		return e, err
	}
	dir := c.Data
	if dir == "" {
		dir = find()
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	run := supervisor.RunDir(abs)
	e.api = client.Unix(filepath.Join(run, "door.sock"), e.lang)
	e.ctl, e.hasCtl = &control.Client{Path: filepath.Join(run, "control.sock")}, true
	return e, nil
}

// find is the first usual data folder in which a homed runs.
func find() string {
	dirs := []string{os.Getenv("HOMEAGENT_DATA"), "data"}
	if home, err := os.UserHomeDir(); err == nil {
		dirs = append(dirs, filepath.Join(home, ".local", "share", "homeagent"))
	}
	dirs = append(dirs, "/var/lib/homeagent")
	for _, d := range dirs {
		if d == "" {
			continue
		}
		if abs, err := filepath.Abs(d); err == nil {
			if _, err := os.Stat(filepath.Join(supervisor.RunDir(abs), "control.sock")); err == nil {
				return d
			}
		}
	}
	return "/var/lib/homeagent"
}

// envLang is the language of the environment: English where it says so, Chinese else.
func envLang() string {
	for _, k := range []string{"LC_ALL", "LC_MESSAGES", "LANG"} {
		if v := os.Getenv(k); v != "" {
			if strings.HasPrefix(v, "zh") {
				return "zh"
			}
			return "en"
		}
	}
	return "zh"
}

// explain adds what to do next where the house does not answer at all.
func explain(err error, c *commands) string {
	if errors.Is(err, client.ErrUnreachable) && c.URL == "" {
		return err.Error() + "; is homed running? `homectl status` tells, or name its folder with -data FOLDER"
	}
	return err.Error()
}
