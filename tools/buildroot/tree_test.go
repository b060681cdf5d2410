package buildroot_test

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"homeagent/tools/buildroot"
)

// project is the source tree, seen from this folder.
const project = "../.."

// optionsList is beside the project on the machines that have it.
const optionsList = "../shared/buildroot/options-2026.05.1.txt.xz"

func none(t *testing.T, problems []buildroot.Problem, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Error(p)
	}
}

func TestTreePaths(t *testing.T)  { p, err := buildroot.Paths(os.DirFS(project)); none(t, p, err) }
func TestTreeHashes(t *testing.T) { p, err := buildroot.Hashes(os.DirFS(project)); none(t, p, err) }
func TestTreeFragments(t *testing.T) {
	p, err := buildroot.Fragments(os.DirFS(project))
	none(t, p, err)
}
func TestTreeCommands(t *testing.T) { p, err := buildroot.Commands(os.DirFS(project)); none(t, p, err) }

func TestTreeOptions(t *testing.T) {
	file := filepath.Join(project, optionsList)
	if _, err := os.Stat(file); err != nil {
		t.Skipf("the list of Buildroot's options is absent: %s", optionsList)
	}
	if _, err := exec.LookPath("xz"); err != nil {
		t.Skip("the program xz is absent")
	}
	data, err := exec.CommandContext(t.Context(), "xz", "-dc", file).Output()
	if err != nil {
		t.Fatal(err)
	}
	options, err := buildroot.ParseOptions(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	p, err := buildroot.Defconfigs(os.DirFS(project), options)
	none(t, p, err)
	p, err = buildroot.Symbols(os.DirFS(project), options)
	none(t, p, err)
}

func TestTreeHasEveryBoard(t *testing.T) {
	got, err := buildroot.Boards(os.DirFS(project))
	if err != nil {
		t.Fatal(err)
	}
	if want := "rpi3-64 rpi4-64 rpi5 virt zero2w"; strings.Join(got, " ") != want {
		t.Errorf("boards %v, want %s", got, want)
	}
}

// The runtime on the box is the one that the tests run on.
func TestTreeRuntimeIsThatOfTheModelsLock(t *testing.T) {
	mk := read(t, "buildroot/package/onnxruntime/onnxruntime.mk")
	lock := read(t, "tools/models/models.lock.json")
	version := regexp.MustCompile(`ONNXRUNTIME_VERSION = (\S+)`).FindStringSubmatch(mk)
	library := regexp.MustCompile(`ONNXRUNTIME_LIBRARY_SHA256 = (\S+)`).FindStringSubmatch(mk)
	if version == nil || library == nil {
		t.Fatal("no version or no checksum in onnxruntime.mk")
	}
	if !regexp.MustCompile(`"onnxruntime-node",\s+"version": "` + regexp.QuoteMeta(version[1]) + `"`).MatchString(lock) {
		t.Errorf("models.lock.json has another version than %s", version[1])
	}
	if !strings.Contains(lock, library[1]) {
		t.Errorf("models.lock.json has no library with sha256 %s", library[1])
	}
}

func TestShellcheck(t *testing.T) {
	if _, err := exec.LookPath("shellcheck"); err != nil {
		t.Skip("the program shellcheck is absent")
	}
	var files []string
	for _, folder := range []string{"board", "buildroot", "overlay", "tools/buildroot"} {
		err := fs.WalkDir(os.DirFS(project), folder, func(name string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			first, _, _ := strings.Cut(read(t, name), "\n")
			if strings.HasPrefix(first, "#!") && strings.HasSuffix(first, "sh") || strings.HasSuffix(name, ".sh") {
				files = append(files, name)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(files) < 3 {
		t.Fatalf("found only the scripts %v", files)
	}
	// SC1091: a file that is sourced from where it lies on the box cannot be followed.
	cmd := exec.CommandContext(t.Context(), "shellcheck", append([]string{"-e", "SC1091", "-P", "."}, files...)...)
	cmd.Dir = project
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(project, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
