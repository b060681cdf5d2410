package offline

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"homeagent/agent/home"
	"homeagent/agent/intent"
	"homeagent/agent/provider"
	"homeagent/agent/provider/providertest"
	"homeagent/agent/tool"
)

// afternoon is a Monday, 15:20, in Shanghai.
var afternoon = time.Date(2026, 11, 30, 15, 20, 0, 0, time.FixedZone("CST", 8*3600))

// builtinSet is made once: sets are immutable.
var builtinSet = sync.OnceValues(func() (*intent.Set, error) { return intent.Default(home.Default()) })

func set(t testing.TB) *intent.Set {
	t.Helper()
	s, err := builtinSet()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func fixed(t testing.TB, change ...func(*Options)) *Provider {
	t.Helper()
	o := Options{Intents: set(t), Now: func() time.Time { return afternoon }}
	for _, c := range change {
		c(&o)
	}
	return New(o)
}

// tools are those that the default intents use.
func tools() []tool.Def {
	var out []tool.Def
	for _, n := range []string{"virtual_set", "timer_set", "timer_list", "timer_cancel", "volume_set", "volume_change", "memory_recall", "memory_commit", "memory_purge"} {
		out = append(out, tool.Def{Name: n, Parameters: json.RawMessage(`{"type":"object"}`)})
	}
	return out
}

func user(text string) provider.Message {
	return provider.Message{Role: provider.User, Content: text}
}

func TestConformance(t *testing.T) {
	providertest.Conformance(t, func(t *testing.T) provider.Provider { return fixed(t) })
}

// A turn is played as the mind plays it: calls, their results, the answer.
func TestTurns(t *testing.T) {
	done := func(text string) tool.Result { return tool.Result{Status: tool.Done, Text: text} }
	for _, row := range []struct {
		name, text string
		calls      []string // "tool {args}"
		results    []tool.Result
		answer     string
	}{
		{"time en", "What time is it?", nil, nil, "It is 3:20 PM."},
		{"time zh", "现在几点了", nil, nil, "现在是下午三点二十分。"},
		{"date en", "what's the date today", nil, nil, "Today is Monday, November 30, 2026."},
		{"date zh", "今天星期几", nil, nil, "今天是2026年11月30日，星期一。"},
		{"tomorrow zh", "明天几号", nil, nil, "明天是2026年12月1日，星期二。"},
		{"on en", "turn on the living room lamp", []string{`virtual_set {"name":"living_room_lamp","state":"on"}`},
			[]tool.Result{done("ok")}, "The living room lamp is on."},
		{"on zh", "打开客厅灯", []string{`virtual_set {"name":"living_room_lamp","state":"on"}`}, []tool.Result{done("ok")}, "客厅灯打开了。"},
		{"off zh", "把卧室的灯关了", []string{`virtual_set {"name":"bedroom_lamp","state":"off"}`}, []tool.Result{done("ok")}, "卧室灯关掉了。"},
		{"two lamps, one fails", "turn off the kitchen and bedroom lights",
			[]string{`virtual_set {"name":"kitchen_lamp","state":"off"}`, `virtual_set {"name":"bedroom_lamp","state":"off"}`},
			[]tool.Result{done("ok"), {Status: tool.Failed, Text: "it is unplugged"}},
			"The kitchen lamp is off. I could not turn off the bedroom lamp: it is unplugged."},
		{"all of them zh", "把所有的灯打开",
			[]string{`virtual_set {"name":"living_room_lamp","state":"on"}`, `virtual_set {"name":"kitchen_lamp","state":"on"}`, `virtual_set {"name":"bedroom_lamp","state":"on"}`},
			[]tool.Result{done(""), done(""), done("")}, "客厅灯、厨房灯和卧室灯都打开了。"},
		{"failed zh", "打开客厅灯", []string{`virtual_set {"name":"living_room_lamp","state":"on"}`},
			[]tool.Result{{Status: tool.Failed, Text: "已拔出"}}, "没能打开客厅灯：已拔出。"},
		{"denied en", "turn on the kitchen lamp", []string{`virtual_set {"name":"kitchen_lamp","state":"on"}`},
			[]tool.Result{{Status: tool.Denied, Text: "not at night"}}, "I was not allowed to turn on the kitchen lamp: not at night."},
		{"unknown zh", "打开客厅灯", []string{`virtual_set {"name":"living_room_lamp","state":"on"}`},
			[]tool.Result{{Status: tool.Unknown, Text: "crash"}}, "不确定有没有打开客厅灯，请看一下再说。"},
		{"unknown en", "turn on the kitchen lamp", []string{`virtual_set {"name":"kitchen_lamp","state":"on"}`},
			[]tool.Result{{Status: tool.Unknown}}, "I do not know whether I did turn on the kitchen lamp; please check."},
		{"not run en", "turn on the kitchen lamp", []string{`virtual_set {"name":"kitchen_lamp","state":"on"}`},
			[]tool.Result{{Status: tool.NotRun}}, "I did not turn on the kitchen lamp, because the turn ended first."},
		{"timer en", "set a pasta timer for 10 minutes", []string{`timer_set {"label":"pasta","seconds":600}`}, []tool.Result{done("")}, "The pasta timer is set for 10 minutes."},
		{"timer zh", "计时一个半小时", []string{`timer_set {"seconds":5400}`}, []tool.Result{done("")}, "开始计时1小时30分钟。"},
		{"reminder zh", "十分钟后提醒我关火", []string{`timer_set {"label":"关火","seconds":600}`}, []tool.Result{done("")}, "好，10分钟后提醒你关火。"},
		{"reminder at a time", "remind me to call Mom at 5 pm", []string{`timer_set {"label":"call Mom","seconds":6000}`}, []tool.Result{done("")}, "OK, I will remind you at 5:00 PM: call Mom."},
		{"reminder tomorrow zh", "明天早上七点叫我起床", []string{`timer_set {"label":"起床","seconds":56400}`}, []tool.Result{done("")}, "好，明天早上七点提醒你起床。"},
		{"reminder in the past", "remind me today at 3 pm to call", nil, nil, "15:00 today has already passed, so no reminder was set. If you mean tomorrow, please say so."},
		{"timers", "list my timers", []string{`timer_list {}`}, []tool.Result{done("1: pasta, 3 minutes left")}, "1: pasta, 3 minutes left."},
		{"cancel", "取消计时器", []string{`timer_cancel {}`}, []tool.Result{done("已取消：10 分钟的定时器。")}, "已取消：10 分钟的定时器。"},
		{"remember zh", "记住钥匙在门垫下面", []string{`memory_commit {"triples":[{"subject":"钥匙","relation":"在","object":"门垫下面"}]}`}, []tool.Result{done("ok")}, "记住了：钥匙在门垫下面。"},
		{"remember en", "remember that my car is parked in B2", []string{`memory_commit {"triples":[{"subject":"my car","relation":"is parked in","object":"B2"}]}`}, []tool.Result{done("ok")}, "I will remember that your car is parked in B2."},
		{"remember fails", "记住钥匙在门垫下面", []string{`memory_commit {"triples":[{"subject":"钥匙","relation":"在","object":"门垫下面"}]}`}, []tool.Result{{Status: tool.Failed, Text: "磁盘满了"}}, "没能记下来：磁盘满了。"},
		{"recall zh", "钥匙在哪", []string{`memory_recall {"query":"钥匙"}`}, []tool.Result{done("- 小明有钥匙盒\t（2026-03-01 记下）\n- 钥匙放在抽屉里\t（2026-03-01 记下，来自 web，到 2026-03-09 为止，现在已不是）\n- 钥匙在门垫下面\t（2026-03-09 记下，来自 web）")}, "钥匙在门垫下面。"},
		{"recall of what was", "钥匙在哪", []string{`memory_recall {"query":"钥匙"}`}, []tool.Result{done("- 钥匙放在抽屉里\t（2026-03-01 记下，到 2026-03-09 为止，现在已不是）\n- 钥匙在门垫下面\t（2026-03-09 记下）")}, "钥匙在门垫下面。"},
		{"recall of something else besides", "where is the key", []string{`memory_recall {"query":"the key"}`}, []tool.Result{done("- Bob likes tea\t(noted 2026-03-01)\n- the key is under the mat\t(noted 2026-03-01, from web)")}, "The key is under the mat."},
		{"recall everything", "what do you know about Bob", []string{`memory_recall {"query":"Bob"}`}, []tool.Result{done("- Bob lives in Rome\t(noted 2026-03-01)\n- Bob likes tea\t(noted 2026-03-01)")}, "Bob lives in Rome; Bob likes tea."},
		{"recall an attribute", "妈妈的生日是什么时候", []string{`memory_recall {"query":"妈妈 生日"}`}, []tool.Result{done("- 妈妈喜欢茶\t（记下）\n- 妈妈的生日是五月三号\t（记下）")}, "妈妈的生日是五月三号。"},
		{"recall en", "where is my passport", []string{`memory_recall {"query":"my passport"}`}, []tool.Result{done("- my passport is in the drawer\t(noted 2026-03-01)\n")}, "Your passport is in the drawer."},
		{"recall finds nothing", "where is the key", []string{`memory_recall {"query":"the key"}`}, []tool.Result{done("Nothing about that is remembered.")}, "I have nothing about the key in my memory."},
		{"forget", "forget about the key", []string{`memory_purge {"criteria":{"query":"the key"},"mode":"soft"}`}, []tool.Result{done("Forgotten: 1\n- my key is under the mat")}, "I have forgotten: your key is under the mat."},
		{"forget what is not there", "忘掉钥匙的事", []string{`memory_purge {"criteria":{"query":"钥匙"},"mode":"soft"}`}, []tool.Result{done("没有找到要忘掉的事，什么也没删。")}, "没有找到要忘掉的事，什么也没删。"},
		{"volume", "音量调到百分之三十", []string{`volume_set {"percent":30}`}, []tool.Result{done("音量现在是百分之30。")}, "音量现在是百分之30。"},
		{"louder", "turn it up", []string{`volume_change {"delta":10}`}, []tool.Result{done("The volume is now 60 percent.")}, "The volume is now 60 percent."},
		{"softer by", "lower the volume by 25 percent", []string{`volume_change {"delta":-25}`}, []tool.Result{done("")}, "Done."},
		{"which", "turn on the light", nil, nil, "Several devices fit. Which one do you mean: living room lamp, kitchen lamp and bedroom lamp?"},
		{"no such device", "打开阳台灯", nil, nil, "家里没有“阳台灯”这个设备，什么也没做。现有：客厅灯、厨房灯、卧室灯。要添加，请写进 config.yaml 的 home。"},
		{"stop", "停下", nil, nil, "好。"},
		{"reminder without a time", "提醒我买牛奶", nil, nil, "什么时候提醒？请连时间一起说，例如“十分钟后提醒我关火”。"},
	} {
		t.Run(row.name, func(t *testing.T) {
			p := fixed(t)
			req := provider.Request{Messages: []provider.Message{user("turn on the kitchen lamp"), user(row.text)}, Tools: tools(), Lang: "en"}
			res, err := p.Chat(t.Context(), req)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, c := range res.Calls {
				got = append(got, c.Name+" "+string(c.Args))
			}
			if len(got) != len(row.calls) {
				t.Fatalf("calls %v, text %q, want %v", got, res.Text, row.calls)
			}
			for i := range got {
				name, args, _ := strings.Cut(row.calls[i], " ")
				if !strings.HasPrefix(got[i], name+" ") || !sameJSON(json.RawMessage(got[i][len(name)+1:]), json.RawMessage(args)) {
					t.Errorf("call %s, want %s", got[i], row.calls[i])
				}
			}
			if len(res.Calls) > 0 {
				if res.Text != "" {
					t.Errorf("it already says %q while it calls", res.Text)
				}
				req.Messages = append(req.Messages, provider.Message{Role: provider.Assistant, Calls: res.Calls})
				for i, c := range res.Calls {
					r := row.results[i]
					req.Messages = append(req.Messages, provider.Message{Role: provider.Tool, CallID: c.ID, Name: c.Name, Status: r.Status, Content: r.Text})
				}
				if res, err = p.Chat(t.Context(), req); err != nil {
					t.Fatal(err)
				}
			}
			if len(res.Calls) > 0 || res.Text != row.answer {
				t.Errorf("answered %q (calls %v), want %q", res.Text, res.Calls, row.answer)
			}
		})
	}
}

func TestWithoutModelSaysSo(t *testing.T) {
	down := func(o *Options) {
		o.Unreachable = func(lang string) string { return both(lang, "连不上大模型。", "The model cannot be reached.") }
	}
	for _, row := range []struct {
		name, text, lang string
		opt              func(*Options)
		want, not        string
	}{
		{"zh", "给我讲个故事", "", nil, "homectl llm set deepseek", "cannot"},
		{"en", "tell me a story", "", nil, "homectl llm set deepseek", "大"},
		{"the input's language wins", "讲个笑话", "en", nil, "还没有接大语言模型", "No language model"},
		{"no letters", "123 456", "zh", nil, "还没有接大语言模型", ""},
		{"unreachable zh", "给我讲个故事", "", down, "连不上大模型。", "homectl llm set"},
		{"unreachable en", "tell me a story", "", down, "cannot be reached", "homectl llm set"},
		{"help says it as well", "what can you do", "", nil, "homectl llm set deepseek", ""},
		{"status in its own words", "系统状态", "", func(o *Options) { o.Status = func(string) string { return "一切正常" } }, "一切正常。还没有接大语言模型", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			p := fixed(t, func(o *Options) {
				if row.opt != nil {
					row.opt(o)
				}
			})
			res, err := p.Chat(t.Context(), provider.Request{Messages: []provider.Message{user(row.text)}, Tools: tools(), Lang: row.lang})
			if err != nil || len(res.Calls) > 0 {
				t.Fatalf("%v, calls %v", err, res.Calls)
			}
			if !strings.Contains(res.Text, row.want) || row.not != "" && strings.Contains(res.Text, row.not) {
				t.Errorf("says %q", res.Text)
			}
		})
	}
}

