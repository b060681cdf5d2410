// Command boot starts an image of HomeAgent in QEMU with its page on a port of
// this computer and its serial log on the terminal; Ctrl-C pulls the plug. The
// image is never written: what the box keeps lies in a card beside it, from run
// to run, and a newer image renews everything on that card but the data.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"homeagent/tools/emulator"
)

// cardSize is that of the smallest card one would buy for it, in a file with holes.
const cardSize = 2 << 30

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

type options struct {
	board, folder, layout, card string
	fresh, direct               bool
	page, ssh                   int
	appendLine                  string
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var o options
	flags := flag.NewFlagSet("boot", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&o.board, "board", "rpi3-64", "board of the image")
	flags.StringVar(&o.folder, "out", "", "folder of the image (default out/BOARD)")
	flags.StringVar(&o.layout, "layout", "board/common/layout.env", "where the partitions are written down")
	flags.StringVar(&o.card, "card", "", "the card that is kept between runs (default boot.img in the folder of the image)")
	flags.BoolVar(&o.fresh, "fresh", false, "begin with a new card")
	flags.BoolVar(&o.direct, "direct", false, "start the kernel directly, without U-Boot")
	flags.IntVar(&o.page, "page", 8080, "port of this computer for the page")
	flags.IntVar(&o.ssh, "ssh", 0, "port of this computer for SSH; 0: any free one")
	flags.StringVar(&o.appendLine, "append", "", "more for the kernel's command line")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	if o.folder == "" {
		o.folder = filepath.Join("out", o.board)
	}
	if o.card == "" {
		o.card = filepath.Join(o.folder, "boot.img")
	}
	if err := boot(ctx, o, stdout); err != nil {
		fmt.Fprintln(stderr, "boot:", err)
		return 1
	}
	return 0
}

// boot runs the machine until it ends or ctx does.
func boot(ctx context.Context, o options, stdout io.Writer) error {
	if err := emulator.Available(); err != nil {
		return err
	}
	image, err := current(ctx, o, stdout)
	if err != nil {
		return err
	}
	disk, err := card(o, image)
	if err != nil {
		return err
	}
	c := emulator.Config{Board: emulator.Pi3, Disk: disk, UBoot: !o.direct, Append: o.appendLine,
		Forward: map[int]int{80: o.page, 22: o.ssh}, Echo: stdout}
	if o.board != "rpi3-64" {
		// QEMU has no such board; the rest of the house is the same.
		fmt.Fprintf(stdout, "模拟器没有 %[1]s 这块板，用 QEMU 的 virt 代替 / the emulator has no %[1]s: QEMU's virt stands in for it\n", o.board)
		c.Board, c.UBoot = emulator.Virt, false
	}
	m, err := emulator.Start(ctx, c)
	if err != nil {
		return fmt.Errorf("%w\n(端口被占用时用 PORT=8081 换一个 / where the port is taken, choose another with PORT=8081)", err)
	}
	defer m.Close()
	_, sshPort, _ := net.SplitHostPort(m.Address(22)) // it came from JoinHostPort
	fmt.Fprintf(stdout, "镜像 / image: %s\n页面 / page: http://localhost:%d   SSH: ssh -p %s root@localhost\n", image, o.page, sshPort)
	fmt.Fprintln(stdout, "按 Ctrl-C 结束（等于拔电源）/ Ctrl-C ends it, like pulling the plug")
	select {
	case <-ctx.Done():
		return nil
	case <-m.Done():
		return m.Wait(ctx)
	}
}

// sources is what an image is made of.
var sources = []string{"agent", "board", "cmd", "drivers", "firmware", "memory", "overlay", "tools/image", "go.mod", "go.sum"}

// current is the image, built where there is none or where a source is newer.
func current(ctx context.Context, o options, stdout io.Writer) (string, error) {
	image, err := emulator.FindImage(o.folder, o.board)
	if err == nil && !newerThan(image) {
		return image, nil
	}
	fmt.Fprintln(stdout, "正在制作镜像 / building the image")
	build := exec.CommandContext(ctx, "go", "run", "./tools/image", "-board", o.board, "-out", o.folder, "-raw")
	build.Stdout, build.Stderr = stdout, stdout
	if err := build.Run(); err != nil {
		return "", fmt.Errorf("build the image: %w", err)
	}
	return emulator.FindImage(o.folder, o.board)
}

// newerThan reports whether a source was changed after the image was made.
func newerThan(image string) bool {
	made, err := os.Stat(image)
	if err != nil {
		return true
	}
	changed := errors.New("changed")
	for _, name := range sources {
		err := filepath.WalkDir(name, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || strings.HasSuffix(path, "_test.go") {
				return nil // what cannot be read cannot be built from either
			}
			if info, err := d.Info(); err == nil && info.ModTime().After(made.ModTime()) {
				return changed
			}
			return nil
		})
		if err != nil {
			return true
		}
	}
	return false
}

// card opens the kept card, makes it, or brings it up to a newer image.
func card(o options, image string) (*emulator.Disk, error) {
	text, err := os.ReadFile(o.layout)
	if err != nil {
		return nil, err
	}
	layout, err := emulator.ParseLayout(text)
	if err != nil {
		return nil, err
	}
	kept, err := os.Stat(o.card)
	if o.fresh || errors.Is(err, os.ErrNotExist) {
		return emulator.NewDisk(image, o.card, layout, cardSize)
	} else if err != nil {
		return nil, err
	}
	disk := &emulator.Disk{Path: o.card, Layout: layout}
	built, err := os.Stat(image)
	if err == nil && built.ModTime().After(kept.ModTime()) {
		err = disk.Renew(image)
	}
	return disk, err
}
