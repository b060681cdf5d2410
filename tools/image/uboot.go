package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"homeagent/tools/image/debian"
)

// ubootEpoch is the time that U-Boot says it was built at: that of the release
// 2025.01. It is fixed, so that a commit elsewhere does not make a new U-Boot.
const ubootEpoch = 1736190000

// uboot builds U-Boot for the boards that start with it.
func (b *builder) uboot(ctx context.Context, bin string) error {
	if b.meta["LOADER"] != "uboot" {
		return nil
	}
	pins := b.lock.Package("u-boot").Of(debian.ForSource)
	common := filepath.Join(b.source, "board/common/uboot")
	sum := &key{}
	sum.text("2", strconv.Itoa(ubootEpoch))
	for _, p := range pins {
		sum.text(p.SHA256)
	}
	for _, f := range []string{"homeagent.env", "prepare", "uboot.config"} {
		if err := sum.file(filepath.Join(common, f)); err != nil {
			return fmt.Errorf("U-Boot's configuration: %w", err)
		}
	}
	dir, err := b.staged("uboot", sum.sum(), func(dir string) error { return b.makeUboot(ctx, pins, common, dir) })
	if err != nil {
		return err
	}
	b.ubootLicence = filepath.Join(dir, "licence")
	for _, f := range []string{"u-boot.bin", "u-boot-initial-env"} {
		if err := copyFile(filepath.Join(dir, f), filepath.Join(bin, f), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func (b *builder) makeUboot(ctx context.Context, pins debian.Lock, common, dir string) error {
	b.say("building U-Boot; this takes a minute or two, once")
	src := filepath.Join(dir, "source")
	if err := os.Mkdir(src, 0o755); err != nil {
		return fmt.Errorf("U-Boot: %w", err)
	}
	var patches bool
	for _, p := range pins {
		args := []string{"-xf", b.store.Path(p), "-C", src}
		if strings.Contains(p.File(), ".orig.") {
			args = append(args, "--strip-components=1")
		} else {
			patches = true
		}
		if err := b.command(ctx, "", nil, "tar", args...); err != nil {
			return err
		}
	}
	if patches {
		if err := b.patchUboot(ctx, src); err != nil {
			return err
		}
	}
	env := append(os.Environ(), "CROSS_COMPILE=aarch64-linux-gnu-", "ARCH=arm64", "LC_ALL=C", "TZ=UTC",
		"SOURCE_DATE_EPOCH="+strconv.Itoa(ubootEpoch), "KBUILD_BUILD_USER=homeagent", "KBUILD_BUILD_HOST=homeagent")
	steps := [][]string{
		{filepath.Join(common, "prepare"), src},
		{"make", "-s", "rpi_arm64_defconfig"},
		{"scripts/kconfig/merge_config.sh", "-m", ".config", filepath.Join(common, "uboot.config")},
		{"make", "-s", "olddefconfig"},
		{"make", "-s", "-j" + strconv.Itoa(runtime.NumCPU()), "u-boot.bin", "u-boot-initial-env"},
	}
	for _, s := range steps {
		name := s[0]
		if strings.Contains(name, "/") && !filepath.IsAbs(name) {
			name = filepath.Join(src, name)
		}
		if err := b.command(ctx, src, env, name, s[1:]...); err != nil {
			return fmt.Errorf("build U-Boot: %w", err)
		}
	}
	for _, f := range []string{"u-boot.bin", "u-boot-initial-env"} {
		if err := os.Rename(filepath.Join(src, f), filepath.Join(dir, f)); err != nil {
			return fmt.Errorf("build U-Boot: %w", err)
		}
	}
	if err := copyFile(filepath.Join(src, "Licenses/gpl-2.0.txt"), filepath.Join(dir, "licence"), 0o644); err != nil {
		return err
	}
	return os.RemoveAll(src)
}

// patchUboot applies Debian's patches, which bring security fixes.
func (b *builder) patchUboot(ctx context.Context, src string) error {
	series, err := os.ReadFile(filepath.Join(src, "debian/patches/series"))
	if err != nil {
		return fmt.Errorf("U-Boot's patches: %w", err)
	}
	for line := range strings.Lines(string(series)) {
		line, _, _ = strings.Cut(line, "#")
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		if err := b.command(ctx, src, nil, "patch", "-p1", "-s", "-i", filepath.Join("debian/patches", f[0])); err != nil {
			return fmt.Errorf("U-Boot's patch %s: %w", f[0], err)
		}
	}
	return nil
}
