package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"homeagent/drivers/web/client"
	"homeagent/drivers/web/problem"
	"homeagent/firmware/control"
	"homeagent/firmware/words"
)

func TestLongFlags(t *testing.T) {
	tests := []struct {
		name     string
		in, want []string
	}{
		{"nothing", nil, nil},
		{"one dash", []string{"-data", "x", "say"}, []string{"--data", "x", "say"}},
		{"one dash with a value", []string{"-data=x"}, []string{"--data=x"}},
		{"two dashes stay", []string{"--data", "x"}, []string{"--data", "x"}},
		{"short stays", []string{"-d", "x"}, []string{"-d", "x"}},
		{"after the command", []string{"status", "-data", "x"}, []string{"status", "--data", "x"}},
		{"what is said stays", []string{"say", "--", "-data"}, []string{"say", "--", "-data"}},
		{"longer words stay", []string{"-database"}, []string{"-database"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := slices.Clone(tt.in)
			if got := longFlags(in); !slices.Equal(got, tt.want) {
				t.Errorf("got %q", got)
			}
			if !slices.Equal(in, tt.in) {
				t.Error("the arguments themselves were changed")
			}
		})
	}
}

func TestLanguage(t *testing.T) {
	tests := []struct {
		name string
		args []string
		env  map[string]string
		want string
	}{
		{name: "nothing", want: "zh"},
		{name: "environment", env: map[string]string{"LANG": "en_US.UTF-8"}, want: "en"},
		{name: "flag", args: []string{"--lang", "en", "status"}, want: "en"},
		{name: "flag with =", args: []string{"status", "--lang=zh"}, env: map[string]string{"LANG": "C"}, want: "zh"},
		{name: "auto", args: []string{"--lang", "auto"}, env: map[string]string{"LC_ALL": "zh_CN"}, want: "zh"},
		{name: "no language", args: []string{"--lang", "fr"}, env: map[string]string{"LANG": "en"}, want: "en"},
		{name: "the last flag", args: []string{"--lang", "en", "--lang=zh"}, want: "zh"},
		{name: "no value", args: []string{"--lang"}, want: "zh"},
		{name: "what is said", args: []string{"say", "--", "--lang", "en"}, want: "zh"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := language(tt.args, func(k string) string { return tt.env[k] }); got != tt.want {
				t.Errorf("got %q", got)
			}
		})
	}
}

func TestWrongArguments(t *testing.T) {
	tests := []struct {
		name   string
		args   []string
		zh, en string
	}{
		{"no command", nil, `还缺一个命令，可以是 "say", "hear"`, `expected one of "say", "hear"`},
		{"unknown command", []string{"dance"}, "看不懂参数 dance", "unexpected argument dance"},
		{"command near", []string{"statu"}, `看不懂参数 statu，是不是想写 "status"？`, `unexpected argument statu, did you mean "status"?`},
		{"unknown flag", []string{"status", "--colour"}, "没有选项 --colour", "unknown flag --colour"},
		{"flag near", []string{"status", "--jsn"}, `没有选项 --jsn，是不是想写 "--json"？`, `unknown flag --jsn, did you mean "--json"?`},
		{"nothing said", []string{"say"}, `还缺参数 "<text> ..."`, `expected "<text> ..."`},
		{"language", []string{"--lang", "fr", "status"}, `--lang 不能是 "fr"，可以是 "zh","en","auto"`, `--lang must be one of "zh","en","auto" but got "fr"`},
		{"kind of a model", []string{"llm", "set", "oracle"}, `不能是 "oracle"`, `but got "oracle"`},
		{"no number", []string{"logs", "-n", "many"}, `应当是整数，不能是 "many"`, `int but got "many"`},
		{"no value", []string{"status", "--url"}, "--url 后面缺一个值", "--url"},
	}
	for _, tt := range tests {
		for lang, want := range map[string]string{"zh": tt.zh, "en": tt.en} {
			t.Run(tt.name+" "+lang, func(t *testing.T) {
				out, bad, code := homectl(map[string]string{"LANG": lang}, "", tt.args...)
				if code != 2 || out != "" || !strings.Contains(bad, want) || !strings.HasPrefix(bad, "homectl: ") || !strings.Contains(bad, "homectl --help") {
					t.Errorf("exit %d, %s%s", code, out, bad)
				}
			})
		}
	}
}

