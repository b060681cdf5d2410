package chain

import (
	"errors"
	"fmt"
	"time"

	"homeagent/agent/provider"
)

func stillThinking(lang string) string {
	if lang == "en" {
		return "Still thinking…"
	}
	return "还在想…"
}

// Why says in plain words what is wrong with a provider and what to do. Of one
// that is left alone after failures it says the last failure first, because that
// is what people can mend, then when it is tried again.
func Why(e *provider.Error, lang string) string {
	if e.Kind == provider.Open {
		return whyOpen(e, lang)
	}
	if own, ok := e.OwnWords(lang); ok {
		return own
	}
	w, ok := reasons[e.Kind]
	if !ok {
		w = reasons[provider.Server]
	}
	if lang == "en" {
		return w.en
	}
	return w.zh
}

func whyOpen(e *provider.Error, lang string) string {
	w := reasons[provider.Open]
	var cause *provider.Error
	if errors.As(e.Err, &cause) && cause.Kind != provider.Open {
		w = words{Why(cause, "zh"), Why(cause, "en")}
	}
	if e.RetryAfter > 0 {
		zh, en := about(e.RetryAfter)
		w.zh += zh + "后我再试一次。"
		w.en += " I try it again in " + en + "."
	}
	if lang == "en" {
		return w.en
	}
	return w.zh
}

// about rounds up a wait to what people say of it.
func about(d time.Duration) (zh, en string) {
	switch secs, mins := int((d+10*time.Second-1)/(10*time.Second))*10, int((d+time.Minute-1)/time.Minute); {
	case secs < 60:
		return fmt.Sprintf("大约 %d 秒", secs), fmt.Sprintf("about %d seconds", secs)
	case mins == 1:
		return "大约一分钟", "about a minute"
	default:
		return fmt.Sprintf("大约 %d 分钟", mins), fmt.Sprintf("about %d minutes", mins)
	}
}

type words struct{ zh, en string }

var reasons = map[provider.Kind]words{
	provider.Auth:      {"大模型不接受这个密钥，请用 homectl llm set 重新填写。", "The language model refuses the key; set it again with homectl llm set."},
	provider.Balance:   {"大模型账户余额不足，请充值。", "The language model's account has no credit left; please top it up."},
	provider.Invalid:   {"大模型不接受这个请求，请检查配置里的模型名称和地址。", "The language model refuses the request; check its model name and address in the configuration."},
	provider.RateLimit: {"大模型说请求太多，过一会儿再试。", "The language model says there were too many requests; try again in a while."},
	provider.Server:    {"大模型的服务器出错了。", "The language model's server has an error."},
	provider.Network:   {"连不上大模型，请检查网络。", "The language model cannot be reached; check the network."},
	provider.Silent:    {"大模型一直没有回应。", "The language model does not answer."},
	provider.Malformed: {"大模型的回答无法理解。", "The language model's answer makes no sense."},
	provider.Open:      {"大模型连续出错，暂时不用它。", "The language model failed several times and is left alone for a while."},
}
