package sandbox

import (
	"path"
	"slices"
	"strings"
	"time"

	"homeagent/firmware/words"
)

// Spec is a program and all it is given.
type Spec struct {
	// Program is a path inside the sandbox, or a name that is looked up in the
	// PATH of Env there.
	Program string
	// Args follow the program's name.
	Args []string
	// Dir is the folder inside in which the program starts, "/" if empty.
	Dir string
	// Env is the whole environment, each entry NAME=VALUE.
	Env []string
	// UID and GID are whom the program runs as; neither may be 0, nor may one of Groups.
	UID, GID int
	Groups   []int
	// View is what of the file system exists, a folder before what lies in it.
	View []Mount
	// Devices are device files of the machine, or folders of such, that appear
	// in the sandbox's /dev under the same path. Their owners and modes decide
	// whether the program may open them. One that comes later is not seen, unless its folder was named.
	Devices []string
	// Network leaves the program the machine's network. Without it there is a loopback and nothing else.
	Network bool
	// LocalSockets allows unix sockets and listening in addition to Network.
	// Without Network both are always possible, among the sandbox's own programs.
	LocalSockets bool
	// Hostname is what the program sees as the name of the machine, "sandbox" if empty.
	Hostname string
	// OOMScore is how willingly the kernel ends the sandbox's processes when
	// memory runs out, from -1000 (never) to 1000 (first).
	OOMScore int
	Limits   Limits
	// Cgroup is the folder of a control group (version 2) whose children have
	// the controllers memory, pids and cpu, as PrepareCgroup makes it. The
	// sandbox gets a group of its own in it. "" is none.
	Cgroup string
}

// Limits of a sandbox as a whole; 0 is no limit, except for Files.
type Limits struct {
	// Memory in bytes, at least 16 MiB; files on a tmpfs of the sandbox count.
	// What exceeds it is ended by the kernel. It needs a control group.
	Memory int64
	// PIDs is how many processes and threads the program may have. Without a
	// control group those of all sandboxes of the user count together.
	PIDs int
	// CPU is processor time in hundredths of one core. It needs a control group.
	CPU int
	// Files is how many descriptors a process may have open, 1024 if 0.
	Files int
	// FileSize is the size of the largest file a process may write, in bytes.
	FileSize int64
	// Reserve is how many bytes must stay free on each file system that holds a
	// writable mount. When there are less, or next to no inodes, the sandbox is ended.
	Reserve int64
	// Output is how many bytes the program may write to Out and Err together
	// before the sandbox is ended. A terminal's output is not counted.
	Output int64
	// Time is how long the sandbox may run.
	Time time.Duration
}

// Kind of a mount.
type Kind int

// The kinds of a mount.
const (
	// Bind shows Source, a file or a folder of the machine with all that is mounted in it.
	Bind Kind = iota
	// Tmpfs is an empty folder in memory that everybody may write, of at most Size bytes.
	Tmpfs
	// Proc shows the sandbox's own processes.
	Proc
	// Dev holds null, zero, full, random, urandom, tty, terminals, shm of Size
	// bytes (16 MiB if 0), and the Devices of the Spec. Its Target is always /dev.
	Dev
	// Link is a symbolic link to Source.
	Link
)

// Mount is one part of what a sandbox sees.
type Mount struct {
	Kind Kind
	// Source is an absolute path on the machine without symbolic links in it
	// (Bind), or where a Link points to.
	Source string
	// Target is an absolute path in the sandbox. What lacks of it is made, but never inside a Bind.
	Target string
	// Writable lets a Bind be written, as far as owners and modes allow.
	Writable bool
	// NoExec forbids to run programs from a Bind or Tmpfs.
	NoExec bool
	// Slave lets a Bind follow what is mounted and unmounted below Source on the
	// machine, if Share prepared it.
	Slave bool
	// Size in bytes of a Tmpfs, and of the shm of Dev.
	Size int64
}

// ownDevices are in each sandbox's /dev and are never the machine's.
var ownDevices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/fd", "/dev/stdin", "/dev/stdout",
	"/dev/stderr", "/dev/ptmx", "/dev/pts", "/dev/shm"}

