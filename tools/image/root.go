package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"homeagent/memory/token/jieba/dict"
	"homeagent/tools/image/debian"
	"homeagent/tools/image/pack"
)

// root assembles the root file system and packs it.
func (b *builder) root(ctx context.Context, k kernelTree, bin string) error {
	work := filepath.Join(b.outDir, "work")
	if err := os.RemoveAll(work); err != nil {
		return fmt.Errorf("clear the work folder: %w", err)
	}
	defer os.RemoveAll(work)
	programs, target := filepath.Join(work, "programs"), filepath.Join(work, "root")
	for _, d := range []string{programs, target} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return fmt.Errorf("make the work folder: %w", err)
		}
	}
	if err := b.programs(ctx, programs); err != nil {
		return err
	}
	t := tree{}
	if err := b.fromDebian(ctx, t); err != nil {
		return err
	}
	if err := b.ours(ctx, t, programs); err != nil {
		return err
	}
	if err := b.fromKernel(t, k); err != nil {
		return err
	}
	if err := b.links(t); err != nil {
		return err
	}
	if err := b.meta.promised(t, k.modules); err != nil {
		return fmt.Errorf("board/%s/meta: %w", b.board, err)
	}
	if err := t.write(target); err != nil {
		return err
	}
	if err := b.command(ctx, "", nil, sbin("depmod"), "-b", target, k.version); err != nil {
		return err
	}
	script := filepath.Join(b.source, "board/common/post-build.sh")
	if err := b.command(ctx, "", b.environ(), script, target, b.board); err != nil {
		return err
	}
	return b.squash(ctx, target, filepath.Join(bin, "rootfs.squashfs"))
}

// fromDebian takes what the manifest says and the libraries it needs.
func (b *builder) fromDebian(ctx context.Context, t tree) error {
	text, err := os.ReadFile(filepath.Join(b.source, "tools/image/manifest.txt"))
	if err != nil {
		return fmt.Errorf("read the manifest: %w", err)
	}
	rules, err := parseManifest(string(text))
	if err != nil {
		return err
	}
	pkgs, libs, err := b.packages(ctx)
	if err != nil {
		return err
	}
	for _, r := range rules {
		p, there := pkgs[r.pkg]
		if !there {
			return fmt.Errorf("manifest, line %d: %s is not in the lock", r.line, r.pkg)
		}
		chosen, err := r.pick(p.names)
		if err != nil {
			return err
		}
		for to, from := range chosen {
			if err := t.addFile(to, p.files[from], r.pkg); err != nil {
				return err
			}
		}
	}
	// Opened by name, so that no program asks for them.
	for _, name := range dlopened() {
		if !libs.take(t, path.Join(libDir, name)) {
			return fmt.Errorf("no pinned package has %s", name)
		}
	}
	if err := certificates(t, pkgs["ca-certificates"]); err != nil {
		return err
	}
	b.lateLibraries = libs
	b.debianPackages = pkgs
	return nil
}

// dlopened are libraries that are opened by name at run time: ours, and what
// the C library opens to look up names.
func dlopened() []string { return []string{"libpocketsphinx.so.3", "libgcc_s.so.1", "libstdc++.so.6"} }

// pkgFiles are the files of one package by canonical name.
type pkgFiles struct {
	names []string
	files map[string]string
}

// packages unpacks all packages for the root but the kernel, and lists their
// files and libraries.
func (b *builder) packages(ctx context.Context) (map[string]pkgFiles, libraries, error) {
	pkgs, libs := map[string]pkgFiles{}, libraries{}
	for _, p := range b.lock.Of(debian.ForRoot) {
		if strings.HasPrefix(p.Name, "linux-image-") {
			continue
		}
		dir, err := b.unpacked(ctx, p)
		if err != nil {
			return nil, nil, err
		}
		list, err := listFiles(dir)
		if err != nil {
			return nil, nil, err
		}
		f := pkgFiles{files: map[string]string{}}
		for _, name := range list {
			to := canonical(name)
			f.names = append(f.names, to)
			f.files[to] = filepath.Join(dir, name)
			if strings.HasPrefix(to, "usr/lib/") && strings.Contains(path.Base(to), ".so") {
				one := tree{}
				if err := one.addFile(to, f.files[to], p.Name); err != nil {
					return nil, nil, err
				}
				if _, there := libs[to]; !there {
					libs[to] = one[to]
				}
			}
		}
		pkgs[p.Name] = f
	}
	return pkgs, libs, nil
}

