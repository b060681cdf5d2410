package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"homeagent/firmware/config"
	"homeagent/firmware/sandbox"
	"homeagent/firmware/supervisor"
	"homeagent/firmware/words"
)

var version = "dev" // set by the linker

func main() {
	if len(os.Args) > 1 && os.Args[1] == sandbox.Arg {
		sandbox.Main()
	}
	t := terminal{out: os.Stdout, err: os.Stderr, lang: words.FromEnv(os.Getenv)}
	if len(os.Args) > 1 && os.Args[1] == "door" {
		os.Exit(doorMain(t))
	}
	if len(os.Args) > 1 && os.Args[1] == "boot" {
		os.Exit(bootMain(os.Args[2:], t))
	}
	os.Exit(run(os.Args[1:], t))
}

// terminal is where homed itself speaks, in the language of its environment.
type terminal struct {
	out, err io.Writer
	lang     string
}

// fail prints the last line of a program that cannot go on.
func (t terminal) fail(program string, err error) {
	fmt.Fprintf(t.err, "%s: %s\n", program, words.In(err, t.lang))
}

var usage = words.Text{
	ZH: `用法：homed [-config 文件] [-data 文件夹] [其他参数]
  -config 文件     config.yaml；默认用数据文件夹里的那一份
  -data 文件夹     数据文件夹；root 默认 /var/lib/homeagent，其他用户默认 ~/.local/share/homeagent
  -listen 地址     config.yaml 没有写 daemon.listen_addr 时页面的地址，例如 :80
  -agent-user 用户 智能体进程的系统用户；只有 root 能用
  -door-user 用户  门进程的系统用户；只有 root 能用
  -setup 文件夹    设置密码之前，把 setup-code.txt 也放一份在这里
  -notes 文件      开机时要告诉人的话，每行一个 JSON
  -log 文件        日志文件，自动限制大小；屏幕上只留重要的
  -version         显示版本`,
	EN: `usage: homed [-config FILE] [-data FOLDER] [more]
  -config FILE     config.yaml; default: the one in the data folder
  -data FOLDER     data folder; default: /var/lib/homeagent for root, ~/.local/share/homeagent else
  -listen ADDR     the page's address where config.yaml has no daemon.listen_addr, such as :80
  -agent-user NAME system user of the agent's process; only as root
  -door-user NAME  system user of the door's process; only as root
  -setup FOLDER    keeps a copy of setup-code.txt until the page is claimed
  -notes FILE      what the machine's start has to tell people, one JSON object a line
  -log FILE        log file, kept small by itself; the console gets only what matters
  -version         print the version`,
}

func run(args []string, t terminal) int {
	flags := flag.NewFlagSet("homed", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // what it says is English only
	cfg := flags.String("config", "", "")
	data := flags.String("data", "", "")
	listen := flags.String("listen", "", "")
	agentUser := flags.String("agent-user", "", "")
	doorUser := flags.String("door-user", "", "")
	setup := flags.String("setup", "", "")
	notes := flags.String("notes", "", "")
	logFile := flags.String("log", "", "")
	show := flags.Bool("version", false, "")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(t.out, usage.In(t.lang))
			return 0
		}
		t.fail("homed", words.Errorf("参数不对（%v）\n%v", "the arguments are not understood (%v)\n%v", err, usage))
		return 2
	}
	if *show {
		fmt.Fprintln(t.out, version)
		return 0
	}
	if flags.NArg() > 0 {
		t.fail("homed", words.Errorf("看不懂参数 %q\n%v", "%q is not understood\n%v", flags.Arg(0), usage))
		return 2
	}
	if *listen != "" {
		if _, _, err := net.SplitHostPort(*listen); err != nil {
			t.fail("homed", words.Errorf("-listen 的地址 %q 不对；请写成 :80 或 主机:端口", "-listen %q is no address; write :80 or HOST:PORT", *listen))
			return 2
		}
	}
	if *data == "" && *cfg != "" {
		*data = configured(*cfg)
	}
	if *data == "" {
		*data = defaultData()
	}
	self, err := os.Executable()
	if err != nil {
		t.fail("homed", words.Errorf("找不到 homed 自己的程序文件（%v）；请用完整路径启动它", "its own program is not found (%v); start homed by its full path", err))
		return 1
	}
	agent := filepath.Join(filepath.Dir(self), "homed-agent")
	if _, err := os.Stat(agent); err != nil {
		t.fail("homed", words.Errorf("homed-agent 必须和 homed 放在一起（%v）；`make build` 会同时生成两者",
			"homed-agent must lie beside homed (%v); `make build` makes both", err))
		return 1
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	s := supervisor.New(supervisor.Options{
		ConfigPath: *cfg, DataDir: *data, Version: version, Output: t.err,
		Door: []string{self, "door"}, Agent: []string{agent},
		Listen: *listen, AgentUser: *agentUser, DoorUser: *doorUser,
		SetupDir: *setup, NotesPath: *notes, LogPath: *logFile,
	})
	defer keepClock(ctx, *setup != "", s.Log())()
	if err := s.Run(ctx); err != nil {
		t.fail("homed", err)
		return 1
	}
	return 0
}

// configured is the data folder that a configuration names, "" if it names none.
// A file that cannot be read is the supervisor's to report.
func configured(path string) string {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	c, _, _ := config.Parse(text)
	return c.Daemon.DataDir
}

// defaultData is where an installed system keeps its data.
func defaultData() string {
	if os.Getuid() == 0 {
		return "/var/lib/homeagent"
	}
	if dir := os.Getenv("XDG_DATA_HOME"); dir != "" {
		return filepath.Join(dir, "homeagent")
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "data"
	}
	return filepath.Join(home, ".local", "share", "homeagent")
}