func TestHelp(t *testing.T) {
	tests := []struct {
		lang string
		args []string
		want []string
	}{
		{"zh", []string{"--help"}, []string{"用法：homectl", "和 HomeAgent 说话", "选项：", "命令：", "显示帮助。", "--data=文件夹", "显示家里的状况"}},
		{"en", []string{"--help"}, []string{"Usage: homectl", "Speak to HomeAgent", "Flags:", "Commands:", "--data=FOLDER", "Show how the house is"}},
		{"zh", []string{"hear", "--help"}, []string{"参数：", "WAV 文件", "--no-wake"}},
		{"en", []string{"hear", "--help"}, []string{"Arguments:", "A WAV file", "--no-wake"}},
		{"en", []string{"help", "hear"}, []string{"Arguments:", "A WAV file", "--no-wake"}},
		{"zh", []string{"--version"}, []string{"dev"}},
	}
	for _, tt := range tests {
		t.Run(strings.Join(tt.args, " ")+" "+tt.lang, func(t *testing.T) {
			out, bad, code := homectl(map[string]string{"LANG": tt.lang}, "", tt.args...)
			if code != 0 || bad != "" {
				t.Errorf("exit %d, %s", code, bad)
			}
			for _, w := range tt.want {
				if !strings.Contains(out, w) {
					t.Errorf("help lacks %q:\n%s", w, out)
				}
			}
			if tt.lang == "zh" && (strings.Contains(out, "Usage") || strings.Contains(out, "Flags:") || strings.Contains(out, "Run \"")) {
				t.Errorf("English headings:\n%s", out)
			}
		})
	}
}

// Every text of the help is used, and every text that is used exists.
func TestHelpTexts(t *testing.T) {
	parser, err := kong.New(&commands{}, kong.Vars(helpVars("en")))
	if err != nil {
		t.Fatal(err)
	}
	used := ""
	var walk func(*kong.Node)
	walk = func(n *kong.Node) {
		used += n.Help + "\n"
		for _, f := range n.Flags {
			used += f.Help + f.PlaceHolder + "\n"
		}
		for _, p := range n.Positional {
			used += p.Help + "\n"
		}
		for _, c := range n.Children {
			walk(c)
		}
	}
	walk(parser.Model.Node)
	for name, text := range helpTexts() {
		if text.ZH == "" || text.EN == "" || text.ZH == text.EN {
			t.Errorf("%s is not in both languages: %+v", name, text)
		}
		if name != "description" && !strings.Contains(used, text.EN) {
			t.Errorf("%s is nowhere used", name)
		}
	}
}

func TestExplain(t *testing.T) {
	_, missing := os.Open(filepath.Join(t.TempDir(), "none.wav"))
	gone := fmt.Errorf("%w: dial", client.ErrUnreachable)
	tests := []struct {
		name   string
		err    error
		url    string
		zh, en string
	}{
		{"no door here", gone, "", "homed 在运行吗？", "is homed running?"},
		{"no door there", gone, "http://box", "http://box 没有应答", "http://box does not answer"},
		{"a problem is told as it came", &problem.Problem{Title: "请先登录。", Detail: "x"}, "", "请先登录。 (x)", "请先登录。 (x)"},
		{"a refusal is told as it came", fmt.Errorf("ask: %w", &control.Refused{Text: "不行"}), "", "不行", "不行"},
		{"words", fmt.Errorf("x: %w", errRemote), "", "只能在这台机器本身上用", "only on the box itself"},
		{"interrupted", context.Canceled, "", "已中断", "interrupted"},
		{"a file", missing, "", "none.wav 不能用", "none.wav cannot be used"},
		{"anything else", io.ErrUnexpectedEOF, "", "没有做成（unexpected EOF）", "it did not work (unexpected EOF)"},
		{"what the house told", told("请靠近一点"), "", "请靠近一点", "请靠近一点"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			said := explain(tt.err, tt.url)
			if zh, en := said.In("zh"), said.In("en"); !strings.Contains(zh, tt.zh) || !strings.Contains(en, tt.en) {
				t.Errorf("%q, %q", zh, en)
			}
		})
	}
}

