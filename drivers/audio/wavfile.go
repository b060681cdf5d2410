package audio

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"homeagent/agent/pcm"
	"homeagent/agent/pcm/pace"
	"homeagent/agent/pcm/resample"
	"homeagent/agent/pcm/wav"
	"homeagent/memory/disk"
)

const (
	// wavName is the opener's name.
	wavName = "wav"
	// silenceAfter follows a file that plays as a microphone, so that the end of
	// speech is found and an answer can be given.
	silenceAfter = 5 * time.Second
	// tick is the period of the file that plays the speaker.
	tick = 10 * time.Millisecond
)

// wavFiles is the opener of files.
type wavFiles struct {
	fs   disk.FS
	gain *Gain
}

var _ pcm.Opener = (*wavFiles)(nil)

// Devices implements pcm.Opener: files are not listed, only named.
func (w *wavFiles) Devices(context.Context) ([]pcm.Info, error) { return nil, nil }

// OpenSource implements pcm.Opener. id is the file's path.
func (w *wavFiles) OpenSource(_ context.Context, id string, want pcm.Format) (pcm.Source, error) {
	fail := func(err error) (pcm.Source, error) {
		return nil, &pcm.DeviceError{Device: wavName + ":" + id, Op: "open", Err: err}
	}
	file, err := wav.Open(id)
	if err != nil {
		return fail(err)
	}
	src, err := resample.NewSource(file, want)
	if err != nil {
		return fail(errors.Join(err, file.Close()))
	}
	return pace.NewSource(src, silenceAfter), nil
}

// OpenSink implements pcm.Opener. id is the file's path; a file that is there
// already is replaced when the sink is closed.
func (w *wavFiles) OpenSink(_ context.Context, id string, want pcm.Format) (pcm.Sink, error) {
	name := wavName + ":" + id
	fail := func(err error) (pcm.Sink, error) { return nil, &pcm.DeviceError{Device: name, Op: "open", Err: err} }
	tmp := id + ".new"
	f, err := w.fs.OpenFile(tmp, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fail(err)
	}
	out, err := wav.NewWriter(f, want)
	if err != nil {
		return fail(errors.Join(err, f.Close(), w.fs.Remove(tmp)))
	}
	r := &recorder{fs: w.fs, path: id, tmp: tmp, file: f, out: out, end: make(chan struct{})}
	r.p = newPlayback(name, want, w.gain, r.finish)
	r.p.latency = tick
	r.owned.Go(r.run)
	return r.p, nil
}

// recorder plays the part of the device for a file.
type recorder struct {
	fs        disk.FS
	path, tmp string
	file      disk.File
	out       *wav.Writer
	p         *playback
	end       chan struct{}
	owned     sync.WaitGroup
	err       error // of writing; read after the goroutine has ended
}

// run takes from the queue as much as time has passed and writes it.
func (r *recorder) run() {
	f := r.out.Format()
	block := make([]int16, f.Samples(tick))
	t := time.NewTicker(tick)
	defer t.Stop()
	begin, done := time.Now(), 0 // samples taken since begin
	for {
		select {
		case <-r.end:
			return
		case <-t.C:
		}
		for due := f.Samples(time.Since(begin)); done+len(block) <= due; done += len(block) {
			n := r.p.fill(block)
			if err := r.out.Write(block[:n]); err != nil {
				r.err = err
				r.p.gone.lose(err)
				return
			}
		}
	}
}

// finish ends the goroutine and puts the file in its place, whole or not at all.
func (r *recorder) finish() error {
	close(r.end)
	r.owned.Wait()
	err := errors.Join(r.err, r.out.Close())
	if err == nil {
		err = r.file.Sync()
	}
	err = errors.Join(err, r.file.Close())
	if err == nil {
		err = r.fs.Rename(r.tmp, r.path)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", r.path, errors.Join(err, r.fs.Remove(r.tmp)))
	}
	return r.fs.SyncDir(filepath.Dir(r.path))
}
