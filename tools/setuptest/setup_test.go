package setuptest

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// world is what the script finds.
type world struct {
	uid      string
	lacks    string // packages that are not installed
	programs string // those of apt-get dpkg-query sudo npm go that exist
	models   bool   // the models are there
	wake     bool   // the wake word's files are made
	aptFails bool
	qemu     string // the emulator's version; none where empty
}

const everything = "apt-get dpkg-query sudo npm go"

// fakes are the scripts behind the names; each says in $LOG that it was called.
func fakes(w world) map[string]string {
	fail := map[bool]string{true: "exit 100", false: "exit 0"}
	return map[string]string{
		"apt-get": "echo apt-get $* >>$LOG; " + fail[w.aptFails],
		"dpkg-query": `shift 3
for p; do case " ` + w.lacks + ` " in *" $p "*) ;; *) printf 'ii %s ' "$p" ;; esac; done`,
		"sudo": `[ "$1" = -n ] || { echo "sudo would ask" >>$LOG; exit 1; }
shift
echo sudo $* >>$LOG
"$@"`,
		"npm":                 "exit 0",
		"qemu-system-aarch64": "echo 'QEMU emulator version " + w.qemu + " (Debian)'",
		"id":                  "echo " + w.uid,
		"go": `echo go $* >>$LOG
case $* in
*tools/models*-check) ` + fail[!w.models] + ` ;;
*wakemodel*) : >$HOMEAGENT_MODELS/wake/x; echo x >$HOMEAGENT_MODELS/wake/embedding.bin; echo x >$HOMEAGENT_MODELS/wake/mel.bin ;;
*wakebank*) echo x >$HOMEAGENT_MODELS/wake/bank.bin ;;
esac`,
	}
}

// lay puts the programs into a folder that is the whole PATH.
func lay(t *testing.T, w world) string {
	t.Helper()
	bin := t.TempDir()
	for _, p := range []string{"sh", "cat", "cksum", "dirname", "tr", "mv", "rm", "env", "true", "sed", "awk", "mktemp", "mkdir", "chmod"} {
		real, err := exec.LookPath(p)
		if err != nil {
			t.Skipf("skipped: %s is absent", p)
		}
		if err := os.Symlink(real, filepath.Join(bin, p)); err != nil {
			t.Fatal(err)
		}
	}
	for name, body := range fakes(w) {
		if name == "qemu-system-aarch64" && w.qemu != "" {
			// There, though no row names it among the programs.
		} else if name != "id" && !strings.Contains(" "+w.programs+" ", " "+name+" ") {
			continue
		}
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+body+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return bin
}

// run runs the script and gives its exit code, what it said and which programs it called.
func run(t *testing.T, bin, models string, args ...string) (code int, said, called string) {
	t.Helper()
	log := filepath.Join(t.TempDir(), "log")
	cmd := exec.Command("../setup", args...)
	cmd.Env = []string{"HOMEAGENT_APT_SOURCES=" + aptSources(t), "PATH=" + bin, "LOG=" + log, "HOMEAGENT_MODELS=" + models, "HOME=/nonexistent"}
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		code = exit.ExitCode()
	case err != nil:
		t.Fatal(err)
	}
	b, err := os.ReadFile(log)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return code, string(out), string(b)
}

