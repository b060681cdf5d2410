package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"homeagent/firmware/words"
)

// agentStatus is what is printed of the agent's part; --json has all of it.
type agentStatus struct {
	Provider string   `json:"provider"`
	Channels []string `json:"channels"`
	Queue    struct {
		User       int               `json:"user"`
		Internal   int               `json:"internal"`
		Aside      []json.RawMessage `json:"aside"`
		Unreadable int               `json:"unreadable"`
		CutBytes   int64             `json:"cut_bytes"`
	} `json:"queue"`
	Turn *struct {
		Source  string    `json:"source"`
		Round   int       `json:"round"`
		Started time.Time `json:"started"`
	} `json:"turn"`
	Plugins []struct {
		Name   string `json:"name"`
		State  string `json:"state"`
		Reason string `json:"reason"`
	} `json:"plugins"`
	Hung  map[string]int `json:"hung"`
	Audio *struct {
		Microphone device `json:"microphone"`
		Speaker    device `json:"speaker"`
		Volume     int    `json:"volume"`
		Muted      bool   `json:"muted"`
	} `json:"audio"`
	Engines bool     `json:"engines_running"`
	Notes   []string `json:"notes"`
}

type device struct {
	Name    string `json:"name"`
	Label   string `json:"label"`
	Present bool   `json:"present"`
	Note    string `json:"note"`
}

// voiceStatus is what is printed of the voice.
type voiceStatus struct {
	State       string   `json:"state"`
	Muted       bool     `json:"muted"`
	Understands []string `json:"understands"`
	WakeWords   []string `json:"wake_words"`
	Notes       []string `json:"notes"`
}

// stateWord puts the state of a process or a plugin in words; one that is not
// known is shown as it is.
func stateWord(state string) words.Text {
	return known(state, map[string]words.Text{
		"running":  {ZH: "运行中", EN: "running"},
		"waiting":  {ZH: "等待重启", EN: "waiting to start again"},
		"stopped":  {ZH: "已停止", EN: "stopped"},
		"idle":     {ZH: "还没有启动", EN: "not started yet"},
		"not_here": {ZH: "这台机器上没有", EN: "not on this board"},
		"failed":   {ZH: "失败", EN: "failed"},
	})
}

// voiceWord puts the state of the voice in words.
func voiceWord(state string) words.Text {
	return known(state, map[string]words.Text{
		"idle":        {ZH: "在等唤醒词", EN: "waits for the wake word"},
		"listening":   {ZH: "正在听", EN: "listening"},
		"recognising": {ZH: "正在辨认", EN: "making out the words"},
		"thinking":    {ZH: "正在想", EN: "thinking"},
		"speaking":    {ZH: "正在说话", EN: "speaking"},
		"muted":       {ZH: "麦克风已关", EN: "the microphone is off"},
		"deaf":        {ZH: "没有麦克风", EN: "no microphone"},
	})
}

func known(word string, texts map[string]words.Text) words.Text {
	if t, ok := texts[word]; ok {
		return t
	}
	return words.Text{ZH: word, EN: word}
}

// printAgent prints how the agent does: who answers, what it works on, what
// waits, its plugins one a line, sound and voice, and what wants attention.
func (e *env) printAgent(s agentStatus) {
	e.row("回答者", "answers come from", s.Provider)
	turn := e.words("没有", "nothing")
	if s.Turn != nil {
		turn = fmt.Sprintf(e.words("来自 %s 的话，第 %d 轮，已 %s", "what came from %s, round %d, for %s"),
			s.Turn.Source, s.Turn.Round, e.span(e.now().Sub(s.Turn.Started)))
	}
	e.row("正在处理", "working on", turn)
	e.row("排队", "waiting", fmt.Sprintf(e.words("你的 %d 条，内部 %d 条", "%d of yours, %d internal"), s.Queue.User, s.Queue.Internal))
	e.row("输出通道", "channels", strings.Join(s.Channels, ", "))
	if len(s.Plugins) > 0 {
		fmt.Fprintf(e.out, "  %s\n", e.words("插件：", "plugins:"))
	}
	for _, p := range s.Plugins {
		state := stateWord(p.State).In(e.lang)
		if p.Reason != "" {
			state += fmt.Sprintf(e.words("（%s）", " (%s)"), p.Reason)
		}
		fmt.Fprintf(e.out, "    %s%s%s\n", p.Name, e.words("：", ": "), state)
	}
	notes := e.printSound(s)
	if n := len(s.Queue.Aside); n > 0 {
		notes = append(notes, fmt.Sprintf(e.words("%d 条输入屡次失败，已放到一边；homectl logs 会说明原因", "inputs set aside because they failed again and again: %d; homectl logs tells why"), n))
	}
	if s.Queue.Unreadable > 0 || s.Queue.CutBytes > 0 {
		notes = append(notes, fmt.Sprintf(e.words("队列文件有损坏：%d 条记录读不出，切掉了 %d 字节；请检查存储卡", "the queue's file was damaged: %d records unreadable, %d bytes cut off; check the disk or card"), s.Queue.Unreadable, s.Queue.CutBytes))
	}
	for _, name := range sortedKeys(s.Hung) {
		notes = append(notes, fmt.Sprintf(e.words("插件 %s 有 %d 个调用没有返回；用 homectl restart agent 可以清掉", "plugin %s: calls that have not returned: %d; homectl restart agent clears them"), name, s.Hung[name]))
	}
	e.notes(append(notes, s.Notes...)...)
}

// printSound prints the devices and the voice, and returns what of them wants
// attention.
func (e *env) printSound(s agentStatus) (notes []string) {
	if a := s.Audio; a != nil {
		e.row("麦克风", "microphone", e.device(a.Microphone))
		e.row("扬声器", "speaker", e.device(a.Speaker))
		volume := fmt.Sprintf("%d%%", a.Volume)
		if a.Muted {
			volume += e.words("，已静音", ", muted")
		}
		e.row("音量", "volume", volume)
		for _, note := range []string{a.Microphone.Note, a.Speaker.Note} {
			if note != "" {
				notes = append(notes, note)
			}
		}
	}
	if v := e.voice(); v != nil {
		state := voiceWord(v.State).In(e.lang)
		if v.Muted && v.State != "muted" {
			state += e.words("，麦克风已关", ", the microphone is off")
		}
		e.row("语音", "voice", state)
		e.row("听得懂", "understands", e.languages(v.Understands))
		e.row("唤醒词", "wake words", strings.Join(v.WakeWords, ", "))
		notes = append(notes, v.Notes...)
	}
	e.row("语音引擎在运行", "speech engines running", e.yes(s.Engines))
	return notes
}

// device is a microphone or speaker by its own name, and whether it is there.
func (e *env) device(d device) string {
	name := d.Label
	if name == "" {
		name = d.Name
	}
	if d.Present {
		return name
	}
	return name + e.words("（没有接上）", " (not there)")
}

// languages names languages by their tags.
func (e *env) languages(tags []string) string {
	if len(tags) == 0 {
		return e.words("没有", "nothing")
	}
	said := make([]string, len(tags))
	for i, t := range tags {
		switch t {
		case words.Chinese:
			said[i] = e.words("中文", "Chinese")
		case words.English:
			said[i] = e.words("英语", "English")
		default:
			said[i] = t
		}
	}
	return strings.Join(said, e.words("、", ", "))
}

func sortedKeys(m map[string]int) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
