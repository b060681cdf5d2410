package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"homeagent/drivers/web/client"
	"homeagent/firmware/control"
	"homeagent/firmware/supervisor"
	"homeagent/firmware/words"
)

var version = "dev" // set by the linker

// commands is the command line. The texts of `homectl --help` are in help.go, by
// the names in ${}.
type commands struct {
	Data    string           `short:"d" placeholder:"${folder_word}" help:"${data}"`
	URL     string           `placeholder:"${url_word}" help:"${url}"`
	Token   string           `env:"HOMEAGENT_TOKEN" placeholder:"${token_word}" help:"${token}"`
	Lang    string           `enum:"zh,en,auto" default:"auto" help:"${lang}"`
	Version kong.VersionFlag `help:"${show_version}"`

	Say     sayCmd     `cmd:"" help:"${say}"`
	Hear    hearCmd    `cmd:"" help:"${hear}"`
	Listen  listenCmd  `cmd:"" help:"${listen}"`
	Wake    wakeCmd    `cmd:"" help:"${wake}"`
	Events  eventsCmd  `cmd:"" help:"${events}"`
	Status  statusCmd  `cmd:"" help:"${status}"`
	Logs    logsCmd    `cmd:"" help:"${logs}"`
	Restart restartCmd `cmd:"" help:"${restart}"`
	LLM     llmCmd     `cmd:"" name:"llm" help:"${llm}"`
	Secret  secretCmd  `cmd:"" help:"${secret}"`
	Config  configCmd  `cmd:"" help:"${config}"`
	Passwd  passwdCmd  `cmd:"" help:"${passwd}"`
	Token_  tokenCmd   `cmd:"" name:"token" help:"${tokens}"`
	Memory  memoryCmd  `cmd:"" help:"${memory}"`
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
	now    func() time.Time
	args   []string // as they came
	// terminal: a person sits at in and can be asked.
	terminal bool
}

func main() {
	os.Exit(run(os.Args[1:], world{in: os.Stdin, terminal: isTerminal(os.Stdin), out: os.Stdout, err: os.Stderr, getenv: os.Getenv, now: time.Now}))
}

// world is what the program takes from outside.
type world struct {
	in       io.Reader
	terminal bool // in is one
	out, err io.Writer
	getenv   func(string) string
	now      func() time.Time
}

// isTerminal reports whether a person may sit at the other end.
func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// ended is how kong says that help or version was all that was asked for.
type ended struct{ code int }

// asked makes "homectl help memory" of "homectl memory --help".
func asked(args []string) []string {
	if len(args) > 0 && args[0] == "help" {
		return append(slices.Clone(args[1:]), "--help")
	}
	return args
}

func run(args []string, w world) (code int) {
	args = asked(longFlags(args))
	lang := language(args, w.getenv)
	var cmd commands
	// kong goes on parsing after its Exit returns; a panic of our own ends it.
	defer func() {
		switch r := recover().(type) {
		case nil:
		case ended:
			code = r.code
		default:
			panic(r)
		}
	}()
	parser, err := kong.New(&cmd, kong.Name("homectl"), kong.Description(helpTexts()["description"].In(lang)),
		kong.Writers(w.out, w.err), kong.Exit(func(c int) { panic(ended{c}) }), kong.Help(printHelp(lang)), helpVars(lang))
	if err != nil {
		fmt.Fprintln(w.err, "homectl:", err)
		return 2
	}
	kctx, err := parser.Parse(args)
	if err != nil {
		fmt.Fprintln(w.err, "homectl:", wrongArguments(err).In(lang))
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	e, err := connect(ctx, &cmd, lang)
	if err == nil {
		defer e.api.Close()
		e.in, e.terminal, e.out, e.now, e.args = w.in, w.terminal, w.out, w.now, args
		err = kctx.Run(e)
	}
	if err != nil {
		fmt.Fprintln(w.err, "homectl:", explain(err, cmd.URL).In(lang))
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

// open opens a file to read, or standard input where the name is "-".
func (e *env) open(name string) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(e.in), nil
	}
	return os.Open(name)
}

// connect finds the sockets of the data folder, or another box.
func connect(ctx context.Context, c *commands, lang string) (*env, error) {
	e := &env{ctx: ctx, lang: lang}
	if c.URL != "" {
		api, err := client.TCP(c.URL, c.Token, e.lang)
		if err != nil {
			return nil, words.Errorf("地址 %q 不对；请写成 http://主机 或 http://主机:端口", "address %q is wrong; write http://HOST or http://HOST:PORT", c.URL)
		}
		e.api, e.ctl = api, &control.Client{}
		return e, nil
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

// language is that of the last flag --lang, looked for before anything is
// parsed because the parser itself speaks, else that of the environment.
func language(args []string, getenv func(string) string) string {
	lang := ""
	for i, a := range args {
		if a == "--" {
			break
		}
		v, ok := strings.CutPrefix(a, "--lang=")
		if a == "--lang" && i+1 < len(args) {
			v, ok = args[i+1], true
		}
		if ok {
			lang = v
		}
	}
	if lang == words.Chinese || lang == words.English {
		return lang
	}
	return words.FromEnv(getenv)
}
