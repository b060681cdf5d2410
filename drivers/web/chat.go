package web

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"homeagent/agent/plugin"
	"homeagent/drivers/web/problem"
	"homeagent/drivers/web/sse"
)

// maxBody bounds a request to chat in bytes; the door has its own, smaller one.
const maxBody = 4 << 20

var sessionName = regexp.MustCompile(`^[a-z0-9_-]{1,32}$`)

// say is the body of POST /chat.
type say struct {
	Text string `json:"text"`
	// Session names a conversation of its own within the login.
	Session string `json:"session"`
	// Lang is that of the text, "" to let the agent guess.
	Lang string `json:"lang"`
	// NoMemory keeps the whole turn out of memory.
	NoMemory bool `json:"no_memory"`
}

// chat takes an input in and follows its answer.
func (a *agent) chat(q *ask) {
	in, ok := a.readSay(q)
	if !ok {
		return
	}
	channel, source := q.channel(), "web"
	if q.local() {
		source = "console"
	}
	if in.Session != "" {
		channel += ":" + in.Session
	}
	// Whether it was taken in must not hang on the peer's patience.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(q.r.Context()), injectTime)
	defer cancel()
	lang := problem.Lang(in.Lang)
	if lang == "" && plugin.LangOf(in.Text) == "" { // nothing to guess from: the reader's own
		lang = q.lang
	}
	id, err := a.api.InjectInput(ctx, plugin.Input{
		Source: source, Type: plugin.Text, Payload: in.Text, Channel: channel,
		Lang: lang, NoMemory: in.NoMemory,
	})
	if err != nil {
		a.fault(q, err)
		return
	}
	t, _ := a.turns.open(id, channel)
	defer t.leave()
	a.send(q, id, t)
}

// readSay reads and checks the body; it has answered when it returns false.
func (a *agent) readSay(q *ask) (in say, ok bool) {
	if mt, _, err := mime.ParseMediaType(q.r.Header.Get("Content-Type")); err != nil || mt != "application/json" {
		q.fail(http.StatusUnsupportedMediaType, "not_json", wNotJSON)
		return in, false
	}
	body, err := io.ReadAll(http.MaxBytesReader(q.w, q.r.Body, maxBody))
	var big *http.MaxBytesError
	switch {
	case errors.As(err, &big):
		q.fail(http.StatusRequestEntityTooLarge, "too_big", wTooBig)
		return in, false
	case err != nil:
		q.fail(http.StatusBadRequest, "bad_body", wBadBody)
		return in, false
	case !utf8.Valid(body):
		// encoding/json would replace the bytes silently.
		q.fail(http.StatusBadRequest, "not_utf8", wNotUTF8)
		return in, false
	}
	if json.Unmarshal(body, &in) != nil {
		q.fail(http.StatusBadRequest, "bad_body", wBadBody)
		return in, false
	}
	if in.Session != "" && !sessionName.MatchString(in.Session) {
		q.fail(http.StatusUnprocessableEntity, "bad_session", wBadSession)
		return in, false
	}
	return in, true
}

// again takes the answer to an earlier input up from its beginning.
func (a *agent) again(q *ask, id string) {
	t, ok := a.turns.open(id, "")
	if !ok {
		q.fail(http.StatusNotFound, "no_answer_kept", wNoTurn)
		return
	}
	defer t.leave()
	a.send(q, id, t)
}

// send answers with the frames of a turn as they come.
func (a *agent) send(q *ask, id string, t *turn) {
	accept := q.r.Header.Get("Accept")
	if strings.Contains(accept, "application/json") && !strings.Contains(accept, sse.ContentType) {
		a.collect(q, id, t)
		return
	}
	out := sse.NewWriter(q.w)
	if out.Send("", "accepted", map[string]string{"id": id}) != nil {
		return
	}
	alive := time.NewTicker(aliveEvery)
	defer alive.Stop()
	late := time.NewTimer(answerTime)
	defer late.Stop()
	for i := 0; ; {
		frames, done, changed := t.since(i)
		for _, f := range frames {
			if out.Send("", f.name, f.data) != nil {
				return
			}
		}
		if i += len(frames); done {
			return
		}
		select {
		case <-changed:
		case <-alive.C:
			if out.Alive() != nil {
				return
			}
		case <-late.C:
			_ = out.Send("", "error", problem.New(http.StatusGatewayTimeout, "no_answer_yet", wLate, q.lang))
			return
		case <-q.r.Context().Done():
			return
		}
	}
}

// collect answers in one piece, for programs that want no stream.
func (a *agent) collect(q *ask, id string, t *turn) {
	late := time.NewTimer(answerTime)
	defer late.Stop()
	for {
		frames, done, changed := t.since(0)
		if done {
			q.reply(whole(id, frames))
			return
		}
		select {
		case <-changed:
		case <-late.C:
			q.fail(http.StatusGatewayTimeout, "no_answer_yet", wLate)
			return
		case <-q.r.Context().Done():
			return
		}
	}
}

// whole joins what was sent for an input into one answer.
func whole(id string, frames []frame) map[string]any {
	var texts, files []string
	for _, f := range frames {
		if ans, ok := f.data.(answer); ok {
			if ans.Text != "" {
				texts = append(texts, ans.Text)
			}
			files = append(files, ans.Files...)
		}
	}
	out := map[string]any{"id": id, "text": strings.Join(texts, "\n")}
	if len(files) > 0 {
		out["files"] = files
	}
	return out
}

// events sends what happens until the peer goes.
func (a *agent) events(q *ask) {
	sub, missed, gap := a.feed.open(q.channel(), q.r.Header.Get("Last-Event-ID"))
	defer a.feed.close(sub)
	out := sse.NewWriter(q.w)
	hello := map[string]any{"channel": q.channel(), "gap": gap}
	if out.Send("", "hello", hello) != nil {
		return
	}
	for _, it := range missed {
		if out.Send(it.id, it.name, it.data) != nil {
			return
		}
	}
	alive := time.NewTicker(aliveEvery)
	defer alive.Stop()
	for {
		var err error
		select {
		case it := <-sub.ch:
			err = out.Send(it.id, it.name, it.data)
		case <-alive.C:
			err = out.Alive()
		case <-q.r.Context().Done():
			return
		}
		if err == nil && sub.takeLost() {
			err = out.Send("", "lost", struct{}{})
		}
		if err != nil {
			return
		}
	}
}

// getHistory answers with a window of the history.
func (a *agent) getHistory(q *ask) {
	query := q.r.URL.Query()
	limit := 50
	if s := query.Get("limit"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 || n > maxItems {
			q.fail(http.StatusUnprocessableEntity, "bad_limit", wBadLimit)
			return
		}
		limit = n
	}
	q.reply(map[string]any{"items": a.window(q.r.Context(), limit, query.Get("before"))})
}
