package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"homeagent/memory/disk"
)

// output is the file that is written to. The caller sees to it that one
// goroutine at a time uses it.
type output struct {
	fs    FS
	dir   string
	max   int64
	syncs atomic.Int64

	f    disk.File
	name string
	size int64
}

const (
	prefix = "raw_"
	suffix = ".jsonl"
)

// files lists the journal's files, oldest first.
func files(fs FS, dir string) ([]string, error) {
	all, err := fs.List(dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, name := range all {
		if _, _, ok := parse(name); ok {
			names = append(names, name)
		}
	}
	return names, nil // the names sort as the times do
}

// parse takes a file's name apart.
func parse(name string) (day string, n int, ok bool) {
	rest, ok := strings.CutPrefix(name, prefix)
	if !ok {
		return "", 0, false
	}
	rest, ok = strings.CutSuffix(rest, suffix)
	if !ok {
		return "", 0, false
	}
	day, num, ok := strings.Cut(rest, "_")
	if !ok || len(day) != 8 || len(num) < 4 {
		return "", 0, false
	}
	n, err := strconv.Atoi(num)
	return day, n, err == nil && n > 0
}

// recover cuts off a torn line at the end of the newest file, leaves that file
// open, and returns the last number in the files, 0 if there is none.
func (o *output) recover() (last uint64, err error) {
	if err := o.removeUnfinished(); err != nil {
		return 0, err
	}
	names, err := files(o.fs, o.dir)
	if err != nil {
		return 0, err
	}
	for i := len(names) - 1; i >= 0; i-- {
		data, err := o.read(names[i])
		if err != nil {
			return 0, err
		}
		whole := bytes.LastIndexByte(data, '\n') + 1
		if i == len(names)-1 {
			if err := o.open(names[i], int64(whole), whole < len(data)); err != nil {
				return 0, err
			}
		}
		if last = lastSeq(data[:whole]); last > 0 {
			return last, nil
		}
	}
	return 0, nil
}

// read returns the content of a file. Files are bounded by max and one flush.
func (o *output) read(name string) ([]byte, error) {
	f, err := o.fs.OpenFile(filepath.Join(o.dir, name), os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// lastSeq is the number of the last sound line.
func lastSeq(data []byte) uint64 {
	data = bytes.TrimRight(data, "\n")
	for len(data) > 0 {
		at := bytes.LastIndexByte(data, '\n')
		if l, err := Decode(data[at+1:]); err == nil && l.Seq > 0 {
			return l.Seq
		}
		if at < 0 {
			break
		}
		data = data[:at]
	}
	return 0
}

// open opens a known file for appending behind its first size bytes.
func (o *output) open(name string, size int64, cut bool) error {
	f, err := o.fs.OpenFile(filepath.Join(o.dir, name), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	if cut {
		err = f.Truncate(size)
	}
	if err == nil {
		_, err = f.Seek(size, io.SeekStart)
	}
	if err != nil {
		f.Close()
		return fmt.Errorf("repair %s: %w", name, err)
	}
	o.f, o.name, o.size = f, name, size
	return nil
}

// write appends lines and makes them durable. After an error none of them
// counts as written; what may have reached the file is cut off, or the file is
// left behind and the next write begins another.
func (o *output) write(now time.Time, lines [][]byte) error {
	if err := o.rotate(now); err != nil {
		return err
	}
	data := bytes.Join(lines, nil)
	if _, err := o.f.Write(data); err != nil {
		return errors.Join(err, o.retreat())
	}
	o.syncs.Add(1)
	if err := o.f.Sync(); err != nil {
		// Whether the pages will ever be written is unknown now.
		return errors.Join(err, o.retreat(), o.close())
	}
	o.size += int64(len(data))
	return nil
}

// retreat cuts off what a failed write left.
func (o *output) retreat() error {
	err := o.f.Truncate(o.size)
	if err == nil {
		_, err = o.f.Seek(o.size, io.SeekStart)
	}
	if err != nil {
		return errors.Join(err, o.close())
	}
	return nil
}

// rotate makes sure that the right file is open.
func (o *output) rotate(now time.Time) error {
	today := now.Format("20060102")
	if o.f != nil {
		day, _, _ := parse(o.name)
		// A clock that was set back stays with the newer file: order matters more.
		if day >= today && o.size < o.max {
			return nil
		}
		today = max(today, day)
		if err := o.close(); err != nil {
			return err
		}
	}
	names, err := files(o.fs, o.dir)
	if err != nil {
		return err
	}
	n := 1
	if len(names) > 0 {
		if day, last, _ := parse(names[len(names)-1]); day >= today {
			today, n = day, last+1
		}
	}
	name := fmt.Sprintf("%s%s_%04d%s", prefix, today, n, suffix)
	f, err := o.fs.OpenFile(filepath.Join(o.dir, name), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	o.syncs.Add(1)
	if err := o.fs.SyncDir(o.dir); err != nil {
		f.Close()
		return err
	}
	o.f, o.name, o.size = f, name, 0
	return nil
}

func (o *output) close() error {
	if o.f == nil {
		return nil
	}
	f := o.f
	o.f, o.name, o.size = nil, "", 0
	return f.Close()
}