// certificates joins the authorities' certificates to the one file that
// programs read.
func certificates(t tree, p pkgFiles) error {
	var all bytes.Buffer
	for _, name := range p.names {
		if !strings.HasPrefix(name, "usr/share/ca-certificates/") || !strings.HasSuffix(name, ".crt") {
			continue
		}
		text, err := os.ReadFile(p.files[name])
		if err != nil {
			return fmt.Errorf("certificates: %w", err)
		}
		all.Write(bytes.TrimSpace(text))
		all.WriteByte('\n')
	}
	if all.Len() == 0 {
		return errors.New("certificates: the package has none")
	}
	return t.add("etc/ssl/certs/ca-certificates.crt", node{by: "ca-certificates", data: all.Bytes(), mode: 0o644})
}

// ours adds programs, models, the overlay and the licences.
func (b *builder) ours(ctx context.Context, t tree, programs string) error {
	if err := t.addFolder("usr/bin", programs, "the build"); err != nil {
		return err
	}
	models, wake, err := b.models(ctx)
	if err != nil {
		return err
	}
	const share = "usr/share/homeagent"
	for _, d := range []string{"moonshine", "onnxruntime", "silero", dict.Folder, dict.SmallFolder} {
		if err := t.addFolder(path.Join(share, "models", d), filepath.Join(models, d), "the models"); err != nil {
			return err
		}
	}
	for _, f := range wakeFiles() {
		if err := t.addFile(path.Join(share, "models/wake", f), filepath.Join(wake, f), "the wake word"); err != nil {
			return err
		}
	}
	if err := t.addFolder("", filepath.Join(b.source, "overlay"), "overlay"); err != nil {
		return err
	}
	if err := checkModelTexts(t, share); err != nil {
		return err
	}
	if err := t.complete(b.lateLibraries); err != nil {
		return err
	}
	return b.licences(ctx, t, programs, share+"/licences")
}

// modelTexts are the texts in overlay/ that must lie beside what the models
// folder brings, by its folders. The speech runtime has its own licence, the
// notices of the parts it is made of, and those of the parts that came since.
// Moonshine's text lies in its own folder, the dictionary's with its Go module.
var modelTexts = map[string][]string{
	"onnxruntime": {"onnxruntime", "onnxruntime-third-party", "onnxruntime-since"},
	"silero":      {"silero-vad"},
	"wake":        {"speech-embedding"},
}

// MissingTextError says that a licence's text is not in the root though what it
// is about is.
type MissingTextError struct{ Name, Of string }

// Error names the file and what needs it.
func (e *MissingTextError) Error() string {
	return fmt.Sprintf("%s has no licence text %s: it belongs into overlay/", e.Of, e.Name)
}

// checkModelTexts fails where the root has models without their texts.
func checkModelTexts(t tree, share string) error {
	for _, of := range slices.Sorted(maps.Keys(modelTexts)) {
		folder := path.Join(share, "models", of)
		there := false
		for name := range t {
			there = there || strings.HasPrefix(name, folder+"/")
		}
		for _, text := range modelTexts[of] {
			name := path.Join(share, "licences/models", text)
			if _, ok := t[name]; there && !ok {
				return &MissingTextError{Name: name, Of: folder}
			}
		}
	}
	return nil
}

// licences adds the copyright file of every package that gave a file, the
// texts they point to, and those of the Go modules and U-Boot.
func (b *builder) licences(ctx context.Context, t tree, programs, to string) error {
	givers := map[string]bool{}
	for _, n := range t {
		givers[n.by] = true
	}
	for name := range b.debianPackages {
		if !givers[name] {
			continue
		}
		if from := copyright(b.debianPackages, name); from != "" {
			if err := t.addFile(path.Join(to, "debian", name), from, "licences"); err != nil {
				return err
			}
		}
	}
	for _, name := range b.debianPackages["base-files"].names {
		if base, ok := strings.CutPrefix(name, "usr/share/common-licenses/"); ok {
			if err := t.addFile(path.Join(to, "common", base), b.debianPackages["base-files"].files[name], "licences"); err != nil {
				return err
			}
		}
	}
	if b.ubootLicence != "" {
		if err := t.addFile(path.Join(to, "u-boot"), b.ubootLicence, "licences"); err != nil {
			return err
		}
	}
	modules, err := b.goLicences(ctx, filepath.Join(programs, "homed-agent"))
	if err != nil {
		return err
	}
	for name, from := range modules {
		if err := t.add(path.Join(to, "go", name), node{by: "licences", from: from, mode: 0o644}); err != nil {
			return err
		}
	}
	return nil
}

