package rest

import (
	"fmt"
	"strings"
)

// Code says what went wrong.
type Code string

const (
	Unreachable Code = "unreachable" // not connected, or broken off
	Slow        Code = "slow"        // no answer within the deadline
	Key         Code = "key"         // missing, wrong, or not allowed to (401, 403)
	Limit       Code = "limit"       // too many requests or no credit (402, 429)
	NotFound    Code = "not_found"   // a wrong address or an unknown model (404, a redirect)
	Refused     Code = "refused"     // any other refusal (400 to 499)
	Broken      Code = "broken"      // the server failed (500 to 599)
	Nonsense    Code = "nonsense"    // an answer that makes no sense
)

// Error is a request that failed, after the last try.
type Error struct {
	Code Code
	// Status is the HTTP status, 0 if none came.
	Status int
	// Detail is what the server said, one short line without the key.
	Detail string
	// Err is the cause, nil if the server itself refused.
	Err error
}

func (e *Error) Error() string {
	s := "embed: " + string(e.Code)
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

// again tells whether a second try may help.
func (e *Error) again() bool {
	return e.Code == Unreachable || e.Code == Broken || e.Code == Limit && e.Status == 429
}

// In is a sentence for people, "zh" or else English.
func (e *Error) In(lang string) string {
	w, ok := map[Code][2]string{
		Unreachable: {"连不上向量服务，请检查网络和 embed 里的 base_url。", "The embedding server cannot be reached; check the network and base_url of embed."},
		Slow:        {"向量服务没有及时回答，稍后会自动重试。", "The embedding server did not answer in time; it is tried again later."},
		Key:         {"向量服务不接受密钥，请检查 embed 里的 key。", "The embedding server does not accept the key; check key of embed."},
		Limit:       {"向量服务的额度或频率已到上限，稍后会自动重试；请检查账户余额。", "The embedding server's limit or credit is used up; it is tried again later, check the account."},
		NotFound:    {"向量服务没有这个地址或模型，请检查 embed 里的 base_url 和 model。", "The embedding server knows no such address or model; check base_url and model of embed."},
		Refused:     {"向量服务拒绝了请求，请检查 embed 里的 model。", "The embedding server refused the request; check model of embed."},
		Broken:      {"向量服务内部出错，稍后会自动重试。", "The embedding server failed; it is tried again later."},
		Nonsense:    {"向量服务的回答无法理解，请检查 base_url 指向的是不是向量服务。", "The embedding server's answer makes no sense; check that base_url points at one."},
	}[e.Code]
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
	case status >= 500:
		return Broken
	}
	return Refused
}

// clean makes a server's words fit for a log: one short printable line without
// the key, which some servers repeat.
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
	r := []rune(strings.Join(strings.Fields(s), " "))
	if len(r) > 200 {
		r = append(r[:200], '…')
	}
	return string(r)
}
