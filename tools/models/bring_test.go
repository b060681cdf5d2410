package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// entry is one member of a made-up tarball.
type entry struct {
	name string
	body string
	link string // makes a symbolic link
}

// pack writes a tarball as npm would name it and returns its integrity.
func pack(t *testing.T, dir string, p Package, entries []entry) string {
	t.Helper()
	var b bytes.Buffer
	zw := gzip.NewWriter(&b)
	tw := tar.NewWriter(zw)
	for _, e := range entries {
		h := &tar.Header{Name: e.name, Mode: 0o644, Size: int64(len(e.body)), Typeflag: tar.TypeReg}
		if e.link != "" {
			h.Typeflag, h.Linkname, h.Size = tar.TypeSymlink, e.link, 0
		}
		if err := tw.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if e.link == "" {
			if _, err := io.WriteString(tw, e.body); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := errors.Join(tw.Close(), zw.Close()); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, tarballName(p)), b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	sum := sha512.Sum512(b.Bytes())
	return "sha512-" + base64.StdEncoding.EncodeToString(sum[:])
}

func hexSum(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

// want makes the lock's line for a file with this content.
func want(path, body, target string) File {
	return File{Path: path, SHA256: hexSum(body), Size: int64(len(body)), Target: target, Licence: "MIT"}
}

// counting counts how often a tarball is asked for.
type counting struct {
	Source
	n int
}

func (c *counting) Tarball(ctx context.Context, p Package, tmp string) (string, error) {
	c.n++
	return c.Source.Tarball(ctx, p, tmp)
}

func TestBring(t *testing.T) {
	script := `x;const a="` + base64.StdEncoding.EncodeToString([]byte("<unk>\n<s>\n</s>\n▁hi\n收")) + `",b=1;`
	vocab, err := llamaVocab([]byte(script))
	if err != nil {
		t.Fatal(err)
	}
	derived := want("package/s.js", script, "v/tokenizer.json")
	derived.Derive, derived.TargetSHA256 = "llama-vocab", hexSum(string(vocab))
	wrongDerived := derived
	wrongDerived.TargetSHA256 = hexSum("else")

	full := []entry{{name: "package/package.json", body: "{}"}, {name: "package/m.onnx", body: "weights"}, {name: "package/s.js", body: script}}
	model := want("package/m.onnx", "weights", "m/m.onnx")
	rows := []struct {
		name    string
		entries []entry
		files   []File
		breakIt func(t *testing.T, tarballs, models string)
		mangle  bool   // flip a byte of the tarball after its integrity was taken
		err     string // part of the expected error
		mis     bool   // the error is a mismatch with the lock
		left    []string
	}{
		{name: "good", entries: full, files: []File{model}, left: []string{"m/m.onnx"}},
		{name: "derived", entries: full, files: []File{model, derived}, left: []string{"m/m.onnx", "v/tokenizer.json"}},
		{name: "derived hash differs", entries: full, files: []File{wrongDerived}, err: "derived v/tokenizer.json", mis: true},
		{name: "one entry, two targets", entries: full, files: []File{model, want("package/m.onnx", "weights", "n/m.onnx")}, left: []string{"m/m.onnx", "n/m.onnx"}},
		{name: "tarball damaged", entries: full, files: []File{model}, mangle: true, err: "sha512 differs", mis: true},
		{name: "file hash differs", entries: full, files: []File{want("package/m.onnx", "weighty", "m/m.onnx")}, err: "sha256 is", mis: true},
		{name: "file longer than listed", entries: full, files: []File{want("package/m.onnx", "weight", "m/m.onnx")}, err: "size", mis: true},
		{name: "file shorter than listed", entries: full, files: []File{want("package/m.onnx", "weights!", "m/m.onnx")}, err: "size", mis: true},
		{name: "missing file", entries: full, files: []File{want("package/none", "x", "x")}, err: "the tarball has no package/none"},
		{name: "path traversal", entries: append([]entry{{name: "package/../../evil", body: "x"}}, full...), files: []File{model}, err: "outside the package"},
		{name: "absolute path", entries: append([]entry{{name: "/tmp/evil", body: "x"}}, full...), files: []File{model}, err: "outside the package"},
		{name: "wanted entry is a link", entries: []entry{{name: "package/m.onnx", link: "/etc/passwd"}}, files: []File{model}, err: "not a regular file"},
		{name: "no tarball", entries: full, files: []File{model}, err: "has no", breakIt: func(t *testing.T, tarballs, _ string) {
			if err := os.RemoveAll(tarballs); err != nil {
				t.Fatal(err)
			}
		}},
		{name: "half-finished earlier run", entries: full, files: []File{model, derived}, left: []string{"m/m.onnx", "v/tokenizer.json"},
			breakIt: func(t *testing.T, _, models string) {
				put(t, models, "m/m.onnx.part", "wei")
				put(t, models, "v/tokenizer.json", "{\"model\":")
			}},
		{name: "a link in the folder leads out", entries: full, files: []File{model}, err: "escapes",
			breakIt: func(t *testing.T, _, models string) {
				if err := errors.Join(os.MkdirAll(models, 0o755), os.Symlink(t.TempDir(), filepath.Join(models, "m"))); err != nil {
					t.Fatal(err)
				}
			}},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			tarballs, models := t.TempDir(), filepath.Join(t.TempDir(), "models")
			p := Package{Name: "@made/up", Version: "1.2.3", Files: row.files}
			p.Integrity = pack(t, tarballs, p, row.entries)
			if row.mangle {
				damage(t, filepath.Join(tarballs, tarballName(p)))
			}
			if row.breakIt != nil {
				row.breakIt(t, tarballs, models)
			}
			src := &counting{Source: Folder(tarballs)}
			var out bytes.Buffer
			err := Bring(t.Context(), Lock{Packages: []Package{p}}, models, src, &out)
			if row.err != "" {
				if err == nil || !strings.Contains(err.Error(), row.err) {
					t.Fatalf("error %v, want one with %q", err, row.err)
				}
				if errors.Is(err, errMismatch) != row.mis {
					t.Errorf("errMismatch is %v, want %v", !row.mis, row.mis)
				}
			} else if err != nil {
				t.Fatal(err)
			}
			if got := list(t, models); strings.Join(got, " ") != strings.Join(row.left, " ") {
				t.Errorf("the folder holds %q, want %q", got, row.left)
			}
			if row.err != "" {
				return
			}
			if err := os.RemoveAll(tarballs); err != nil {
				t.Fatal(err)
			}
			if err := Bring(t.Context(), Lock{Packages: []Package{p}}, models, src, &out); err != nil {
				t.Errorf("second run: %v", err)
			}
			if src.n != 1 {
				t.Errorf("the tarball was asked for %d times, want 1", src.n)
			}
		})
	}
}

