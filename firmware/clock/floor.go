package clock

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"homeagent/firmware/words"
	"homeagent/memory/disk"
)

// Clock is a clock that can be set.
type Clock interface {
	Now() time.Time
	Set(time.Time) error
}

// horizon is how long after the build a time is still believed.
const horizon = 30 * 365 * 24 * time.Hour

// sane tells whether a box built then can live now. Without a build time
// nothing before 2020 is believed either.
func sane(t, build time.Time) bool {
	if build.IsZero() {
		build = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	return !t.Before(build) && t.Before(build.Add(horizon))
}

// Result is what Floor found and did.
type Result struct {
	// Before is what the kernel said, After what the clock says now.
	Before, After time.Time
	// Source is "kernel", "build" or "saved": whose time was the latest.
	Source string
	// Notes tell what was not believed or did not work.
	Notes []words.Text
}

// Floor sets the clock to the latest of the kernel's time, the build time and
// the time saved in the file; a zero build time is none. A clock that cannot be
// set is told in the notes.
func Floor(c Clock, build time.Time, saved string) Result {
	now := c.Now()
	r := Result{Before: now, After: now, Source: "kernel"}
	best := now
	trusted := build.IsZero() || now.Before(build.Add(horizon))
	if !trusted {
		r.Notes = append(r.Notes, words.Format("时钟说现在是 %s，太远的将来，没有采信", "the clock says %s, too far ahead to be believed", day(now)))
	}
	if !build.IsZero() && (!trusted || build.After(best)) {
		best, r.Source, trusted = build, "build", true
	}
	t, err := Load(saved)
	switch {
	case errors.Is(err, os.ErrNotExist):
	case err != nil:
		r.Notes = append(r.Notes, words.Format("上次保存的时间读不出来（%v），没有用上；几分钟后会重新保存",
			"the time saved last cannot be read (%v) and is not used; it is saved anew in a few minutes", err))
	case !build.IsZero() && !t.Before(build.Add(horizon)), build.IsZero() && !sane(t, build):
		r.Notes = append(r.Notes, words.Format("上次保存的时间是 %s，不合情理，没有采信", "the time saved last is %s, which cannot be and is not believed", day(t)))
	case t.After(best):
		best, r.Source = t, "saved"
	}
	if r.Source == "kernel" {
		return r
	}
	if err := c.Set(best); err != nil {
		r.Source = "kernel"
		r.Notes = append(r.Notes, words.Format("时钟拨不动（%v）；时间可能不对，安全连接会因此失败", "the clock cannot be set (%v); the time may be wrong, and secure connections fail then", err))
		return r
	}
	r.After = best
	return r
}

func day(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// maxSaved bounds the file of the saved time in bytes.
const maxSaved = 64

// Save keeps the time in the file.
func Save(path string, t time.Time) error { return save(disk.OS{}, path, t) }

func save(fs disk.FS, path string, t time.Time) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("save the time: %w", err)
	}
	return disk.WriteFileFS(fs, path, []byte(t.UTC().Format(time.RFC3339)+"\n"), 0o644)
}

// Load reads a saved time. The error wraps os.ErrNotExist where there is none.
func Load(path string) (time.Time, error) {
	f, err := os.Open(path)
	if err != nil {
		return time.Time{}, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxSaved))
	if err != nil {
		return time.Time{}, err
	}
	return Parse(b)
}

// Parse reads the text of a saved time.
func Parse(b []byte) (time.Time, error) {
	text := strings.TrimSpace(string(b))
	if text == "" {
		return time.Time{}, words.Errorf("文件是空的", "the file is empty")
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}, words.Errorf("里面不是时间", "it holds no time")
	}
	return t.UTC(), nil
}
