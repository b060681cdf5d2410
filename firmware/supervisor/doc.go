// Package supervisor starts the processes of the house, watches them, brings
// back what ends, and answers the control socket. It owns config.yaml, the
// secrets and the lock of the data folder.
//
// A Supervisor runs once: Run takes the lock, starts door and agent, and
// returns when its context has ended and both are gone (SIGTERM, then SIGKILL
// after 4 s). Children die with the supervisor even if it is killed. Each child
// has one goroutine that owns it; state shared with the control socket is
// behind one mutex.
//
// On an appliance it is root and the two processes run under users of their
// own, without capabilities and unable to gain any. Then the data and the run
// folder are sticky and root's: each process makes its own files there and
// touches nobody else's; owners are put right at each start (owners.go). The
// log goes to a bounded file behind a queue that never waits (logfile.go), the
// setup code is copied to the card's first partition (mirror.go), and memory is
// shared out by what the machine has (memory.go). A machine without a network
// says so in Status (network.go).
//
// It knows nothing of what the agent does. Namespaces, watchdog, Wi-Fi,
// snapshots and updates are not here; Status says so in words.
package supervisor
