package sandbox_test

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"testing"

	"homeagent/firmware/sandbox"
	"homeagent/firmware/sandbox/sandboxtest"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == sandbox.Arg {
		sandbox.Main()
	}
	sandboxtest.Main()
	if len(os.Args) > 1 && os.Args[1] == argSupervisor {
		supervise()
	}
	os.Exit(m.Run())
}

// asUser is who programs in these tests run as; nobody on the machine has it.
const asUser = 61234

func system(t testing.TB) []sandbox.Mount {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("making a sandbox needs root")
	}
	view, err := sandbox.System()
	if err != nil {
		t.Fatal(err)
	}
	return view
}

// shell runs a script in a sandbox and returns what it wrote and how it ended.
func shell(t testing.TB, spec sandbox.Spec, script string) (string, sandbox.Exit) {
	t.Helper()
	spec.Program, spec.Args = "/bin/sh", []string{"-c", script}
	if spec.View == nil {
		spec.View = system(t)
	}
	spec.UID, spec.GID = asUser, asUser
	out, end := collect(t)
	p, err := sandbox.Start(t.Context(), spec, sandbox.Stdio{Out: end, Err: end})
	end.Close()
	if err != nil {
		t.Fatal(err)
	}
	exit := p.Wait()
	return out(), exit
}

// collect gives the writing end of a pipe and what was written to it, once all its ends are closed.
func collect(t testing.TB) (func() string, *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	all := make(chan string, 1)
	go func() {
		var b bytes.Buffer
		io.Copy(&b, r)
		r.Close()
		all <- b.String()
	}()
	return func() string { return <-all }, w
}

func TestRun(t *testing.T) {
	tests := []struct {
		name, script, want string
		spec               sandbox.Spec
		code               int
	}{
		{name: "user", script: "id -u; id -g; id -G", want: "61234\n61234\n61234\n"},
		{name: "exit status", script: "exit 7", code: 7},
		{name: "processes", script: "[ $$ -lt 100 ] && [ -d /proc/$$ ] && [ ! -d /proc/1 ] && echo own", want: "own\n"},
		{name: "host name", script: "hostname", want: "sandbox\n"},
		{name: "own host name", script: "hostname", spec: sandbox.Spec{Hostname: "box"}, want: "box\n"},
		{name: "environment", script: "env | grep -v -e ^_= -e ^PWD= -e ^SHLVL= -e ^PATH=", spec: sandbox.Spec{Env: []string{"A=b"}}, want: "A=b\n"},
		{name: "folder", script: "pwd", spec: sandbox.Spec{Dir: "/usr"}, want: "/usr\n"},
		{name: "files", script: "ulimit -n", want: "1024\n"},
		{name: "own files", script: "ulimit -n", spec: sandbox.Spec{Limits: sandbox.Limits{Files: 64}}, want: "64\n"},
		{name: "root", script: "ls -A / | grep -v -e bin -e lib -e usr -e etc | xargs; touch /x 2>/dev/null || echo no", want: "dev proc tmp\nno\n"},
		{name: "tmp", script: "echo hello >/tmp/x && cat /tmp/x", want: "hello\n"},
		{name: "null", script: "echo x >/dev/null && head -c 3 /dev/zero | wc -c", want: "3\n"},
		{name: "loopback only", script: "cut -d: -f1 /proc/net/dev | tail -n +3 | xargs", want: "lo\n"},
		{name: "no privilege", script: "grep -E '^(Cap|NoNewPrivs|Seccomp:)' /proc/self/status | tr -d ' \t' | xargs",
			want: "CapInh:0000000000000000 CapPrm:0000000000000000 CapEff:0000000000000000 CapBnd:0000000000000000 " +
				"CapAmb:0000000000000000 NoNewPrivs:1 Seccomp:2\n"},
		{name: "orphans end with the program", script: "sleep 1000 & echo done", want: "done\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out, exit := shell(t, tt.spec, tt.script)
			if out != tt.want || exit != (sandbox.Exit{Code: tt.code}) {
				t.Errorf("%q, %+v; want %q, status %d", out, exit, tt.want, tt.code)
			}
		})
	}
}

// From Start to the end of a program that does nothing.
func BenchmarkStart(b *testing.B) {
	view := system(b)
	for _, network := range []bool{false, true} {
		b.Run(map[bool]string{false: "alone", true: "network"}[network], func(b *testing.B) {
			spec := sandbox.Spec{Program: "/bin/true", View: view, UID: asUser, GID: asUser, Network: network}
			for b.Loop() {
				p, err := sandbox.Start(b.Context(), spec, sandbox.Stdio{})
				if err != nil {
					b.Fatal(err)
				}
				if exit := p.Wait(); exit != (sandbox.Exit{}) {
					b.Fatalf("%+v", exit)
				}
			}
		})
	}
}

// The same program without a sandbox.
func BenchmarkPlain(b *testing.B) {
	for b.Loop() {
		if err := exec.Command("/bin/true").Run(); err != nil {
			b.Fatal(err)
		}
	}
}
