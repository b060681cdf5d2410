package pack

import (
	"fmt"
	"io"
	"strings"
)

// File modes of cpio entries, as stat(2) has them.
const (
	ModeDir  = 0o040000
	ModeFile = 0o100000
	ModeLink = 0o120000
	ModeChar = 0o020000
)

// Entry is one file of a cpio archive; Mode has the type in it.
type Entry struct {
	Name         string // without a leading slash
	Mode         uint32
	Major, Minor uint32 // of a character device
	Data         []byte // content, or where a link leads
}

// Cpio writes archives for the kernel.
type Cpio struct {
	w     io.Writer
	mtime int64
	inode uint32
	wrote int64
	err   error
}

// NewCpio returns a writer whose entries all bear one time.
func NewCpio(w io.Writer, mtime int64) *Cpio { return &Cpio{w: w, mtime: mtime} }

const trailer = "TRAILER!!!"

// Add writes one entry; folders must come before what is in them.
func (c *Cpio) Add(e Entry) error {
	if e.Name == "" || strings.HasPrefix(e.Name, "/") || strings.ContainsRune(e.Name, 0) || e.Name == trailer {
		return fmt.Errorf("cpio: bad name %q", e.Name)
	}
	c.inode++
	c.entry(e, c.mtime)
	return c.err
}

// Close writes the end of the archive.
func (c *Cpio) Close() error {
	c.inode = 0
	c.entry(Entry{Name: trailer}, 0)
	for c.wrote%512 != 0 && c.err == nil {
		c.write(make([]byte, 512-c.wrote%512))
	}
	return c.err
}

func (c *Cpio) entry(e Entry, mtime int64) {
	links := 1
	if e.Mode&ModeDir != 0 && e.Mode&^0o7777 == ModeDir {
		links = 2
	}
	// magic, inode, mode, uid, gid, links, mtime, size, device of the file,
	// device it stands for, length of the name, checksum
	c.write(fmt.Appendf(nil, "070701%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X",
		c.inode, e.Mode, 0, 0, links, mtime, len(e.Data), 0, 0, e.Major, e.Minor, len(e.Name)+1, 0))
	c.write([]byte(e.Name + "\x00"))
	c.pad()
	c.write(e.Data)
	c.pad()
}

func (c *Cpio) pad() { c.write(make([]byte, (4-c.wrote%4)%4)) }

func (c *Cpio) write(b []byte) {
	if c.err != nil {
		return
	}
	n, err := c.w.Write(b)
	c.wrote += int64(n)
	if err != nil {
		c.err = fmt.Errorf("cpio: %w", err)
	}
}
