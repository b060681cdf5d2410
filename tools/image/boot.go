package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"homeagent/tools/image/debian"
	"homeagent/tools/image/kernel"
	"homeagent/tools/image/pack"
)

// kernelTree is the unpacked kernel package.
type kernelTree struct {
	dir     string // its root
	version string
	modules *kernel.Modules
}

func (k kernelTree) moduleDir() string { return filepath.Join(k.dir, "lib/modules", k.version) }

// unpacked returns the folder with a package's files.
func (b *builder) unpacked(ctx context.Context, p debian.Pin) (string, error) {
	return b.staged("unpacked/"+p.Name, p.SHA256[:16], func(dir string) error {
		return b.command(ctx, "", nil, "dpkg-deb", "-x", b.store.Path(p), dir)
	})
}

// kernel unpacks the kernel and lets depmod read its modules.
func (b *builder) kernel(ctx context.Context) (kernelTree, error) {
	i := slices.IndexFunc(b.lock, func(p debian.Pin) bool { return strings.HasPrefix(p.Name, "linux-image-") })
	if i < 0 {
		return kernelTree{}, fmt.Errorf("%s names no kernel", lockName)
	}
	p := b.lock[i]
	k := kernelTree{version: strings.TrimPrefix(p.Name, "linux-image-")}
	var err error
	k.dir, err = b.staged("kernel", p.SHA256[:16], func(dir string) error {
		if err := b.command(ctx, "", nil, "dpkg-deb", "-x", b.store.Path(p), dir); err != nil {
			return err
		}
		return b.command(ctx, "", nil, sbin("depmod"), "-b", dir, k.version)
	})
	if err != nil {
		return kernelTree{}, err
	}
	k.modules, err = kernel.ReadModules(k.moduleDir())
	return k, err
}

// sbin finds a program that may lie where only root looks.
func sbin(name string) string {
	for _, dir := range []string{"/usr/sbin/", "/sbin/"} {
		if p, err := exec.LookPath(dir + name); err == nil {
			return p
		}
	}
	return name
}

// MissingDriversError says that a kernel cannot run a board.
type MissingDriversError struct {
	Board, Kernel string
	Drivers       []string
}

// Error says in both languages which drivers are missing and where to turn.
func (e *MissingDriversError) Error() string {
	return fmt.Sprintf("内核 %[2]s 没有 %[1]s 所需的驱动（%[3]s），不能为它组装镜像；请用 make buildroot-image BOARD=%[1]s。"+
		"the kernel %[2]s lacks the drivers that %[1]s needs (%[3]s), so no image of it is assembled; "+
		"use make buildroot-image BOARD=%[1]s", e.Board, e.Kernel, strings.Join(e.Drivers, ", "))
}

// checkDrivers refuses a board whose USB, network and pins hang on the RP1
// chip when the kernel's own file list shows no driver for it.
func (b *builder) checkDrivers(k kernelTree) error {
	if !slices.ContainsFunc(b.meta.words("DTBS"), func(d string) bool { return strings.HasPrefix(d, "bcm2712") }) {
		return nil
	}
	e := &MissingDriversError{Board: b.board, Kernel: k.version}
	for _, name := range []string{"rp1_pci", "clk_rp1", "pinctrl_rp1"} {
		if !k.modules.Has(name) {
			e.Drivers = append(e.Drivers, name)
		}
	}
	if len(e.Drivers) > 0 {
		return e
	}
	return nil
}