// What is in the conversation decides, not what this provider remembers.
func TestRounds(t *testing.T) {
	lamp := `{"state":"on","name":"kitchen_lamp"}`
	call := func(id, name, args string) provider.Message {
		return provider.Message{Role: provider.Assistant, Calls: []tool.Call{{ID: id, Name: name, Args: json.RawMessage(args)}}}
	}
	result := func(id string, st tool.Status, text string) provider.Message {
		return provider.Message{Role: provider.Tool, CallID: id, Name: "virtual_set", Status: st, Content: text}
	}
	for _, row := range []struct {
		name  string
		text  string
		after []provider.Message
		tools []tool.Def
		calls int
		want  string
	}{
		{"a model made the same call before it left", "turn on the kitchen lamp", []provider.Message{call("x1", "virtual_set", lamp), result("x1", tool.Done, "on")}, tools(), 0, "The kitchen lamp is on."},
		{"a model made another call", "turn on the kitchen lamp", []provider.Message{call("x1", "virtual_set", `{"name":"bedroom_lamp","state":"on"}`), result("x1", tool.Done, "on")}, tools(), 1, ""},
		{"its call was changed on the way", "turn on the kitchen lamp", []provider.Message{call("offline-1", "virtual_set", `{"name":"bedroom_lamp","state":"off"}`), result("offline-1", tool.Done, "The bedroom lamp is off")}, tools(), 0, "The bedroom lamp is off."},
		{"a result is missing", "turn on the kitchen lamp", []provider.Message{call("offline-1", "virtual_set", lamp)}, tools(), 0, "I do not know whether I did turn on the kitchen lamp; please check."},
		{"a result without a status", "turn on the kitchen lamp", []provider.Message{call("offline-1", "virtual_set", lamp), result("offline-1", "", "?")}, tools(), 0, "I do not know whether I did turn on the kitchen lamp; please check."},
		{"no such tool", "turn on the kitchen lamp", nil, nil, 0, "That needs the tool virtual_set, which is not there now, so nothing was done. Check that its plugin is on (homectl status shows it)."},
		{"tools taken away in the last round", "turn on the kitchen lamp", []provider.Message{call("x", "virtual_list", `{}`), result("x", tool.Done, "")}, nil, 0, "I did not turn on the kitchen lamp, because the turn ended first."},
		{"a model left in the middle of something else", "tell me a story about my lamp", []provider.Message{call("x", "virtual_set", lamp), result("x", tool.Done, "")}, tools(), 0, "virtual_set: done"},
		{"calls of the turn before do not count", "turn on the kitchen lamp", nil, tools(), 1, ""},
		{"the time has passed since the call", "remind me today at 3:20 pm to call", []provider.Message{call("offline-1", "timer_set", `{"seconds":1,"label":"call"}`), {Role: provider.Tool, CallID: "offline-1", Name: "timer_set", Status: tool.Done, Content: "Timer 4 is set"}}, tools(), 0, "Timer 4 is set."},
		{"seconds that have gone by are no other call", "remind me at 5 pm to call", []provider.Message{call("z", "timer_set", `{"seconds":6042,"label":"call"}`), {Role: provider.Tool, CallID: "z", Name: "timer_set", Status: tool.Done, Content: ""}}, tools(), 0, "OK, I will remind you at 5:00 PM: call."},
	} {
		t.Run(row.name, func(t *testing.T) {
			msgs := []provider.Message{user(row.text), call("offline-1", "virtual_set", lamp), result("offline-1", tool.Done, "on"),
				{Role: provider.Assistant, Content: "The kitchen lamp is on."}, user(row.text)}
			res, err := fixed(t).Chat(t.Context(), provider.Request{Messages: append(msgs, row.after...), Tools: row.tools})
			if err != nil || len(res.Calls) != row.calls || !strings.Contains(res.Text, row.want) {
				t.Errorf("%v, calls %v, says %q, want %q", err, res.Calls, res.Text, row.want)
			}
		})
	}
}

