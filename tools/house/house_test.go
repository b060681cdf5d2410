package house

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const (
	root     = "../.."
	maxLines = 600
)

type pkg struct {
	ImportPath string
	Doc        string
	Imports    []string
	Deps       []string
}

// list asks the go command for packages; -deps is left to the Deps field.
func list(t *testing.T, patterns ...string) []pkg {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list", "-json=ImportPath,Doc,Imports,Deps", "-tags", "sqlite_fts5"}, patterns...)...)
	cmd.Dir = root
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.String())
	}
	var all []pkg
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	if len(all) == 0 {
		t.Fatalf("go list %v found nothing", patterns)
	}
	return all
}

func TestImportRule(t *testing.T) {
	rules := []struct {
		name   string
		of     string
		forbid []string // exact paths, or prefixes ending in a slash
		why    string
	}{
		{"mind", "./agent/...", []string{"net", "net/http", "os/exec", "homeagent/drivers/", "homeagent/firmware/", "homeagent/cmd/"}, "the core does no I/O of its own"},
		{"memory", "./memory/...", []string{"net", "net/http", "os/exec", "homeagent/drivers/", "homeagent/firmware/", "homeagent/cmd/"}, "the core does no I/O of its own"},
		{"firmware", "./firmware/...", []string{"homeagent/agent/", "homeagent/drivers/", "homeagent/cmd/"}, "the appliance runs whatever agent there is"},
		{"drivers", "./drivers/...", []string{"homeagent/firmware/", "homeagent/cmd/"}, "a driver knows the plugin SDK only"},
	}
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			for _, p := range list(t, r.of) {
				for _, dep := range p.Deps {
					for _, f := range r.forbid {
						if dep == f || (strings.HasSuffix(f, "/") && strings.HasPrefix(dep, f)) {
							t.Errorf("%s reaches %s: %s", p.ImportPath, dep, r.why)
						}
					}
				}
			}
		})
	}
}

func TestDriversAreApart(t *testing.T) {
	driver := func(path string) string {
		rest, ok := strings.CutPrefix(path, "homeagent/drivers/")
		if !ok {
			return ""
		}
		name, _, _ := strings.Cut(rest, "/")
		return name
	}
	for _, p := range list(t, "./drivers/...") {
		own := driver(p.ImportPath)
		for _, dep := range p.Deps {
			if d := driver(dep); d != "" && d != own {
				t.Errorf("%s reaches %s: drivers never import each other", p.ImportPath, dep)
			}
		}
	}
}

// TestStaticPrograms keeps the supervisor and the command line free of cgo, so
// that logs and roll-back work without any shared library.
func TestStaticPrograms(t *testing.T) {
	for _, p := range list(t, "./cmd/homed", "./cmd/homectl") {
		if slices.Contains(p.Deps, "runtime/cgo") && !slices.Contains(p.Deps, "net") {
			t.Errorf("%s links C", p.ImportPath)
		}
		for _, dep := range p.Deps {
			for _, c := range []string{"github.com/mattn/go-sqlite3", "github.com/gordonklaus/portaudio", "github.com/yalue/onnxruntime_go", "github.com/yanyiwu/gojieba"} {
				if dep == c {
					t.Errorf("%s reaches %s, which needs C", p.ImportPath, dep)
				}
			}
		}
	}
}

func TestEveryPackageSaysWhatItIsFor(t *testing.T) {
	for _, p := range list(t, "./...") {
		if len(strings.Fields(p.Doc)) < 4 {
			t.Errorf("%s has no package comment", p.ImportPath)
		}
	}
}

// TestFiles looks at every Go file of the tree.
func TestFiles(t *testing.T) {
	sleep := regexp.MustCompile(`\btime\.Sleep\(`)
	n := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == ".git" || d.Name() == "node_modules" || d.Name() == "bin" || d.Name() == "data" || d.Name() == "out") {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") {
			return nil
		}
		n++
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if lines := bytes.Count(text, []byte("\n")); lines > maxLines {
			t.Errorf("%s has %d lines; more than %d is more than one concern", path, lines, maxLines)
		}
		if strings.HasSuffix(path, "_test.go") && !strings.HasSuffix(path, "house_test.go") && sleep.Match(text) {
			t.Errorf("%s sleeps; wait on a condition, or use testing/synctest", path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if n < 50 {
		t.Fatalf("only %d Go files were looked at", n)
	}
}

// TestScripts runs shellcheck over every shell script, where it is installed.
// Those of the card are checked by board/boardtest, which knows where the files
// that they source lie on the card.
func TestScripts(t *testing.T) {
	check, err := exec.LookPath("shellcheck")
	if err != nil {
		t.Skip("shellcheck is not installed: no script was checked")
	}
	cmd := exec.Command("git", "ls-files")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Skipf("not a git checkout: no script was checked (%v)", err)
	}
	n := 0
	for name := range strings.Lines(string(out)) {
		name = strings.TrimSpace(name)
		if strings.HasPrefix(name, "board/") || strings.HasPrefix(name, "overlay/") {
			continue
		}
		path := filepath.Join(root, name)
		head, err := os.ReadFile(path)
		if err != nil || !(bytes.HasPrefix(head, []byte("#!/bin/sh")) || bytes.HasPrefix(head, []byte("#!/usr/bin/env bash")) || bytes.HasPrefix(head, []byte("#!/bin/bash"))) {
			continue
		}
		n++
		lint := exec.Command(check, "-x", name) // -x: sourced files count, named from the root
		lint.Dir = root
		if out, err := lint.CombinedOutput(); err != nil {
			t.Errorf("%s:\n%s", path, out)
		}
	}
	if n == 0 {
		t.Fatal("no script was found to check")
	}
}
