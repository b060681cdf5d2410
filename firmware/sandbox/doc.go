// Package sandbox runs a program with nothing but what it is given: a root made
// of a list of mounts, an own user, limits, descriptors. It needs root and a
// kernel with namespaces, seccomp and the mount calls of Linux 5.12; where
// anything of it cannot be had, Start fails and nothing has run.
//
// Start executes the running binary anew as "NAME sandbox"; that binary's main
// calls Main first thing when it sees the word. The new process is born into
// mount, pid, ipc, uts and, unless Spec.Network, net namespaces (and into its
// control group). It builds the root on a tmpfs, moves into it and lets go of
// the old one; closes its own descriptors to what it starts; takes the user's
// ids; empties every set of capabilities, the bounding set included; sets
// no_new_privs; and loads an allow list of system calls (policy.go). Then it
// starts the program and stays as the process 1 of the sandbox: it reaps
// orphans, counts output where that is limited, and reports how the program
// ended. With process 1 everything in the sandbox ends: with the program, with
// Kill, with the context, with a limit, and with the supervisor, whose end of
// the socket between them falls shut.
//
// What comes out of a sandbox is data of its program: the exit status, what it
// wrote to descriptors, what it did to writable mounts.
//
// # The file system
//
// Nothing of the machine is visible but the mounts of Spec.View, in their
// order. They are read-only unless Writable, never honour set-user-ID bits, and
// have no devices but the ones of /dev. A Source must not run through a
// symbolic link, so that nothing a program planted in a writable folder can
// lead a later sandbox elsewhere; System resolves its own. What other programs
// mount later does not appear, except below a mount that is a Slave of a folder
// that Share prepared. Such a late mount keeps its own flags: whoever makes it
// sets nosuid, nodev and read-only.
//
// # Caveats
//
// With Network the sandbox has the machine's network, the ports of its loopback
// included. Unix sockets and listening are then refused (LocalSockets allows
// them), as the names in the abstract space are those of the machine too. A
// socket for datagrams can still be bound to a port that is free.
//
// Memory and processor time are limited by a control group only, so a spec that
// limits them must name one. /proc/self/mountinfo names the folders that the mounts come from.
package sandbox
