package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"homeagent/tools/image/debian"
)

const libDir = "usr/lib/aarch64-linux-gnu"

// sysroot unpacks what the cross build links against. The C library is the
// cross compiler's own.
func (b *builder) sysroot(ctx context.Context) (string, error) {
	var pins debian.Lock
	sum := &key{}
	for _, p := range b.lock.Of(debian.ForRoot, debian.ForSysroot) {
		if p.For == debian.ForRoot && !strings.HasPrefix(p.Name, "lib") || strings.HasPrefix(p.Name, "libc6") ||
			strings.HasPrefix(p.Name, "libgcc") || strings.HasPrefix(p.Name, "libstdc++") {
			continue
		}
		pins = append(pins, p)
		sum.text(p.SHA256)
	}
	return b.staged("sysroot", sum.sum(), func(dir string) error {
		for _, p := range pins {
			if err := b.command(ctx, "", nil, "dpkg-deb", "-x", b.store.Path(p), dir); err != nil {
				return err
			}
		}
		return nil
	})
}

// programs compiles homed, homectl and homed-agent into dir.
func (b *builder) programs(ctx context.Context, dir string) error {
	sys, err := b.sysroot(ctx)
	if err != nil {
		return err
	}
	b.say("compiling %s", b.version)
	// Without build ids: they hash the folders of this machine.
	flags := []string{"build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w -buildid= -X main.version=" + b.version, "-o"}
	static := append(b.environ(), "GOOS=linux", "GOARCH=arm64", "CGO_ENABLED=0", "GOFLAGS=")
	for _, name := range []string{"homed", "homectl"} {
		args := append(flags, filepath.Join(dir, name), "./cmd/"+name)
		if err := b.command(ctx, b.source, static, "go", args...); err != nil {
			return err
		}
	}
	libs := filepath.Join(sys, libDir)
	cgo := append(b.environ(), "GOOS=linux", "GOARCH=arm64", "CGO_ENABLED=1", "GOFLAGS=",
		"CC=aarch64-linux-gnu-gcc", "CXX=aarch64-linux-gnu-g++",
		"CGO_CFLAGS=-O2 -g0", "CGO_LDFLAGS=-Wl,--build-id=none -Wl,-rpath-link,"+libs+":"+filepath.Join(sys, "lib/aarch64-linux-gnu"),
		"PKG_CONFIG_SYSROOT_DIR="+sys, "PKG_CONFIG_LIBDIR="+libs+"/pkgconfig:"+filepath.Join(sys, "usr/share/pkgconfig"),
		"PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1", "PKG_CONFIG_ALLOW_SYSTEM_LIBS=1", "PKG_CONFIG_PATH=")
	args := append(flags, filepath.Join(dir, "homed-agent"), "-tags", "sqlite_fts5", "./cmd/homed-agent")
	return b.command(ctx, b.source, cgo, "go", args...)
}

// models brings the models for arm64 and adds those that tools/setup makes.
func (b *builder) models(ctx context.Context) (models, wake string, err error) {
	models = filepath.Join(b.cache, "image", "models-arm64")
	wake = os.Getenv("HOMEAGENT_MODELS")
	if wake == "" {
		wake = filepath.Join(b.cache, "models")
	}
	if err := b.command(ctx, b.source, os.Environ(), "go", "run", "./tools/models", "-arch", "arm64", "-dir", models); err != nil {
		return "", "", err
	}
	if err := b.command(ctx, b.source, os.Environ(), "go", "run", "./tools/jiebadict", "-dir", models); err != nil {
		return "", "", err
	}
	for _, f := range wakeFiles() {
		if _, err := os.Stat(filepath.Join(wake, "wake", f)); err != nil {
			return "", "", fmt.Errorf("唤醒词文件 %[1]s 还没有生成，请先运行 tools/setup。"+
				"the wake word's file %[1]s is not made yet; run tools/setup first", filepath.Join(wake, "wake", f))
		}
	}
	return models, filepath.Join(wake, "wake"), nil
}

// wakeFiles are what the wake word needs at run time.
func wakeFiles() []string { return []string{"bank.bin", "bank.txt", "embedding.bin", "mel.bin"} }

// goLicences returns the licence files of the modules in a program: name to file.
func (b *builder) goLicences(ctx context.Context, program string) (map[string]string, error) {
	out, err := exec.CommandContext(ctx, "go", "version", "-m", program).Output()
	if err != nil {
		return nil, fmt.Errorf("ask for the modules of %s: %w", filepath.Base(program), err)
	}
	files := map[string]string{}
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		if len(f) < 3 || f[0] != "dep" {
			continue
		}
		cmd := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", f[1])
		cmd.Dir = b.source
		dir, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("ask for the module %s: %w", f[1], err)
		}
		found, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(dir)), "*"))
		if err != nil {
			return nil, err
		}
		for _, name := range found {
			base := strings.ToUpper(filepath.Base(name))
			if strings.HasPrefix(base, "LICEN") || strings.HasPrefix(base, "COPYING") || strings.HasPrefix(base, "NOTICE") {
				files[f[1]+"/"+filepath.Base(name)] = name
			}
		}
	}
	return files, nil
}