func TestFaultsOfCommands(t *testing.T) {
	mux := http.NewServeMux()
	mux.Handle("POST /api/v1/listen", refuse(503, "没有麦克风。请插上。", "There is no microphone. Plug one in."))
	mux.Handle("POST /api/v1/hear", answer([]byte(`{"event":"error","text":"TOLD"}`+"\n")))
	mux.Handle("POST /api/v1/wake/{name}", answer([]byte("{}\n")))
	h := newHouse(t).door(mux).supervisor(func(req control.Request) (any, error) {
		switch req.Cmd {
		case control.ConfigGet:
			return "", nil
		case control.ConfigSet:
			return nil, words.Errorf("读不懂", "mend it")
		}
		return nil, errors.New("BROKEN")
	})
	broken := filepath.Join(h.dir, "config.yaml")
	if err := os.WriteFile(broken, []byte("a: ["), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name   string
		args   []string
		zh, en string
	}{
		{"a problem of the API", []string{"listen"}, "没有麦克风。请插上。", "There is no microphone. Plug one in."},
		{"told while it works", []string{"hear", "-"}, "TOLD", "TOLD"},
		{"text of another encoding", []string{"say", "\xff\xfe"}, "homectl: 文字不是 UTF-8 编码", "homectl: the text is not UTF-8"},
		{"nothing learnt", []string{"wake", "enrol", "x"}, "没有学会", "nothing was learnt"},
		{"no such recording", []string{"hear", "/none.wav"}, "文件 /none.wav 不能用", "the file /none.wav cannot be used"},
		{"no model", []string{"llm", "set", "ollama"}, "--model 名称", "--model NAME"},
		{"no key", []string{"llm", "set", "deepseek"}, "什么都没有输入", "nothing was entered"},
		{"a broken configuration", []string{"config", "set", broken}, "读不懂", "mend it"},
		{"no secret", []string{"secret", "set", "x"}, "什么都没有输入", "nothing was entered"},
		{"only on the box", []string{"--url", "http://127.0.0.1:0", "logs"}, "不能加 --url", "not with --url"},
		{"no password from afar", []string{"--url", "http://127.0.0.1:0", "passwd"}, "不能加 --url", "not with --url"},
		{"no address", []string{"--url", "box", "status"}, `地址 "box" 不对`, `address "box" is wrong`},
		{"nobody there", []string{"--url", "http://127.0.0.1:0", "status"}, "没有应答", "does not answer"},
	}
	for _, tt := range tests {
		for lang, want := range map[string]string{"zh": tt.zh, "en": tt.en} {
			t.Run(tt.name+" "+lang, func(t *testing.T) {
				out, bad, code := h.run(lang, "", tt.args...)
				if code != 1 || !strings.HasPrefix(bad, "homectl: ") || !strings.Contains(bad, want) {
					t.Errorf("exit %d, %q, %q", code, out, bad)
				}
			})
		}
	}
	empty := newHouse(t)
	for lang, want := range map[string]string{"zh": "homed 在运行吗？", "en": "is homed running?"} {
		for _, args := range [][]string{{"status"}, {"say", "hello"}, {"logs"}} {
			if _, bad, code := empty.run(lang, "", args...); code != 1 || !strings.Contains(bad, want) {
				t.Errorf("%q: exit %d, %s", args, code, bad)
			}
		}
	}
}

func TestCommandsOfTheSupervisor(t *testing.T) {
	var asked []control.Request
	h := newHouse(t).supervisor(func(req control.Request) (any, error) {
		asked = append(asked, req)
		switch req.Cmd {
		case control.Logs, control.SecretList:
			return []string{"one", "two"}, nil
		case control.ConfigGet:
			return "", nil
		case control.ConfigSet:
			return []string{inLang(req, "提醒", "a notice")}, nil
		}
		return nil, nil
	})
	tests := []struct {
		name  string
		stdin string
		args  []string
		zh    string
		en    string
		last  control.Request
	}{
		{"logs", "", []string{"logs", "-n", "2"}, "one\ntwo\n", "one\ntwo\n", control.Request{Cmd: control.Logs, Lines: 2}},
		{"restart", "", []string{"restart", "agent"}, "正在重启；用 homectl status 查看。\n", "It starts anew; homectl status shows how it does.\n", control.Request{Cmd: control.Restart, Name: "agent"}},
		{"config", "", []string{"config", "show"}, "# 没有配置，一切用默认值\n", "# nothing is configured; every default holds\n", control.Request{Cmd: control.ConfigGet}},
		{"config set", "x: 1\n", []string{"config", "set", "-"}, "提醒\n", "a notice\n", control.Request{Cmd: control.ConfigSet, Text: "x: 1\n"}},
		{"secret", "s3\n", []string{"secret", "set", "x"}, "", "", control.Request{Cmd: control.SecretSet, Name: "x", Text: "s3"}},
		{"secret removed", "", []string{"secret", "set", "x", "--remove"}, "", "", control.Request{Cmd: control.SecretSet, Name: "x"}},
		{"secrets", "", []string{"secret", "list"}, "one\ntwo\n", "one\ntwo\n", control.Request{Cmd: control.SecretList}},
		{"model", "", []string{"llm", "set", "ollama", "--model", "m"}, "已设置，正在重启智能体。\n", "Done; the agent starts anew.\n",
			control.Request{Cmd: control.ConfigSet, Text: "providers:\n  - kind: ollama\n    model: m\n"}},
	}
	for _, tt := range tests {
		for lang, want := range map[string]string{"zh": tt.zh, "en": tt.en} {
			t.Run(tt.name+" "+lang, func(t *testing.T) {
				out, bad, code := h.run(lang, tt.stdin, tt.args...)
				if code != 0 || out != want || bad != "" {
					t.Fatalf("exit %d, %q, %q", code, out, bad)
				}
				last := tt.last
				last.Lang = lang
				if got := asked[len(asked)-1]; got != last {
					j, _ := json.Marshal(got)
					t.Errorf("asked %s", j)
				}
			})
		}
	}
}
