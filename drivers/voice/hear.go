package voice

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"homeagent/agent/pcm"
	"homeagent/agent/pcm/wav"
	"homeagent/agent/plugin"
)

const (
	// hearBytes and hearLength bound a recording.
	hearBytes  = 64 << 20
	hearLength = 15 * time.Minute
	// hearAtOnce bounds the recordings that are heard at one time.
	hearAtOnce = 2
	// hearSilence is how often a line comes when nothing happens.
	hearSilence = 10 * time.Second
	// hearLines bounds the lines that wait for a slow reader.
	hearLines = 1024
)

// faults of recordings, for people.
var (
	faultMethod = phrase{"这个地址不支持这种请求。", "This address does not take that kind of request."}
	faultQuery  = phrase{"参数不对：wake 只能是 required 或 skip，lang 只能是 zh、en 或 auto。", "Wrong parameter: wake is required or skip, lang is zh, en or auto."}
	faultBusy   = phrase{"已经在听两段录音，请等它们结束再试。", "Two recordings are being heard already. Wait for them to end and try again."}
	faultBytes  = phrase{"录音超过了 64 MB。请剪短，或转换成 16 kHz 单声道再试。", "The recording is larger than 64 MB. Make it shorter, or convert it to 16 kHz mono, and try again."}
	faultLength = phrase{"录音长 %s，超过了 15 分钟。请剪短后再试。", "The recording lasts %s, more than 15 minutes. Make it shorter and try again."}
	faultStore  = phrase{"没能暂存录音，磁盘可能满了。请清理空间后再试。", "The recording could not be stored for hearing. The disk may be full; free some space and try again."}
	faultBody   = phrase{"录音没有传完，请再试一次。", "The recording did not arrive whole. Try again."}
	faultNoWake = phrase{"没有可用的唤醒词：%s。请先登记一个，或加上 wake=skip。", "There is no wake word: %s. Enrol one first, or use wake=skip."}
	faultEnding = phrase{"语音正在停止，请稍后再试。", "The voice path is stopping. Try again later."}
	noteSilent  = phrase{"录音里只有静音。", "There is nothing but silence in the recording."}
)

// fault makes an error for the person who asked.
func fault(status int, lang string, p phrase, err error, args ...any) *plugin.Fault {
	title := p.in(lang)
	if len(args) > 0 {
		title = sprintf(title, args...)
	}
	return &plugin.Fault{Status: status, Title: title, Err: err}
}

// serveHear plays a recording into the microphone path in real time.
func (p *Plugin) serveHear(ctx context.Context, req *plugin.Request, out plugin.Reply) error {
	if req.Method != http.MethodPost {
		return fault(http.StatusMethodNotAllowed, req.Lang, faultMethod, nil)
	}
	need, lang := req.Query.Get("wake"), req.Query.Get("lang")
	if need != "" && need != "required" && need != "skip" || lang != "" && lang != "zh" && lang != "en" && lang != "auto" {
		return fault(http.StatusBadRequest, req.Lang, faultQuery, nil)
	}
	s, err := p.newHearing(req.Lang)
	if err != nil {
		return err
	}
	defer p.endHearing()
	if lang != "" {
		s.lang = lang
	}
	words, err := p.words()
	if err != nil {
		return err
	}
	s.open = need == "skip" || need == "" && len(words) == 0
	if !s.open {
		if err := p.wakeable(words); err != nil {
			return fault(http.StatusConflict, req.Lang, faultNoWake, err, reason(err, req.Lang))
		}
	}
	path, length, notices, err := p.keep(ctx, req)
	if err != nil {
		return err
	}
	defer os.Remove(path)
	s.whole = n(length)
	out.Status(http.StatusOK, ndjson)
	for _, n := range notices {
		if err := writeLine(out, Line{Event: "notice", Text: n}); err != nil {
			return nil // nobody is there any more
		}
	}
	return p.play(ctx, s, path, out)
}

// newHearing makes the session of a recording, if there is room for one.
func (p *Plugin) newHearing(lang string) (*session, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.started {
		return nil, fault(http.StatusServiceUnavailable, lang, faultEnding, nil)
	}
	if p.atOnce >= hearAtOnce {
		return nil, fault(http.StatusServiceUnavailable, lang, faultBusy, nil)
	}
	p.atOnce++
	p.hearings++
	s := newSession(p, fmt.Sprintf("hear-%d", p.hearings))
	s.micState = "" // a recording is never deaf
	t := &tape{}
	s.mouth = newMouth(p.synths, func(_ context.Context, f pcm.Format) (pcm.Sink, error) { return t.sink(f) })
	s.mouth.tape = t
	if lang == "zh" || lang == "en" {
		s.own = lang
	}
	return s, nil
}

