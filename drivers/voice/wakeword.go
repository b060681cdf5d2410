package voice

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"homeagent/agent/pcm"
	"homeagent/agent/pcm/resample"
	"homeagent/agent/pcm/wav"
	"homeagent/agent/plugin"
	"homeagent/drivers/voice/speech"
)

const (
	wordKey = "word/"
	// wordName bounds a name in characters, wordsKept the number of words.
	wordName  = 32
	wordsKept = 8
	// takesAsked are recorded where no files are sent; takesMost and takeLength
	// bound files.
	takesAsked = 3
	takesMost  = 20
	takeLength = 30 * time.Second
	takeBytes  = 16 << 20
	learnWait  = 5 * time.Minute // a slow board under load takes minutes
)

var (
	faultName    = phrase{"唤醒词的名字要有 1 到 32 个字，只用文字、数字、空格和连字符。", "A wake word's name has 1 to 32 characters: letters, digits, spaces and hyphens."}
	faultUnknown = phrase{"没有叫“%s”的唤醒词。", "There is no wake word called %q."}
	faultNoModel = phrase{"不能登记唤醒词：%s。请运行 tools/setup。", "Wake words cannot be learnt: %s. Run tools/setup."}
	faultMany    = phrase{"唤醒词最多 8 个，请先删除一个。", "There are 8 wake words, the most there can be. Delete one first."}
	faultTakes   = phrase{"请发送 1 到 20 段录音（multipart/form-data，WAV 文件），或不发文件，用麦克风录。", "Send 1 to 20 takes (multipart/form-data, WAV files), or none to record with the microphone."}
	faultTake    = phrase{"第 %d 段录音：%s", "Take %d: %s"}
	faultTakeLen = phrase{"太长，只要说一遍唤醒词（30 秒以内）。", "it is too long; it should hold the wake word once (30 seconds at most)."}
	faultLearn   = phrase{"没能学会这个唤醒词：%s。请在安静的地方重新录。", "The wake word could not be learnt: %s. Record it again in a quiet place."}
	faultNoMic   = phrase{"没有可用的麦克风。请插好，或发送录音文件。", "No microphone can be used. Plug one in, or send recordings."}
	sayTake      = phrase{"请说第 %d 遍“%s”。", "Say %[2]q, time %[1]d."}
	sayNoTake    = phrase{"没有听到，请再说一遍。", "Nothing was heard. Say it again."}
)

// words lists what was enrolled, by name.
func (p *Plugin) words() ([]Word, error) {
	var out []Word
	err := p.api.Store().List(wordKey, func(key string, v []byte) bool {
		out = append(out, Word{Name: strings.TrimPrefix(key, wordKey), Data: slices.Clone(v)})
		return true
	})
	if err != nil {
		return nil, fmt.Errorf("read wake words: %w", err)
	}
	return out, nil
}

// wakeable reports why no wake word could be heard, nil if one can.
func (p *Plugin) wakeable(words []Word) error {
	if p.opt.Wake == nil {
		return speech.ErrMissing
	}
	_, err := p.opt.Wake.Open(words)
	return err
}

// serveWake lists (GET), learns (POST NAME) and deletes (DELETE NAME) words.
func (p *Plugin) serveWake(ctx context.Context, req *plugin.Request, out plugin.Reply) error {
	if req.Method == http.MethodGet && req.Path == "" {
		words, err := p.words()
		if err != nil {
			return err
		}
		list := struct {
			Words   []string `json:"words"`
			BuiltIn string   `json:"built_in,omitempty"`
		}{Words: []string{}}
		for _, w := range words {
			list.Words = append(list.Words, w.Name)
		}
		if p.opt.Wake != nil {
			list.BuiltIn = p.opt.Wake.BuiltIn()
		}
		return writeJSON(out, list)
	}
	name, err := wakeName(req.Path)
	if err != nil {
		return fault(http.StatusBadRequest, req.Lang, faultName, err)
	}
	switch req.Method {
	case http.MethodPost:
		return p.enrol(ctx, name, req, out)
	case http.MethodDelete:
		if v, err := p.api.Store().Get(wordKey + name); err != nil {
			return err
		} else if v == nil {
			return fault(http.StatusNotFound, req.Lang, faultUnknown, nil, name)
		}
		if err := p.api.Store().Delete(wordKey + name); err != nil {
			return err
		}
		p.reloadWords()
		return writeJSON(out, struct {
			Deleted string `json:"deleted"`
		}{name})
	}
	return fault(http.StatusMethodNotAllowed, req.Lang, faultMethod, nil)
}

