package disk

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
)

var (
	// ErrTooBig is wrapped when a record is larger than MaxRecord.
	ErrTooBig = errors.New("record too big")
	// ErrBroken is wrapped when an earlier failure left the state of a Log's
	// file unknown. Rewrite, or closing and opening again, makes it usable.
	ErrBroken = errors.New("log is broken by an earlier write error")
	// ErrClosed is returned by a Log that was closed.
	ErrClosed = errors.New("log is closed")
)

// Log is an append-only file of records. It is safe for concurrent use.
//
// A record is durable when Append with sync, or a later Sync, has returned
// without error. A record whose Append failed is not in the log, except where
// the error wraps ErrBroken: then it may or may not be found at the next open.
type Log struct {
	fs   FS
	path string

	mu      sync.Mutex
	f       File
	size    int64 // bytes of whole records; the file ends here
	dropped int64
	broken  error // the failure after which the file cannot be trusted
	closed  bool
	buf     []byte
}

// OpenLog opens or creates the log at path and calls replay for each whole
// record, oldest first; replay may keep rec. Reading ends at the first bytes
// that are no whole record, as a power cut leaves them; the file is cut there
// and Dropped tells by how much. What was cut, up to 32 MiB, is kept beside
// the log as "<path>.tail" until the next cut, where the disk has room for it.
//
// An error of replay ends the opening and is returned wrapped. A nil replay
// only counts. The folder of path must exist. One process may hold a log; the
// caller sees to that.
func OpenLog(fs FS, path string, replay func(rec []byte) error) (*Log, error) {
	f, err := fs.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open log %s: %w", path, err)
	}
	l := &Log{fs: fs, path: path, f: f}
	if err := l.load(replay); err != nil {
		f.Close() // the first error is the one that matters
		return nil, fmt.Errorf("open log %s: %w", path, err)
	}
	return l, nil
}

// load replays the file, cuts its tail and leaves the offset at the end.
func (l *Log) load(replay func(rec []byte) error) error {
	end, err := l.f.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	if _, err := l.f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	r := bufio.NewReaderSize(l.f, 1<<16)
	for {
		rec, err := readFrame(r, end-l.size)
		if errors.Is(err, io.EOF) || errors.Is(err, errFrame) {
			break
		}
		if err != nil {
			return err
		}
		if replay != nil {
			if err := replay(rec); err != nil {
				return fmt.Errorf("record at byte %d: %w", l.size, err)
			}
		}
		l.size += frameHead + int64(len(rec))
	}
	if l.dropped = end - l.size; l.dropped > 0 {
		l.saveTail()
		if err := l.f.Truncate(l.size); err != nil {
			return fmt.Errorf("cut the damaged tail: %w", err)
		}
		// The cut must not come undone behind records appended later.
		if err := l.f.Sync(); err != nil {
			return fmt.Errorf("cut the damaged tail: %w", err)
		}
	}
	if _, err := l.f.Seek(l.size, io.SeekStart); err != nil {
		return err
	}
	if end == 0 {
		// Perhaps just created: without this a power cut could take the file
		// away together with records that were synced into it.
		return l.fs.SyncDir(filepath.Dir(l.path))
	}
	return nil
}

// saveTail keeps the bytes about to be cut. It is a courtesy to whoever looks
// into the damage, so its failure stops nothing.
func (l *Log) saveTail() {
	if _, err := l.f.Seek(l.size, io.SeekStart); err != nil {
		return
	}
	t, err := l.fs.OpenFile(l.path+".tail", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return
	}
	_, err = io.Copy(t, io.LimitReader(l.f, 2*MaxRecord))
	if cerr := t.Close(); err != nil || cerr != nil {
		l.fs.Remove(l.path + ".tail") // half of a courtesy helps nobody
	}
}

// Dropped is the number of bytes that opening has cut off, 0 for a sound file.
func (l *Log) Dropped() int64 { return l.dropped }

// Size is the file's length in bytes.
func (l *Log) Size() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.size
}

// usable says why the log takes no records now. The caller holds mu.
func (l *Log) usable() error {
	if l.closed {
		return fmt.Errorf("log %s: %w", l.path, ErrClosed)
	}
	if l.broken != nil {
		return fmt.Errorf("log %s: %w: %w", l.path, ErrBroken, l.broken)
	}
	return nil
}

