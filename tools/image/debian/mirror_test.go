package debian

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFindMirrors(t *testing.T) {
	rows := []struct {
		name, file, text string
		want             Mirrors
	}{
		{"one line a source", "sources.list", "#deb http://old/debian bookworm main\ndeb [arch=amd64 signed-by=/k] http://m/debian/ bookworm main\n",
			Mirrors{"http://m/debian", "http://m/debian-security"}},
		{"paragraphs", "sources.list.d/debian.sources", "Types: deb\nURIs: http://m/d\nSuites: bookworm bookworm-updates\nComponents: main\n\n" +
			"Types: deb\nURIs: http://s/d\nSuites: bookworm-security\nComponents: main\n", Mirrors{"http://m/d", "http://s/d"}},
		{"another release", "sources.list", "deb http://m/debian trixie main\n", Mirrors{}},
		{"another archive", "sources.list", "deb http://m/debian bookworm stable\n", Mirrors{}},
		{"switched off", "sources.list.d/x.sources", "Types: deb\nEnabled: no\nURIs: http://m/d\nSuites: bookworm\nComponents: main\n", Mirrors{}},
		{"garbage", "sources.list", "deb\ndeb [x\n\x00\xff\n", Mirrors{}},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, row.file)), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, row.file), []byte(row.text), 0o644); err != nil {
				t.Fatal(err)
			}
			got, err := FindMirrors(dir, "bookworm")
			var none *NoMirrorError
			if got != row.want || (row.want == Mirrors{}) != errors.As(err, &none) {
				t.Errorf("got %v, %v", got, err)
			}
		})
	}
}

// FuzzSources holds that apt's sources never break the reader.
func FuzzSources(f *testing.F) {
	f.Add("deb [a b] http://m d main\n")
	f.Add("Types: deb\nURIs: a\n b\nSuites: x\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, e := range append(parseList(text), parseSources(text)...) {
			if strings.ContainsAny(e.uri, " \n") {
				t.Errorf("address %q", e.uri)
			}
		}
	})
}

func TestStoreKnowsWhatIsThere(t *testing.T) {
	p := Pin{For: ForRoot, Name: "a", Path: "pool/a.deb", Size: 3, SHA256: sum}
	asked := errors.New("mirrors asked")
	s := Store{Dir: t.TempDir(), Log: io.Discard, Mirrors: func() (Mirrors, error) { return Mirrors{}, asked }}
	if err := s.Bring(context.Background(), Lock{p}); !errors.Is(err, asked) {
		t.Errorf("missing file: %v", err)
	}
	if err := os.WriteFile(s.Path(p), []byte("abc"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := s.Bring(context.Background(), Lock{p}); err != nil {
		t.Errorf("file is there: %v", err)
	}
	if err := p.Check(s.Path(p)); err == nil {
		t.Error("another sum was taken")
	}
	if text := (&GoneError{Pin: p}).Error(); !strings.Contains(text, "请运行 make image-lock") || !strings.Contains(text, "run make image-lock") {
		t.Errorf("the error does not say what to do: %s", text)
	}
}