// wakeName cleans the name in a path.
func wakeName(path string) (string, error) {
	name, err := url.PathUnescape(path)
	if err != nil {
		return "", err
	}
	name = strings.Join(strings.Fields(strings.ToLower(name)), " ")
	if c := utf8.RuneCountInString(name); c < 1 || c > wordName || !utf8.ValidString(name) {
		return "", fmt.Errorf("%d characters", c)
	}
	for _, r := range name {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.Is(unicode.Mn, r) && r != ' ' && r != '-' {
			return "", fmt.Errorf("character %q", r)
		}
	}
	return name, nil
}

// enrol learns a word from files or from the microphone.
func (p *Plugin) enrol(ctx context.Context, name string, req *plugin.Request, out plugin.Reply) error {
	if p.opt.Wake == nil {
		return fault(http.StatusServiceUnavailable, req.Lang, faultNoModel, nil, speech.ErrMissing)
	}
	words, err := p.words()
	if err != nil {
		return err
	}
	known := slices.ContainsFunc(words, func(w Word) bool { return w.Name == name })
	if len(words) >= wordsKept && !known {
		return fault(http.StatusConflict, req.Lang, faultMany, nil)
	}
	takes, err := readTakes(ctx, req)
	if err != nil {
		return err
	}
	recorded := len(takes) == 0
	if recorded {
		if takes, err = p.record(ctx, name, req, out); err != nil {
			return p.answerLate(out, req.Lang, err)
		}
	}
	type learnt struct {
		data    []byte
		remarks func(lang string) string
	}
	word, err := bounded(ctx, learnWait, func(ctx context.Context) (l learnt, err error) {
		l.data, l.remarks, err = p.opt.Wake.Learn(ctx, name, takes)
		return l, err
	})
	if err == nil && len(word.data) == 0 {
		err = errors.New("the word is empty")
	}
	if err != nil {
		f := fault(http.StatusUnprocessableEntity, req.Lang, faultLearn, err, reason(err, req.Lang))
		if errors.Is(err, speech.ErrMissing) {
			f = fault(http.StatusServiceUnavailable, req.Lang, faultNoModel, err, reason(err, req.Lang))
		}
		if recorded {
			return p.answerLate(out, req.Lang, f)
		}
		return f
	}
	if err := p.api.Store().Put(wordKey+name, word.data); err != nil {
		if recorded {
			return p.answerLate(out, req.Lang, err)
		}
		return err
	}
	p.reloadWords()
	if !recorded {
		out.Status(http.StatusOK, ndjson)
	}
	if word.remarks != nil {
		if err := writeLine(out, Line{Event: "notice", Text: word.remarks(req.Lang)}); err != nil {
			return err
		}
	}
	return writeLine(out, Line{Event: "learnt", Text: name, Take: len(takes)})
}

// answerLate tells an error where lines have been written already.
func (p *Plugin) answerLate(out plugin.Reply, lang string, err error) error {
	var f *plugin.Fault
	text := reason(err, lang)
	if errors.As(err, &f) {
		text = f.Title
	}
	p.log.Warn("enrol", "err", err)
	return writeLine(out, Line{Event: "error", Text: text})
}