// Append adds a record, at most MaxRecord bytes, and with sync makes it and all
// before it durable. After a failed write the log is as it was before and may
// be used on; where that could not be reached, and after a failed sync, the
// error wraps ErrBroken.
func (l *Log) Append(rec []byte, sync bool) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.usable(); err != nil {
		return err
	}
	if len(rec) > MaxRecord {
		return fmt.Errorf("log %s: %w: %d bytes, the limit is %d", l.path, ErrTooBig, len(rec), MaxRecord)
	}
	l.buf = appendFrame(l.buf[:0], rec)
	if _, err := l.f.Write(l.buf); err != nil {
		err = fmt.Errorf("log %s: append: %w", l.path, err)
		if rerr := l.retreat(); rerr != nil {
			l.broken = err
			return fmt.Errorf("%w: %w", ErrBroken, errors.Join(err, rerr))
		}
		return err
	}
	l.size += int64(len(l.buf))
	if cap(l.buf) > 1<<20 {
		l.buf = nil // one huge record must not hold its memory for ever
	}
	if sync {
		return l.syncLocked()
	}
	return nil
}

// retreat takes back what a failed write may have left behind the last record.
func (l *Log) retreat() error {
	if err := l.f.Truncate(l.size); err != nil {
		return err
	}
	_, err := l.f.Seek(l.size, io.SeekStart)
	return err
}

// Sync makes all appended records durable. After an error the kernel may have
// forgotten that the pages were never written, so a second Sync would lie; the
// log is broken then.
func (l *Log) Sync() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.usable(); err != nil {
		return err
	}
	return l.syncLocked()
}

func (l *Log) syncLocked() error {
	if err := l.f.Sync(); err != nil {
		l.broken = err
		return fmt.Errorf("log %s: %w: sync: %w", l.path, ErrBroken, err)
	}
	return nil
}

// Rewrite replaces all records by recs: a crash leaves the old or the new
// file. It also makes a broken log usable again. After an error the old
// records stand, except where it wraps ErrBroken: then either may be found at
// the next open.
func (l *Log) Rewrite(recs [][]byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return fmt.Errorf("log %s: %w", l.path, ErrClosed)
	}
	for _, rec := range recs {
		if len(rec) > MaxRecord {
			return fmt.Errorf("log %s: rewrite: %w: %d bytes, the limit is %d", l.path, ErrTooBig, len(rec), MaxRecord)
		}
	}
	tmp := l.path + ".new"
	f, size, err := l.writeNew(tmp, recs)
	if err == nil {
		err = l.fs.Rename(tmp, l.path)
	}
	if err != nil {
		if f != nil {
			f.Close()
		}
		l.fs.Remove(tmp) // best effort: the next rewrite truncates it anyway
		return fmt.Errorf("log %s: rewrite: %w", l.path, err)
	}
	l.f.Close() // the old file has no name any more; nothing of it is needed
	l.f, l.size, l.broken = f, size, nil
	if err := l.fs.SyncDir(filepath.Dir(l.path)); err != nil {
		// The name may still lead to the old file after a power cut, and
		// records appended to the new one would vanish.
		l.broken = err
		return fmt.Errorf("log %s: %w: rewrite: %w", l.path, ErrBroken, err)
	}
	return nil
}

// writeNew writes recs to a new file, syncs it and leaves it open at its end.
func (l *Log) writeNew(tmp string, recs [][]byte) (File, int64, error) {
	f, err := l.fs.OpenFile(tmp, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, 0, err
	}
	w := bufio.NewWriterSize(f, 1<<16)
	var size int64
	var buf []byte
	for _, rec := range recs {
		buf = appendFrame(buf[:0], rec)
		if _, err := w.Write(buf); err != nil {
			return f, 0, err
		}
		size += int64(len(buf))
	}
	if err := w.Flush(); err != nil {
		return f, 0, err
	}
	return f, size, f.Sync()
}

// Close closes the file without a sync of its own. Closing twice is harmless.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil
	}
	l.closed = true
	return l.f.Close()
}