// minMemory leaves room for process 1 of the sandbox, which counts too.
const minMemory = 16 << 20

// check finds what is wrong with a spec, in words.
func (s *Spec) check() error {
	if s.Program == "" || strings.ContainsRune(s.Program, 0) {
		return words.Errorf("沙箱没有要运行的程序；请给出程序名", "the sandbox has no program; name one")
	}
	for _, list := range [][]string{s.Args, s.Env, {s.Dir, s.Hostname}} {
		for _, v := range list {
			if strings.ContainsRune(v, 0) {
				return words.Errorf("沙箱的参数 %q 含有零字节；请去掉它", "%q holds a zero byte; remove it", v)
			}
		}
	}
	for _, id := range append([]int{s.UID, s.GID}, s.Groups...) {
		if id <= 0 || int64(id) >= 1<<32-1 {
			return words.Errorf("沙箱里的程序不能使用用户或组 %d；请给它一个自己的用户",
				"a program in the sandbox cannot have user or group %d; give it a user of its own", id)
		}
	}
	l := s.Limits
	if min(l.Memory, l.FileSize, l.Reserve, l.Output, int64(l.Time), int64(min(l.PIDs, l.CPU, l.Files))) < 0 {
		return words.Errorf("沙箱的限制不能是负数；请改正", "a limit of the sandbox is negative; put it right")
	}
	if s.Limits.Memory > 0 && s.Limits.Memory < minMemory {
		return words.Errorf("沙箱的内存限制至少要有 %d 字节；请调高", "the sandbox's memory limit must be at least %d bytes; raise it", int64(minMemory))
	}
	if (s.Limits.CPU > 0 || s.Limits.Memory > 0) && s.Cgroup == "" {
		return words.Errorf("没有控制组就不能限制沙箱的内存和处理器用量；请给出控制组或去掉这个限制",
			"without a control group the sandbox's memory and processor time cannot be limited; name a group or drop the limit")
	}
	if s.OOMScore < -1000 || s.OOMScore > 1000 {
		return words.Errorf("沙箱的 OOM 分数 %d 不在 -1000 到 1000 之间；请改正", "the score %d is not between -1000 and 1000; put it right", s.OOMScore)
	}
	dev := false
	for _, m := range s.View {
		if err := m.check(); err != nil {
			return err
		}
		dev = dev || m.Kind == Dev
	}
	for _, d := range s.Devices {
		own := slices.ContainsFunc(ownDevices, func(o string) bool { return d == o || strings.HasPrefix(d, o+"/") })
		if !dev || own || path.Clean(d) != d || !strings.HasPrefix(d, "/dev/") {
			return words.Errorf("沙箱的设备 %q 必须是 /dev 下的路径，不能是沙箱自己已有的，并且视图里要有 /dev；请改正",
				"the sandbox's device %q must be a path below /dev and none the sandbox has itself, and the view must have a /dev; put it right", d)
		}
	}
	return nil
}

func (m Mount) check() error {
	bad := path.Clean(m.Target) != m.Target || !path.IsAbs(m.Target) || m.Target == "/" || strings.ContainsRune(m.Target+m.Source, 0)
	switch m.Kind {
	case Bind:
		bad = bad || !path.IsAbs(m.Source)
	case Link:
		bad = bad || m.Source == ""
	case Tmpfs:
		bad = bad || m.Size <= 0
	case Dev:
		bad = bad || m.Target != "/dev" || m.Size < 0
	case Proc:
	default:
		bad = true
	}
	if bad {
		return words.Errorf("沙箱的挂载 %q（来自 %q）写得不对；请用绝对路径，内存盘要有大小",
			"the sandbox's mount %q (of %q) is not right; use absolute paths, and a size for a tmpfs", m.Target, m.Source)
	}
	return nil
}

// has tells whether the view has a mount of the kind.
func (s *Spec) has(k Kind) bool {
	for _, m := range s.View {
		if m.Kind == k {
			return true
		}
	}
	return false
}