// readTakes reads the WAV files of a body; none is no error.
func readTakes(ctx context.Context, req *plugin.Request) ([][]int16, error) {
	kind, params, _ := mime.ParseMediaType(req.ContentType)
	switch {
	case kind == "multipart/form-data":
	case strings.HasPrefix(kind, "audio/"):
		take, err := readTake(ctx, req.Body, 1, req.Lang)
		if err != nil {
			return nil, err
		}
		return [][]int16{take}, nil
	default:
		// Nothing, or nothing that could be sound.
		var b [1]byte
		if req.Body == nil {
			return nil, nil
		}
		if k, err := io.ReadFull(req.Body, b[:]); k == 0 && err == io.EOF {
			return nil, nil
		} else if b[0] == '{' {
			return nil, nil // an empty JSON object of a client that always sends one
		}
		return nil, fault(http.StatusUnsupportedMediaType, req.Lang, faultTakes, fmt.Errorf("content type %q", req.ContentType))
	}
	mr := multipart.NewReader(req.Body, params["boundary"])
	var takes [][]int16
	for {
		part, err := mr.NextPart()
		if err == io.EOF {
			break
		}
		if err != nil || len(takes) == takesMost {
			return nil, fault(http.StatusBadRequest, req.Lang, faultTakes, err)
		}
		take, err := readTake(ctx, part, len(takes)+1, req.Lang)
		if err != nil {
			return nil, err
		}
		takes = append(takes, take)
	}
	return takes, nil
}

// readTake reads one WAV file as pcm.Voice.
func readTake(ctx context.Context, r io.Reader, number int, lang string) ([]int16, error) {
	bad := func(err error) error {
		return fault(http.StatusBadRequest, lang, faultTake, err, number, reason(err, lang))
	}
	file, err := wav.NewSource(io.NopCloser(io.LimitReader(r, takeBytes)))
	if err != nil {
		return nil, bad(err)
	}
	src, err := resample.NewSource(file, pcm.Voice)
	if err != nil {
		return nil, bad(err)
	}
	defer src.Close()
	var take []int16
	buf := make([]int16, 4096)
	for {
		k, err := src.Read(ctx, buf)
		take = append(take, buf[:k]...)
		if len(take) > pcm.Voice.Samples(takeLength) {
			return nil, fault(http.StatusBadRequest, lang, faultTake, nil, number, faultTakeLen.in(lang))
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, bad(err)
		}
	}
	if len(take) == 0 {
		return nil, bad(&wav.Error{Code: wav.NoSound})
	}
	return take, nil
}

// record asks for takes at the live microphone.
func (p *Plugin) record(ctx context.Context, name string, req *plugin.Request, out plugin.Reply) ([][]int16, error) {
	live := p.live
	out.Status(http.StatusOK, ndjson)
	var takes [][]int16
	for tries := 0; len(takes) < takesAsked; tries++ {
		if tries == 2*takesAsked {
			return nil, fault(http.StatusRequestTimeout, req.Lang, sayNoTake, nil)
		}
		take, res := make(chan []int16, 1), make(chan error, 1)
		number := len(takes) + 1
		if err := writeLine(out, Line{Event: "record", Take: number, Text: sprintf(sayTake.in(req.Lang), number, name)}); err != nil {
			return nil, err
		}
		if !live.do(ctx, func() { res <- live.push(take) }) {
			return nil, fault(http.StatusServiceUnavailable, req.Lang, faultEnding, nil)
		}
		select {
		case err := <-res:
			if err != nil {
				return nil, fault(http.StatusServiceUnavailable, req.Lang, faultNoMic, err)
			}
		case <-live.done:
			return nil, fault(http.StatusServiceUnavailable, req.Lang, faultEnding, nil)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		select {
		case audio, ok := <-take:
			if ok {
				takes = append(takes, audio)
				continue
			}
		case <-live.done:
			return nil, fault(http.StatusServiceUnavailable, req.Lang, faultEnding, nil)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if err := writeLine(out, Line{Event: "notice", Text: sayNoTake.in(req.Lang)}); err != nil {
			return nil, err
		}
	}
	return takes, nil
}

// reloadWords gives every session a detector with the words of now.
func (p *Plugin) reloadWords() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	p.each(func(s *session) { s.do(ctx, func() { s.openDetector() }) })
}