func TestBringKeepsOldFileOnFailure(t *testing.T) {
	tarballs, models := t.TempDir(), t.TempDir()
	put(t, models, "m/m.onnx", "older weights")
	p := Package{Name: "up", Version: "1.0.0", Files: []File{want("package/m.onnx", "weighty", "m/m.onnx")}}
	p.Integrity = pack(t, tarballs, p, []entry{{name: "package/m.onnx", body: "weights"}})
	if err := Bring(t.Context(), Lock{Packages: []Package{p}}, models, Folder(tarballs), io.Discard); err == nil {
		t.Fatal("no error")
	}
	got, err := os.ReadFile(filepath.Join(models, "m/m.onnx"))
	if err != nil || string(got) != "older weights" {
		t.Errorf("the old file is now %q, %v", got, err)
	}
}

func TestBringTwoAtOnce(t *testing.T) {
	models := t.TempDir()
	s, err := OpenStore(models)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := OpenStore(models); err == nil || !strings.Contains(err.Error(), "in use by another run") {
		t.Errorf("second run: %v", err)
	}
}

func put(t *testing.T, dir, name, body string) {
	t.Helper()
	file := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(body), 0o644); err != nil {
		t.Fatal(err)
	}
}

// damage flips a bit in the middle of a file.
func damage(t *testing.T, file string) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)/2] ^= 1
	if err := os.WriteFile(file, b, 0o644); err != nil {
		t.Fatal(err)
	}
}

// list names the regular files under dir but the lock.
func list(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if d.Type().IsRegular() && rel != ".lock" {
			out = append(out, rel)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