func TestSetup(t *testing.T) {
	well := world{uid: "0", programs: everything, models: true, wake: true}
	with := func(change func(*world)) world {
		w := well
		change(&w)
		return w
	}
	rows := []struct {
		name   string
		world  world
		args   []string
		code   int
		says   []string
		calls  []string
		spares []string // must not be called
	}{
		{name: "all is there", world: well, says: []string{"all Debian packages", "all models", "are made"}, spares: []string{"apt-get", "sudo", "wakebank"}},
		{name: "all is there, checked", world: well, args: []string{"--check"}, says: []string{"all models"}, spares: []string{"apt-get", "wakebank"}},
		{name: "packages as root", world: with(func(w *world) { w.lacks = "sox espeak-ng" }),
			says: []string{"installing by apt: espeak-ng sox"}, calls: []string{"apt-get -qq update", "apt-get -qq install -y --no-install-recommends espeak-ng sox"}, spares: []string{"sudo"}},
		{name: "packages by sudo", world: with(func(w *world) { w.lacks, w.uid = "sox", "1000" }),
			calls: []string{"sudo env DEBIAN_FRONTEND=noninteractive apt-get -qq install"}},
		{name: "packages without sudo", world: with(func(w *world) { w.lacks, w.uid, w.programs = "sox", "1000", "apt-get dpkg-query npm go" }),
			code: 1, says: []string{"sudo apt-get update && sudo apt-get install -y --no-install-recommends sox"}, spares: []string{"apt-get"}},
		{name: "packages, checked", world: with(func(w *world) { w.lacks = "sox" }), args: []string{"--check"},
			code: 1, says: []string{"missing packages: sox"}, spares: []string{"apt-get"}},
		{name: "apt fails", world: with(func(w *world) { w.lacks, w.aptFails = "sox", true }), code: 1, says: []string{"check the network"}},
		{name: "models", world: with(func(w *world) { w.models = false }), calls: []string{"go run ./tools/models -dir"}, spares: []string{"apt-get"}},
		{name: "models, no npm", world: with(func(w *world) { w.models, w.programs = false, "apt-get dpkg-query sudo go" }), calls: []string{"apt-get -qq install -y --no-install-recommends npm"}},
		{name: "models, checked", world: with(func(w *world) { w.models = false }), args: []string{"--check"}, code: 1},
		{name: "wake word's files", world: with(func(w *world) { w.wake = false }), calls: []string{"wakemodel", "wakebank"}, says: []string{"making the wake word's files"}},
		{name: "wake word's files, checked", world: with(func(w *world) { w.wake = false }), args: []string{"--check"}, code: 1, spares: []string{"wakebank"}},
		{name: "not Debian", world: with(func(w *world) { w.programs = "go npm" }), says: []string{"this is not Debian", "pocketsphinx-en-us"}},
		{name: "no go", world: with(func(w *world) { w.programs = "apt-get dpkg-query sudo npm" }), code: 1, says: []string{"go is not installed"}},
		{name: "wrong usage", world: well, args: []string{"--chek"}, code: 2, says: []string{"usage"}},
		{name: "image, all is there", world: with(func(w *world) { w.qemu = "10.0.2" }), args: []string{"image"},
			says: []string{"all Debian packages", "the emulator is there"}, spares: []string{"apt-get"}},
		{name: "image's packages", world: with(func(w *world) { w.qemu, w.lacks = "10.0.2", "genimage" }), args: []string{"image"},
			calls: []string{"install -y --no-install-recommends genimage"}},
		{name: "without image its packages do not matter", world: with(func(w *world) { w.lacks = "genimage" }), spares: []string{"apt-get"}},
		{name: "emulator too old", world: with(func(w *world) { w.qemu = "7.2.22" }), args: []string{"image"},
			says: []string{"bookworm-backports: qemu-system-arm"}, calls: []string{"-o Dir::Etc::sourceparts=/dev/null", "install -y --no-install-recommends -t bookworm-backports qemu-system-arm"}},
		{name: "no emulator, no root", world: with(func(w *world) { w.uid, w.programs = "1000", "apt-get dpkg-query npm go" }), args: []string{"image"},
			code: 1, says: []string{"deb http://mirror.example/debian bookworm-backports main", "请先执行"}, spares: []string{"apt-get"}},
		{name: "no emulator, checked", world: well, args: []string{"--check", "image"}, code: 1, says: []string{"missing: QEMU"}, spares: []string{"apt-get"}},
		{name: "too much", world: well, args: []string{"--check", "now"}, code: 2, says: []string{"usage"}},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			models := t.TempDir()
			if err := os.MkdirAll(filepath.Join(models, "wake"), 0o755); err != nil {
				t.Fatal(err)
			}
			if row.world.wake {
				// Made by the script itself, so that the recipe is its own.
				run(t, lay(t, well), models)
			}
			code, said, called := run(t, lay(t, row.world), models, row.args...)
			if code != row.code {
				t.Errorf("exit code %d, want %d:\n%s", code, row.code, said)
			}
			for _, s := range row.says {
				if !strings.Contains(said, s) {
					t.Errorf("it did not say %q but:\n%s", s, said)
				}
			}
			for _, s := range row.calls {
				if !strings.Contains(called, s) {
					t.Errorf("it did not call %q but:\n%s", s, called)
				}
			}
			for _, s := range row.spares {
				if strings.Contains(called, s) {
					t.Errorf("it called %q:\n%s", s, called)
				}
			}
		})
	}
}

// aptSources is the made-up folder of apt's sources; the script changes its
// working folder, so the path is absolute.
func aptSources(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("testdata/apt")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
