package mind

import (
	_ "embed"
	"fmt"
	"strings"

	"homeagent/agent/plugin"
	"homeagent/agent/provider"
)

var (
	//go:embed persona.md
	builtinPersona string
	//go:embed rules.md
	rules string
)

// maxPersona bounds personal.md, in bytes; what is beyond does not count.
const maxPersona = 32 << 10

// systemText is the system prompt: who the agent is, then the rules. It is the
// same bytes as long as persona is.
func systemText(persona string) string {
	persona = clean(persona)
	if len(persona) > maxPersona {
		persona = strings.ToValidUTF8(persona[:maxPersona], "")
	}
	if strings.TrimSpace(persona) == "" {
		persona = builtinPersona
	}
	return strings.TrimSpace(persona) + "\n\n" + strings.TrimSpace(rules) + "\n"
}

// notes is what changes from turn to turn; it goes last, so that everything
// before it stays the same for a provider's cache.
func (t *turn) notes() string {
	now := t.m.o.Now()
	var lines []string
	if t.lang == "zh" {
		lines = append(lines, fmt.Sprintf("现在是%d年%d月%d日，%s，%s。", now.Year(), now.Month(), now.Day(),
			[...]string{"星期日", "星期一", "星期二", "星期三", "星期四", "星期五", "星期六"}[now.Weekday()], now.Format("15:04（MST）")))
	} else {
		lines = append(lines, "It is "+now.Format("Monday, 2 January 2006, 15:04 (MST)")+".")
	}
	if t.line != "" {
		lines = append(lines, t.line)
	}
	if t.entry.Resumed() {
		lines = append(lines, say(t.lang,
			"处理这条消息时程序曾中断，现在接着做。已完成的调用不要重做；状态为 unknown 的可能已经发生。",
			"The agent was interrupted while it dealt with this message and goes on now. Do not repeat finished calls; those with status unknown may have happened."))
	}
	return strings.Join(lines, "\n")
}

// say picks a sentence by language.
func say(lang, zh, en string) string {
	if lang == "zh" {
		return zh
	}
	return en
}

// failureText is what the user hears when no provider has answered.
func failureText(k provider.Kind, lang string) string {
	switch k {
	case provider.Auth:
		return say(lang, "大模型不认我的密钥。请在设置里检查密钥，然后再说一遍。",
			"The language model does not accept my key. Check the key in the settings, then say it again.")
	case provider.Balance:
		return say(lang, "大模型的账户余额不足。请充值，然后再说一遍。",
			"The account of the language model has no credit left. Top it up, then say it again.")
	case provider.Invalid:
		return say(lang, "大模型不接受这个请求。请检查设置里的地址和模型名；如果只有这条消息这样，请换个说法。",
			"The language model refuses this request. Check address and model in the settings; if only this message is refused, put it differently.")
	case provider.RateLimit:
		return say(lang, "大模型说请求太多了。请过一会儿再说一遍。",
			"The language model says that there are too many requests. Say it again in a while.")
	case provider.Network:
		return say(lang, "我连不上大模型。请检查网络，然后再说一遍。",
			"I cannot reach the language model. Check the network, then say it again.")
	case provider.Silent:
		return say(lang, "大模型一直没有回答。请过一会儿再说一遍。",
			"The language model does not answer. Say it again in a while.")
	default:
		return say(lang, "大模型现在答不上来。请过一会儿再说一遍。",
			"The language model cannot answer now. Say it again in a while.")
	}
}

// emptyText is said where the model gave an answer without words. What was
// done is told, so that nobody asks for it again.
func emptyText(lang string, done []string) string {
	if len(done) > 0 {
		list := strings.Join(done, " ")
		return say(lang, "已经做了："+list+" 大模型没有再说什么。", "This was done: "+list+" The language model said nothing more.")
	}
	return say(lang, "大模型给了一个空的回答。请再说一遍，或换个说法。",
		"The language model gave an empty answer. Say it again, or put it differently.")
}

// deniedText is said where all calls were denied and the provider fell silent.
func deniedText(reason, lang string) string {
	reason = strings.TrimPrefix(reason, "denied: ")
	return say(lang, "这件事没有做，被拦下了："+reason, "This was not done, it was denied: "+reason)
}

// cancelledNote is what the context keeps of a turn that was stopped.
func cancelledNote(lang string) string {
	return say(lang, "（用户叫停了，没有做完。）", "(stopped by the user, not finished)")
}

// asideText tells that an input was set aside.
func asideText(in plugin.Input, lang string) string {
	what := short(in.Payload, 40)
	if what == "" {
		what = mediaNote(in.Media, lang)
	}
	return say(lang,
		"处理这条消息时我两次意外中断，所以先放到一边，不再重试：“"+what+"”。请换个说法再发，或到页面上看日志。",
		`I broke down twice over this message, so I have set it aside and will not try again: "`+what+`". Put it differently, or look at the log on the page.`)
}

// repeatedText marks an answer that may have been given before.
func repeatedText(text, lang string) string {
	return say(lang, "上次被打断了，可能重复："+text, "I was interrupted; this may be a repeat: "+text)
}

// mediaNote describes media that no plugin has turned into text.
func mediaNote(media []provider.Media, lang string) string {
	var parts []string
	for _, m := range media {
		name := m.Name
		if name == "" {
			name = "-"
		}
		parts = append(parts, fmt.Sprintf("%s, %s, %d KB", name, m.MIME, (len(m.Data)+1023)/1024))
	}
	list := strings.Join(parts, "; ")
	return say(lang, "（用户发来附件："+list+"。没有插件能把它变成文字。）",
		"(The user has sent: "+list+". No plugin can turn it into text.)")
}
