package sandbox

// allowedCalls are the system calls that programs live by: files, memory,
// processes, signals, time, sockets that exist, events. Names that an
// architecture does not have are passed over; newfstatat is fstatat on arm64. Calls whose arguments are looked
// at are in policy.
var allowedCalls = []string{
	// files and folders
	"access", "chdir", "chmod", "chown", "close", "close_range", "copy_file_range", "creat", "dup", "dup2", "dup3",
	"faccessat", "faccessat2", "fadvise64", "fallocate", "fchdir", "fchmod", "fchmodat", "fchmodat2", "fchown", "fchownat",
	"fcntl", "fdatasync", "fgetxattr", "flistxattr", "flock", "fremovexattr", "fsetxattr", "fstat", "fstatat", "fstatfs", "fsync",
	"ftruncate", "futimesat", "getcwd", "getdents", "getdents64", "getxattr", "getxattrat", "lchown", "lgetxattr",
	"link", "linkat", "listxattr", "listxattrat", "llistxattr", "lremovexattr", "lseek", "lsetxattr", "lstat", "mkdir",
	"mkdirat", "newfstatat", "open", "openat", "openat2", "pread64", "preadv", "preadv2", "pwrite64", "pwritev", "pwritev2",
	"read", "readahead", "readlink", "readlinkat", "readv", "removexattr", "removexattrat", "rename", "renameat", "renameat2",
	"rmdir", "sendfile", "setxattr", "setxattrat", "splice", "stat", "statfs", "statx", "symlink", "symlinkat", "sync",
	"sync_file_range", "syncfs", "tee", "truncate", "umask", "unlink", "unlinkat", "utime", "utimensat", "utimes", "vmsplice",
	"write", "writev", "pipe", "pipe2",
	// memory
	"brk", "cachestat", "get_mempolicy", "madvise", "map_shadow_stack", "membarrier", "memfd_create", "mincore", "mlock",
	"mlock2", "mlockall", "mmap", "mprotect", "mremap", "mseal", "msync", "munlock", "munlockall", "munmap", "pkey_alloc",
	"pkey_free", "pkey_mprotect", "remap_file_pages",
	// processes and threads
	"arch_prctl", "capget", "capset", "execve", "execveat", "exit", "exit_group", "fork", "futex", "futex_requeue",
	"futex_wait", "futex_waitv", "futex_wake", "get_robust_list", "get_thread_area", "getcpu", "getegid", "geteuid", "getgid",
	"getgroups", "getpgid", "getpgrp", "getpid", "getppid", "getpriority", "getrandom", "getresgid", "getresuid", "getrlimit",
	"getrusage", "getsid", "gettid", "getuid", "ioprio_get", "ioprio_set", "landlock_add_rule", "landlock_create_ruleset",
	"landlock_restrict_self", "pidfd_open", "prctl", "prlimit64", "restart_syscall", "rseq",
	"sched_get_priority_max", "sched_get_priority_min", "sched_getaffinity", "sched_getattr", "sched_getparam",
	"sched_getscheduler", "sched_rr_get_interval", "sched_setaffinity", "sched_setattr", "sched_setparam",
	"sched_setscheduler", "sched_yield", "seccomp", "set_robust_list", "set_thread_area", "set_tid_address", "setfsgid",
	"setfsuid", "setgid", "setgroups", "setpgid", "setpriority", "setregid", "setresgid", "setresuid", "setreuid",
	"setrlimit", "setsid", "setuid", "sysinfo", "times", "uname", "vfork", "wait4", "waitid",
	// signals
	"kill", "pause", "pidfd_send_signal", "rt_sigaction", "rt_sigpending", "rt_sigprocmask", "rt_sigqueueinfo",
	"rt_sigreturn", "rt_sigsuspend", "rt_sigtimedwait", "rt_tgsigqueueinfo", "sigaltstack", "signalfd", "signalfd4",
	"tgkill", "tkill",
	// time
	"alarm", "clock_getres", "clock_gettime", "clock_nanosleep", "getitimer", "gettimeofday", "nanosleep", "setitimer",
	"time", "timer_create", "timer_delete", "timer_getoverrun", "timer_gettime", "timer_settime", "timerfd_create",
	"timerfd_gettime", "timerfd_settime",
	// sockets; socket, socketpair and listen are in policy
	"accept", "accept4", "bind", "connect", "getpeername", "getsockname", "getsockopt", "recvfrom", "recvmmsg", "recvmsg",
	"sendmmsg", "sendmsg", "sendto", "setsockopt", "shutdown",
	// events
	"epoll_create", "epoll_create1", "epoll_ctl", "epoll_ctl_old", "epoll_pwait", "epoll_pwait2", "epoll_wait",
	"epoll_wait_old", "eventfd", "eventfd2", "inotify_add_watch", "inotify_init", "inotify_init1", "inotify_rm_watch",
	"io_cancel", "io_destroy", "io_getevents", "io_pgetevents", "io_setup", "io_submit", "poll", "ppoll", "pselect6", "select",
	// System V and POSIX communication, within the namespace
	"mq_getsetattr", "mq_notify", "mq_open", "mq_timedreceive", "mq_timedsend", "mq_unlink", "msgctl", "msgget", "msgrcv",
	"msgsnd", "semctl", "semget", "semop", "semtimedop", "shmat", "shmctl", "shmdt", "shmget",
}

// refusedCalls are known and fail with EPERM. Most need a capability that
// nobody in a sandbox has; the list is the second lock. clone3 is missing on
// purpose: it keeps its flags where a filter cannot look, and libraries that are
// told ENOSYS use clone instead.
var refusedCalls = []string{
	// mounts, namespaces, roots
	"chroot", "fsconfig", "fsmount", "fsopen", "fspick", "listmount", "mount", "mount_setattr", "move_mount",
	"open_tree", "open_tree_attr", "pivot_root", "setns", "statmount", "umount2", "unshare",
	// other processes
	"kcmp", "perf_event_open", "pidfd_getfd", "process_madvise", "process_mrelease", "process_vm_readv", "process_vm_writev",
	"ptrace", "migrate_pages", "move_pages",
	// the kernel itself
	"add_key", "bpf", "delete_module", "finit_module", "init_module", "kexec_file_load", "kexec_load", "keyctl",
	"lookup_dcookie", "request_key", "syslog", "userfaultfd", "io_uring_enter", "io_uring_register", "io_uring_setup",
	"iopl", "ioperm", "modify_ldt", "vm86", "vm86old",
	// the machine
	"acct", "adjtimex", "clock_adjtime", "clock_settime", "quotactl", "quotactl_fd", "reboot", "setdomainname", "sethostname",
	"settimeofday", "swapoff", "swapon", "vhangup", "nfsservctl",
	// files by handle, marks on whole file systems
	"fanotify_init", "fanotify_mark", "name_to_handle_at", "open_by_handle_at",
	// what policy allows to some
	"listen",
}
