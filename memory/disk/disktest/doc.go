// Package disktest is a file system in memory that tells written from durable
// and can be made to fail, stop or tear at its n-th call. Tests run a program
// of writes against it once for every n, take what a power cut would have
// left, open that and look for what was acknowledged.
//
// The model is the weakest that POSIX allows: the content of a file is durable
// after File.Sync, its name after SyncDir of the folder, and what is neither
// may be there, be gone, or be there by half. Folders always exist.
package disktest