func TestStreamsByWords(t *testing.T) {
	for _, row := range []struct {
		text string
		want string
	}{
		{"what time is it", "It |is |3:|20 |PM."},
		{"现在几点", "现|在|是|下|午|三|点|二|十|分。"},
	} {
		var got []string
		_, err := fixed(t).ChatStream(t.Context(), provider.Request{Messages: []provider.Message{user(row.text)}}, func(c provider.Chunk) error {
			got = append(got, c.Text)
			return nil
		})
		if err != nil || strings.Join(got, "|") != row.want {
			t.Errorf("%v, pieces %q, want %q", err, strings.Join(got, "|"), row.want)
		}
	}
}

func TestCanceledBetweenWords(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	_, err := fixed(t).ChatStream(ctx, provider.Request{Messages: []provider.Message{user("what time is it")}}, func(provider.Chunk) error {
		n++
		cancel()
		return nil
	})
	var e *provider.Error
	if !errors.As(err, &e) || e.Kind != provider.Canceled || n != 1 {
		t.Errorf("%v after %d pieces", err, n)
	}
}

func TestFacts(t *testing.T) {
	for _, row := range []struct{ text, subject, relation, object string }{
		{"钥匙在门垫下面", "钥匙", "在", "门垫下面"},
		{"我的车停在B2层。", "我的车", "停在", "B2层"},
		{"妈妈的生日是五月三号", "妈妈", "的生日是", "五月三号"},
		{"我对花生过敏", "我", "对", "花生过敏"},
		{"我喜欢喝茶", "我", "喜欢", "喝茶"},
		{"下雨要收衣服", "用户", "说", "下雨要收衣服"},
		{"the key is under the mat", "the key", "is under", "the mat"},
		{"my birthday is May 3", "I", "birthday is", "May 3"},
		{"Anna's birthday is June 3rd", "Anna", "birthday is", "June 3rd"},
		{"I am allergic to peanuts", "I", "am allergic to", "peanuts"},
		{"Tom likes tea", "Tom", "likes", "tea"},
		{"I don't eat pork", "I", "don't eat", "pork"},
		{"milk on Fridays", "the user", "said", "milk on Fridays"},
	} {
		if got := factOf(row.text); got != (Fact{row.subject, row.relation, row.object}) {
			t.Errorf("%s: %+v", row.text, got)
		}
	}
}