// bootFiles brings kernel, device trees and the chip's firmware.
func (b *builder) bootFiles(ctx context.Context, k kernelTree, bin string) error {
	sum := &key{}
	sum.text("gzip 9", k.version, filepath.Base(k.dir))
	dir, err := b.staged("image.gz", sum.sum(), func(dir string) error {
		b.say("compressing the kernel %s", k.version)
		image, err := os.ReadFile(filepath.Join(k.dir, "boot/vmlinuz-"+k.version))
		if err != nil {
			return fmt.Errorf("read the kernel: %w", err)
		}
		packed, err := gzipped(image)
		if err != nil {
			return err
		}
		return writeFile(filepath.Join(dir, "Image.gz"), packed)
	})
	if err != nil {
		return err
	}
	if err := copyFile(filepath.Join(dir, "Image.gz"), filepath.Join(bin, "Image.gz"), 0o644); err != nil {
		return err
	}
	trees := filepath.Join(k.dir, "usr/lib/linux-image-"+k.version, "broadcom")
	for _, name := range b.meta.words("DTBS") {
		if _, err := os.Stat(filepath.Join(trees, name)); err != nil {
			continue // a name of Raspberry Pi's own kernel
		}
		if err := copyFile(filepath.Join(trees, name), filepath.Join(bin, name), 0o644); err != nil {
			return err
		}
	}
	for _, p := range b.lock.Package("raspi-firmware") {
		dir, err := b.unpacked(ctx, p)
		if err != nil {
			return err
		}
		for _, name := range b.meta.words("FIRMWARE") {
			from := filepath.Join(dir, "usr/lib/raspi-firmware", name)
			if err := copyFile(from, filepath.Join(bin, "rpi-firmware", name), 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

// gzipped compresses without a name and a time.
func gzipped(data []byte) ([]byte, error) {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, fmt.Errorf("compress: %w", err)
	}
	if _, err = w.Write(data); err == nil {
		err = w.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("compress: %w", err)
	}
	return out.Bytes(), nil
}

// module reads one module, unpacked.
func module(k kernelTree, file string) ([]byte, error) {
	name := filepath.Join(k.moduleDir(), file)
	var data []byte
	var err error
	if strings.HasSuffix(file, ".xz") {
		data, err = exec.Command("xz", "-dc", name).Output()
	} else {
		data, err = os.ReadFile(name)
	}
	if err != nil {
		return nil, fmt.Errorf("read the module %s: %w", file, err)
	}
	return data, nil
}

// moduleList reads one of the board's lists of modules.
func (b *builder) moduleList(k kernelTree, list string) ([]string, error) {
	text, err := os.ReadFile(filepath.Join(b.source, "board/common", list))
	if err != nil {
		return nil, fmt.Errorf("read the list of modules: %w", err)
	}
	files, absent := k.modules.Select(kernel.ParseList(text))
	if len(absent) > 0 {
		b.say("%s: this kernel has no %s", list, strings.Join(absent, " "))
	}
	return files, nil
}

// initrd packs the first boot stage.
func (b *builder) initrd(k kernelTree, bin string) error {
	files, err := b.moduleList(k, "modules.initramfs")
	if err != nil {
		return err
	}
	script, err := os.ReadFile(filepath.Join(b.source, "board/common/initramfs/init"))
	if err != nil {
		return fmt.Errorf("read the first boot stage: %w", err)
	}
	busybox, err := b.busybox()
	if err != nil {
		return err
	}
	entries := []pack.Entry{{Name: "dev/console", Mode: pack.ModeChar | 0o600, Major: 5, Minor: 1}}
	for _, d := range []string{"bin", "dev", "etc", "lib", "lib/modules", "newroot", "proc", "run", "sys", "tmp"} {
		entries = append(entries, pack.Entry{Name: d, Mode: pack.ModeDir | 0o755})
	}
	entries = append(entries,
		pack.Entry{Name: "bin/busybox", Mode: pack.ModeFile | 0o755, Data: busybox},
		pack.Entry{Name: "bin/sh", Mode: pack.ModeLink | 0o777, Data: []byte("busybox")},
		pack.Entry{Name: "init", Mode: pack.ModeFile | 0o755, Data: script})
	var order []string
	for _, f := range files {
		data, err := module(k, f)
		if err != nil {
			return err
		}
		name := strings.TrimSuffix(path.Base(f), ".xz")
		entries = append(entries, pack.Entry{Name: "lib/modules/" + name, Mode: pack.ModeFile | 0o644, Data: data})
		order = append(order, name)
	}
	entries = append(entries, pack.Entry{Name: "modules", Mode: pack.ModeFile | 0o644, Data: []byte(strings.Join(order, "\n") + "\n")})
	slices.SortFunc(entries, func(a, b pack.Entry) int { return strings.Compare(a.Name, b.Name) })
	var out bytes.Buffer
	w := pack.NewCpio(&out, b.epoch)
	for _, e := range entries {
		if err := w.Add(e); err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	packed, err := gzipped(out.Bytes())
	if err != nil {
		return err
	}
	return writeFile(filepath.Join(bin, "initrd.img"), packed)
}

// busybox is the static busybox.
func (b *builder) busybox() ([]byte, error) {
	for _, p := range b.lock.Package("busybox-static") {
		dir, err := b.unpacked(context.Background(), p)
		if err != nil {
			return nil, err
		}
		return os.ReadFile(filepath.Join(dir, "bin/busybox"))
	}
	return nil, fmt.Errorf("%s names no busybox-static", lockName)
}
