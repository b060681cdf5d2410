package main

import (
	"errors"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
)

const share = "usr/share/homeagent"

// TestModelsBringTheirTexts: what overlay/ has is enough, and a text less ends the build.
func TestModelsBringTheirTexts(t *testing.T) {
	root := func() tree {
		t.Helper()
		tr := tree{}
		if err := tr.addFolder("", "../../overlay", "overlay"); err != nil {
			t.Fatal(err)
		}
		for of := range modelTexts {
			if err := tr.add(path.Join(share, "models", of, "file"), node{by: "the models"}); err != nil {
				t.Fatal(err)
			}
		}
		return tr
	}
	if err := checkModelTexts(root(), share); err != nil {
		t.Error(err)
	}
	for of, texts := range modelTexts {
		for _, text := range texts {
			tr := root()
			name := path.Join(share, "licences/models", text)
			delete(tr, name)
			var missing *MissingTextError
			if err := checkModelTexts(tr, share); !errors.As(err, &missing) || missing.Name != name || !strings.HasSuffix(missing.Of, "/"+of) {
				t.Errorf("without %s: %v", text, err)
			}
			delete(tr, path.Join(share, "models", of, "file"))
			if err := checkModelTexts(tr, share); err != nil {
				t.Errorf("no %s, no text of it: %v", of, err)
			}
		}
	}
}

// TestNoticesOfTheRuntime: the parts that can be seen in the library by name
// have their notices, and the words about what came since are of the version
// that is pinned.
func TestNoticesOfTheRuntime(t *testing.T) {
	read := func(name string) string {
		t.Helper()
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	folder := path.Join("../../overlay", share, "licences/models")
	for text, parts := range map[string][]string{
		"onnxruntime": {"MIT License", "Microsoft Corporation"},
		"onnxruntime-third-party": {"THIRD PARTY SOFTWARE NOTICES", "protocolbuffers/protobuf", "Eigen", "abseil-cpp", "google/flatbuffers",
			"google/re2", "nlohmann/json", "dcleblanc/SafeInt", "boostorg/boost", "pytorch/cpuinfo", "google/XNNPACK", "Microsoft GSL", "madler/zlib", "SQLite"},
		"onnxruntime-since": {"KleidiAI", "Mbed TLS", "curl", "Permission to use, copy, modify, and distribute"},
	} {
		got := read(path.Join(folder, text))
		for _, p := range parts {
			if !strings.Contains(got, p) {
				t.Errorf("%s says nothing of %s", text, p)
			}
		}
	}
	version := regexp.MustCompile(`"onnxruntime-node",\s+"version": "([^"]+)"`).FindStringSubmatch(read("../models/models.lock.json"))
	if version == nil {
		t.Fatal("models.lock.json pins no runtime")
	}
	if !strings.Contains(read(path.Join(folder, "onnxruntime-since")), "ONNX Runtime "+version[1]+" ") {
		t.Errorf("onnxruntime-since is not about %s: look into the new library and write it anew", version[1])
	}
}
