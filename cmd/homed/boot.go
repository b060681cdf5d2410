package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"homeagent/firmware/card"
	"homeagent/firmware/clock"
	"homeagent/firmware/note"
	"homeagent/firmware/words"
)

var bootUsage = words.Text{
	ZH: `用法：homed boot [-setup 文件夹] [-data 文件夹] [-release 文件] [-run 文件夹]
开机时由启动脚本运行一次：校正时钟，读取启动分区上的设置，把密码移到数据分区。
  -setup 文件夹    启动分区，默认 /setup
  -data 文件夹     数据分区，默认 /data
  -release 文件    镜像的版本文件，默认 /etc/homeagent/release
  -run 文件夹      放 notes.jsonl 的地方，默认 /run/homeagent`,
	EN: `usage: homed boot [-setup FOLDER] [-data FOLDER] [-release FILE] [-run FOLDER]
Run once at boot by the start scripts: sets the clock, reads the boot partition's settings, moves its secrets to the data partition.
  -setup FOLDER    the boot partition, default /setup
  -data FOLDER     the data partition, default /data
  -release FILE    what the image is, default /etc/homeagent/release
  -run FOLDER      where notes.jsonl goes, default /run/homeagent`,
}

// boot is one run of `homed boot`; what is real about a machine is a field.
type boot struct {
	setup, data, release, run string
	zoneinfo                  string
	clock                     clock.Clock
	writable                  func(write func() error) error
	out                       io.Writer
}

// bootMain is `homed boot`. Whatever it finds, the box goes on booting: the
// exit status is 0, but for arguments that are not understood.
func bootMain(args []string, t terminal) int {
	b := boot{zoneinfo: "/usr/share/zoneinfo", clock: clock.Kernel{}, out: t.err}
	flags := flag.NewFlagSet("homed boot", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // what it says is English only
	flags.StringVar(&b.setup, "setup", "/setup", "")
	flags.StringVar(&b.data, "data", "/data", "")
	flags.StringVar(&b.release, "release", "/etc/homeagent/release", "")
	flags.StringVar(&b.run, "run", "/run/homeagent", "")
	err := flags.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(t.out, bootUsage.In(t.lang))
		return 0
	}
	if err == nil && flags.NArg() > 0 {
		err = words.Errorf("多了 %q", "%q is too much", flags.Arg(0))
	}
	if err != nil {
		t.fail("homed boot", words.Errorf("参数不对（%v）\n%v", "the arguments are not understood (%v)\n%v", err, bootUsage))
		return 2
	}
	b.writable = card.Remounted(b.setup)
	b.do()
	return 0
}

// do sets the clock first, because every file written after it carries the time.
func (b boot) do() {
	build := buildTime(b.release)
	r := clock.Floor(b.clock, build, filepath.Join(b.data, "system", "clock"))
	if build.IsZero() {
		b.log("%s names no build time", b.release)
	}
	if r.Source == "kernel" {
		b.log("the clock says %s and stays", r.After.UTC().Format(time.RFC3339))
	} else {
		b.log("the clock said %s and is set to %s, the %s time", r.Before.UTC().Format(time.RFC3339), r.After.UTC().Format(time.RFC3339), r.Source)
	}
	var notes []note.Note
	for _, t := range r.Notes {
		notes = append(notes, note.FromText(t, false))
	}
	o := card.Options{Setup: b.setup, Data: b.data, Writable: b.writable}
	if info, err := os.Stat(b.zoneinfo); err == nil && info.IsDir() {
		o.Zones = os.DirFS(b.zoneinfo)
	}
	report := card.Run(o)
	for _, line := range report.Done {
		b.log("%s", line)
	}
	b.tell(append(notes, report.Notes...))
}

func (b boot) log(format string, args ...any) {
	fmt.Fprintf(b.out, "homed boot: "+format+"\n", args...)
}

// tell prints the notes and leaves them for homed.
func (b boot) tell(notes []note.Note) {
	for _, n := range notes {
		b.log("note: %s", n.EN)
	}
	if len(notes) == 0 {
		return
	}
	if err := os.MkdirAll(b.run, 0o755); err != nil {
		b.log("cannot keep the notes: %v", err)
		return
	}
	for _, n := range notes {
		if err := note.Add(filepath.Join(b.run, "notes.jsonl"), n); err != nil {
			b.log("%v", err)
		}
	}
}

// buildTime is BUILD_EPOCH of the release file, zero where it has none.
func buildTime(path string) time.Time {
	f, err := os.Open(path)
	if err != nil {
		return time.Time{}
	}
	defer f.Close()
	lines := bufio.NewScanner(io.LimitReader(f, 64<<10))
	for lines.Scan() {
		if v, ok := strings.CutPrefix(lines.Text(), "BUILD_EPOCH="); ok {
			n, err := strconv.ParseInt(strings.Trim(v, `"' `), 10, 64)
			if err == nil && n > 0 && n < 1<<33 {
				return time.Unix(n, 0)
			}
		}
	}
	return time.Time{}
}
