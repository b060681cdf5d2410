package openai

import (
	"errors"
	"fmt"
	"strings"
)

// Code says what went wrong.
type Code string

const (
	// Unreachable is a service that could not be connected to or broke off.
	Unreachable Code = "unreachable"
	// Slow is a service that did not answer within the deadline.
	Slow Code = "slow"
	// Key is a key that is missing, wrong or not allowed to do this (401, 403).
	Key Code = "key"
	// Limit is too many requests or no credit left (402, 429).
	Limit Code = "limit"
	// NotFound is a wrong address or an unknown model (404, or a redirect).
	NotFound Code = "not_found"
	// Refused is any other refusal of what was sent (400 to 499).
	Refused Code = "refused"
	// Broken is a service that failed by itself (500 to 599).
	Broken Code = "broken"
	// Nonsense is an answer that cannot be understood.
	Nonsense Code = "nonsense"
	// Format is sound in a format that cannot be played here.
	Format Code = "format"
)

// Error is a failed request.
type Error struct {
	// Op is "transcribe" or "speak".
	Op   string
	Code Code
	// Status is the HTTP status, 0 if none came.
	Status int
	// Detail is what the service or the network said, without the key.
	Detail string
	// Err is the cause, nil if the service itself refused.
	Err error
}

func (e *Error) Error() string {
	s := e.Op + ": " + string(e.Code)
	if e.Status != 0 {
		s += fmt.Sprintf(" (HTTP %d)", e.Status)
	}
	if e.Detail != "" {
		s += ": " + e.Detail
	}
	return s
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

var words = map[Code][2]string{
	Unreachable: {"连不上语音服务。请检查网络和 base_url。", "The speech service cannot be reached. Check the network and base_url."},
	Slow:        {"语音服务没有及时回答。请稍后再试。", "The speech service did not answer in time. Try again later."},
	Key:         {"语音服务不接受密钥。请检查设置里的密钥。", "The speech service does not accept the key. Check the key in the settings."},
	Limit:       {"语音服务的额度或频率已到上限。请稍后再试，或检查账户余额。", "The speech service's limit or credit is used up. Try again later or check the account."},
	NotFound:    {"语音服务没有这个地址或模型。请检查 base_url 和 model。", "The speech service knows no such address or model. Check base_url and model."},
	Refused:     {"语音服务拒绝了请求。请检查 model 和 voice。", "The speech service refused the request. Check model and voice."},
	Broken:      {"语音服务内部出错。请稍后再试。", "The speech service failed. Try again later."},
	Nonsense:    {"语音服务的回答无法理解。请检查 base_url 指向的是不是语音服务。", "The speech service's answer makes no sense. Check that base_url points at a speech service."},
	Format:      {"语音服务给的声音格式不能播放。请换一个能输出 WAV 的服务或模型。", "The speech service gave a sound format that cannot be played. Choose a service or model that gives WAV."},
}

// In returns a sentence for people, "zh" or else English.
func (e *Error) In(lang string) string {
	w, ok := words[e.Code]
	switch {
	case !ok:
		return e.Error()
	case lang == "zh":
		return w[0]
	}
	return w[1]
}

// codeOf maps an HTTP status.
func codeOf(status int) Code {
	switch {
	case status == 401 || status == 403:
		return Key
	case status == 402 || status == 429:
		return Limit
	case status == 404 || status == 405 || status >= 300 && status < 400:
		return NotFound
	case status == 408 || status == 504:
		return Slow
	case status >= 500:
		return Broken
	}
	return Refused
}

// clean makes a service's words fit for a log: one short line, printable, and
// without the key, which some services repeat.
func clean(s, key string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, ""))
	if key != "" { // only now: bytes that were dropped may have hidden it
		s = strings.ReplaceAll(s, key, "[key]")
	}
	if r := []rune(strings.Join(strings.Fields(s), " ")); len(r) > 300 {
		return string(r[:300]) + "…"
	} else {
		return string(r)
	}
}

// errRedirect stops the client from following one.
var errRedirect = errors.New("redirects are not followed")