func TestTurned(t *testing.T) {
	for _, row := range []struct{ lang, text, want string }{
		{"zh", "我的车停在B2层", "你的车停在B2层"},
		{"zh", "用户说下雨要收衣服", "你说过：下雨要收衣服"},
		{"en", "I birthday is May 3", "your birthday is May 3"},
		{"en", "Anna birthday is June 3rd", "Anna's birthday is June 3rd"},
		{"en", "I am allergic to peanuts", "you are allergic to peanuts"},
		{"en", "my car is in our garage", "your car is in your garage"},
		{"en", "the user said milk on Fridays", "you said milk on Fridays"},
		{"en", "the wifi password is hunter2", "the wifi password is hunter2"},
	} {
		if got := turned(row.text, row.lang); got != row.want {
			t.Errorf("%q became %q, want %q", row.text, got, row.want)
		}
	}
}

func TestClockWords(t *testing.T) {
	for _, row := range []struct {
		h, m   int
		zh, en string
	}{
		{0, 0, "凌晨零点整", "12:00 AM"}, {2, 5, "凌晨两点零五分", "2:05 AM"}, {7, 30, "早上七点三十分", "7:30 AM"}, {10, 10, "上午十点十分", "10:10 AM"},
		{12, 0, "中午十二点整", "12:00 PM"}, {14, 59, "下午两点五十九分", "2:59 PM"}, {23, 20, "晚上十一点二十分", "11:20 PM"},
	} {
		at := time.Date(2026, 1, 1, row.h, row.m, 0, 0, time.UTC)
		if zh, en := clockWords(at, "zh"), clockWords(at, "en"); zh != row.zh || en != row.en {
			t.Errorf("%d:%d is %s, %s", row.h, row.m, zh, en)
		}
	}
}
