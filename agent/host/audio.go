package host

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"homeagent/agent/pcm"
)

// ErrNoDevice is wrapped by a *pcm.DeviceError for a device nobody offers.
var ErrNoDevice = errors.New("no such sound device")

// audio joins the registered openers into one name space.
type audio struct{ h *Host }

var _ pcm.Devices = (*audio)(nil)

func (a *audio) openers() []opener {
	a.h.mu.RLock()
	defer a.h.mu.RUnlock()
	return a.h.reg.openers
}

// List asks every opener. One that fails does not hide the others' devices;
// its error comes back beside them.
func (a *audio) List(ctx context.Context) ([]pcm.Info, error) {
	var out []pcm.Info
	var errs []error
	for _, o := range a.openers() {
		list, err := guarded(a.h, o, func() ([]pcm.Info, error) { return o.value.Devices(ctx) })
		if err != nil {
			errs = append(errs, fmt.Errorf("sound devices of %s: %w", o.name, err))
		}
		for _, info := range list {
			if !strings.HasPrefix(info.Name, o.name+":") {
				info.Name = o.name + ":" + info.Name
			}
			out = append(out, info)
		}
	}
	return out, errors.Join(errs...)
}

// Capture opens a source; "" is the default microphone.
func (a *audio) Capture(ctx context.Context, name string, want pcm.Format) (pcm.Source, error) {
	o, id, err := a.find(ctx, name, a.h.o.Capture, pcm.Chooser.DefaultCapture, func(i pcm.Info) bool { return i.Capture })
	if err != nil {
		return nil, err
	}
	return guarded(a.h, o, func() (pcm.Source, error) { return o.value.OpenSource(ctx, id, want) })
}

// Playback opens a sink; "" is the default speaker.
func (a *audio) Playback(ctx context.Context, name string, want pcm.Format) (pcm.Sink, error) {
	o, id, err := a.find(ctx, name, a.h.o.Playback, pcm.Chooser.DefaultPlayback, func(i pcm.Info) bool { return i.Playback })
	if err != nil {
		return nil, err
	}
	return guarded(a.h, o, func() (pcm.Sink, error) { return o.value.OpenSink(ctx, id, want) })
}

// find splits a full name. The empty name is the configured default, else the
// first that an opener names, else the first device of the right direction.
func (a *audio) find(ctx context.Context, name, configured string, chosen func(pcm.Chooser) string, fits func(pcm.Info) bool) (opener, string, error) {
	asked := name
	if name == "" {
		name = configured
	}
	openers := a.openers()
	if name == "" {
		for _, o := range openers {
			if c, ok := o.value.(pcm.Chooser); ok {
				if name = chosen(c); name != "" {
					break
				}
			}
		}
	}
	if name == "" {
		list, _ := a.List(ctx) // an opener that fails has no device to offer
		for _, info := range list {
			if fits(info) {
				name = info.Name
				break
			}
		}
	}
	base, id, _ := strings.Cut(name, ":")
	for _, o := range openers {
		if o.name == base {
			return o, id, nil
		}
	}
	if asked == "" {
		asked = "default"
	}
	return opener{}, "", &pcm.DeviceError{Device: asked, Op: "open", Err: ErrNoDevice}
}

// guarded turns a panic of an opener into an error. It has no deadline of its
// own: a stream opened late would belong to nobody.
func guarded[T any](h *Host, o opener, f func() (T, error)) (v T, err error) {
	defer func() {
		if p := h.caught(o.inst, "audio device "+o.name, recover()); p != nil {
			err = &pcm.DeviceError{Device: o.name, Op: "open", Err: p}
		}
	}()
	return f()
}