func (p *Plugin) endHearing() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.atOnce--
}

// keep writes the body to a temporary file and looks through it, so that what
// is wrong with it is told before anything is heard.
func (p *Plugin) keep(ctx context.Context, req *plugin.Request) (path string, length time.Duration, notices []string, err error) {
	f, err := os.CreateTemp(p.opt.TempDir, "hear-*.wav")
	if err != nil {
		return "", 0, nil, fault(http.StatusInsufficientStorage, req.Lang, faultStore, err)
	}
	defer func() {
		f.Close()
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	body := &counted{r: io.LimitReader(req.Body, hearBytes+1), ctx: ctx}
	if _, err := io.Copy(f, body); err != nil {
		if body.err != nil {
			return "", 0, nil, fault(http.StatusBadRequest, req.Lang, faultBody, err)
		}
		return "", 0, nil, fault(http.StatusInsufficientStorage, req.Lang, faultStore, err)
	}
	if body.n > hearBytes {
		return "", 0, nil, fault(http.StatusRequestEntityTooLarge, req.Lang, faultBytes, nil)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return "", 0, nil, fault(http.StatusInsufficientStorage, req.Lang, faultStore, err)
	}
	length, notices, err = inspect(ctx, f, req.Lang)
	return f.Name(), length, notices, err
}

// counted counts a body's bytes and remembers its own error, which is not the disk's.
type counted struct {
	r   io.Reader
	ctx context.Context
	n   int64
	err error
}

func (c *counted) Read(b []byte) (int, error) {
	if c.err = c.ctx.Err(); c.err != nil {
		return 0, c.err
	}
	n, err := c.r.Read(b)
	c.n += int64(n)
	if err != io.EOF {
		c.err = err
	}
	return n, err
}

// inspect reads a recording to its end: its true length, whether it is whole,
// whether there is anything to hear.
func inspect(ctx context.Context, r io.Reader, lang string) (length time.Duration, notices []string, err error) {
	bad := func(err error) error {
		var w *wav.Error
		if errors.As(err, &w) {
			return &plugin.Fault{Status: http.StatusBadRequest, Title: w.In(lang), Err: err}
		}
		return err
	}
	rd, err := wav.NewReader(r)
	if err != nil {
		return 0, nil, bad(err)
	}
	buf := make([]int16, 16384)
	var frames int64
	silent := true
	for {
		n, err := rd.ReadMono(buf)
		frames += int64(n)
		silent = silent && !loud(buf[:n])
		// Counted in frames, not in what the header claims.
		if d := rd.Format().Duration(int(frames) * rd.Format().Channels); d > hearLength {
			if left := rd.Info().Frames; left > frames {
				d = rd.Format().Duration(int(left) * rd.Format().Channels)
			}
			return 0, nil, fault(http.StatusRequestEntityTooLarge, lang, faultLength, nil, d.Round(time.Second))
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return 0, nil, bad(err)
		}
		if err := ctx.Err(); err != nil {
			return 0, nil, err
		}
	}
	if frames == 0 {
		return 0, nil, bad(&wav.Error{Code: wav.NoSound})
	}
	if n := rd.Notice(); n != nil {
		notices = append(notices, n.In(lang))
	}
	if silent {
		notices = append(notices, noteSilent.in(lang))
	}
	return rd.Format().Duration(int(frames) * rd.Format().Channels), notices, nil
}

// play runs the session and passes on what it tells until it has ended.
func (p *Plugin) play(ctx context.Context, s *session, path string, out plugin.Reply) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	lines := make(chan Line, hearLines)
	s.lines = func(l Line) {
		select {
		case lines <- l:
		default:
			cancel() // the reader has stopped reading
		}
	}
	s.mic = newMicrophone(p.capture("wav:"+path), true)
	p.mu.Lock()
	if !p.started {
		p.mu.Unlock()
		return fault(http.StatusServiceUnavailable, s.own, faultEnding, nil)
	}
	defer context.AfterFunc(p.ctx, cancel)()
	p.launch(ctx, s)
	p.mu.Unlock()
	defer func() {
		cancel()
		<-s.done
	}()
	alive := time.NewTicker(hearSilence)
	defer alive.Stop()
	for {
		var l Line
		select {
		case l = <-lines:
			alive.Reset(hearSilence)
		case <-alive.C:
			l = Line{Event: "alive"}
		case <-s.done:
			for len(lines) > 0 {
				if writeLine(out, <-lines) != nil {
					return nil
				}
			}
			if ctx.Err() == nil {
				writeLine(out, Line{Event: "end"}) // nobody to tell if it fails
			}
			return nil
		}
		if err := writeLine(out, l); err != nil {
			return nil // the client has left; the session ends with it
		}
	}
}
