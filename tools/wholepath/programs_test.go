package wholepath

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// root is the repository, seen from this folder.
const root = "../.."

// binFolder is where the programs of this run lie; TestMain removes it.
var binFolder string

func TestMain(m *testing.M) { os.Exit(run(m)) }

// atOnce is how many tests run beside each other. They wait for sound most of
// the time, so there may be more of them than processors.
const atOnce = "10"

func run(m *testing.M) int {
	flag.Parse()
	if err := flag.Set("test.parallel", atOnce); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if err := openSources(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	dir, err := os.MkdirTemp("", "homeagent-bin-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binFolder = dir
	defer closeEngines()
	return m.Run()
}

// openSources opens every file that the programs are built from. The go command
// keeps a result as long as the files that a test opened stay as they were; what
// the compiler reads in a process of its own it does not see, and it would hand
// out the result of yesterday's programs.
func openSources() error {
	for _, name := range []string{"agent", "cmd", "drivers", "firmware", "memory", "tools", "go.mod", "go.sum"} {
		err := filepath.WalkDir(filepath.Join(root, name), func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			f, err := os.Open(path)
			if err != nil {
				return err
			}
			return f.Close()
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// build makes the three programs, once.
var build = sync.OnceValue(func() error {
	for _, b := range []struct {
		cgo  string
		pkgs []string
	}{{"CGO_ENABLED=0", []string{"./cmd/homed", "./cmd/homectl"}}, {"CGO_ENABLED=1", []string{"./cmd/homed-agent"}}} {
		cmd := exec.Command("go", append([]string{"build", "-tags", "sqlite_fts5", "-o", binFolder + "/"}, b.pkgs...)...)
		cmd.Dir = root
		cmd.Env = append(os.Environ(), b.cgo)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%v: %w\n%s", cmd, err, out)
		}
	}
	return nil
})

// program is the path of one of the built programs.
func program(t testing.TB, name string) string {
	t.Helper()
	if err := build(); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(binFolder, name)
}