// copyright finds a package's copyright file; its folder may be a link to that
// of another package.
func copyright(pkgs map[string]pkgFiles, name string) string {
	doc := "usr/share/doc/" + name
	for range 4 {
		for _, p := range pkgs {
			if f, there := p.files[doc+"/copyright"]; there {
				if info, err := os.Stat(f); err == nil && info.Mode().IsRegular() {
					return f
				}
			}
		}
		next := ""
		for _, p := range pkgs {
			if f, there := p.files[doc]; there {
				if to, err := os.Readlink(f); err == nil {
					next = path.Join(path.Dir(doc), to)
				}
			}
		}
		if next == "" {
			return ""
		}
		doc = next
	}
	return ""
}

// fromKernel adds the modules of the board's list.
func (b *builder) fromKernel(t tree, k kernelTree) error {
	files, err := b.moduleList(k, "modules.list")
	if err != nil {
		return err
	}
	base := path.Join("usr/lib/modules", k.version)
	for _, f := range files {
		data, err := module(k, f)
		if err != nil {
			return err
		}
		n := node{by: "the kernel", data: data, mode: 0o644}
		if err := t.add(path.Join(base, strings.TrimSuffix(f, ".xz")), n); err != nil {
			return err
		}
	}
	for _, f := range []string{"modules.builtin", "modules.builtin.modinfo", "modules.order"} {
		if err := t.addFile(path.Join(base, f), filepath.Join(k.moduleDir(), f), "the kernel"); err != nil {
			return err
		}
	}
	return t.addFile("usr/share/homeagent/licences/debian/linux", filepath.Join(k.dir, "usr/share/doc/linux-image-"+k.version, "copyright"), "licences")
}

// links adds busybox's applets where no real program has the name, and the
// folders that are parts of /usr.
func (b *builder) links(t tree) error {
	busybox, err := b.busybox()
	if err != nil {
		return err
	}
	names, err := applets(busybox)
	if err != nil {
		return err
	}
	for _, name := range names {
		if _, there := t[path.Join("usr/bin", name)]; !there {
			if err := t.add(path.Join("usr/bin", name), node{by: "busybox", link: "busybox"}); err != nil {
				return err
			}
		}
	}
	for name, to := range map[string]string{"bin": "usr/bin", "sbin": "usr/bin", "lib": "usr/lib", "usr/sbin": "bin"} {
		t[name] = node{by: "the layout", link: to}
	}
	return nil
}

// squash packs the folder as a read-only file system that belongs to root.
func (b *builder) squash(ctx context.Context, target, to string) error {
	var archive bytes.Buffer
	if err := pack.Tar(&archive, target, b.epoch); err != nil {
		return err
	}
	args := []string{"-comp", "zstd", "-b", "128K", "-no-xattrs", "-no-progress", "-quiet",
		"-root-mode", "0755", "-root-uid", "0", "-root-gid", "0"}
	content := sha256.Sum256(archive.Bytes())
	sum := &key{}
	sum.text(args...)
	sum.text(strconv.FormatInt(b.epoch, 10))
	sum.text(hex.EncodeToString(content[:]))
	dir, err := b.staged("root", sum.sum(), func(dir string) error {
		b.say("packing the root, %d MB", archive.Len()/1_000_000)
		cmd := exec.CommandContext(ctx, "sqfstar", append(args, filepath.Join(dir, "rootfs.squashfs"))...)
		cmd.Stdin = &archive
		// The time is given by SOURCE_DATE_EPOCH and not by -mkfs-time, which
		// leaves the root folder at the time of day.
		cmd.Env = b.environ()
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("sqfstar: %w\n%s", err, tail(out, 4000))
		}
		return nil
	})
	if err != nil {
		return err
	}
	return copyFile(filepath.Join(dir, "rootfs.squashfs"), to, fs.FileMode(0o644))
}
