package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"

	"homeagent/firmware/words"
)

func TestNoticesInBothLanguages(t *testing.T) {
	tests := []struct {
		name, text string
		line       int
		zh, en     string
	}{
		{"unknown key, near", "daemon:\n  log_level: info\n  listen_adr: x\n", 3,
			`config.yaml 第 3 行：段 daemon：不认识键 "listen_adr"，已忽略；是不是想写 "listen_addr"？`,
			`config line 3: section daemon: unknown key "listen_adr" is ignored; did you mean "listen_addr"?`},
		{"unknown key, far", "agent:\n  colour: red\n", 2,
			`config.yaml 第 2 行：段 agent：不认识键 "colour"，已忽略；请检查拼写，或把它删掉`,
			`config line 2: section agent: unknown key "colour" is ignored; check its spelling or remove it`},
		{"unknown key deep inside", "defaults:\n  snapshot_policy:\n    intervall: 1m\n", 3,
			`config.yaml 第 3 行：段 defaults：不认识键 "intervall"，已忽略；是不是想写 "interval"？`,
			`config line 3: section defaults: unknown key "intervall" is ignored; did you mean "interval"?`},
		{"unknown key in a list", "providers:\n  - kind: ollama\n    modle: x\n", 3,
			`config.yaml 第 3 行：段 providers：不认识键 "modle"，已忽略；是不是想写 "model"？`,
			`config line 3: section providers: unknown key "modle" is ignored; did you mean "model"?`},
		{"unknown section", "\nvoise: {}\n", 2,
			`config.yaml 第 2 行：不认识段 "voise"，已忽略；是不是想写 "voice"？`,
			`config line 2: unknown section "voise" is ignored; did you mean "voice"?`},
		{"section twice", "agent: {}\nagent: {}\n", 2,
			"config.yaml 第 2 行：段 agent 出现了两次，只有第一个有效；请把第二个删掉或并入第一个",
			"config line 2: section agent stands twice; the first counts, move what you need into it and remove the second"},
		{"key twice", "agent:\n  max_tool_rounds: 3\n  max_tool_rounds: 4\n", 3,
			`config.yaml 第 3 行：段 agent：键 "max_tool_rounds" 在第 2 行已经有了，请删掉一个；改正之前，这一段用默认值`,
			`config line 3: section agent: key "max_tool_rounds" stands already in line 2; remove one; until it is mended the section's defaults are used`},
		{"bad duration", "daemon:\n  log_level: info\n  check_interval: soon\n", 3,
			`config.yaml 第 3 行：段 daemon："soon" 不是时长，请写成例如 15s、10m 或 72h；改正之前，这一段用默认值`,
			`config line 3: section daemon: "soon" is no duration, write for example 15s, 10m or 72h; until it is mended the section's defaults are used`},
		{"no number", "agent:\n  max_tool_rounds: many\n", 2,
			`config.yaml 第 2 行：段 agent："max_tool_rounds" 里写的是"many"，应当是整数；改正之前，这一段用默认值`,
			`config line 2: section agent: "max_tool_rounds" has "many" where a whole number belongs; until it is mended the section's defaults are used`},
		{"no truth", "defaults:\n  openclaw_enabled: perhaps\n", 2,
			`config.yaml 第 2 行：段 defaults："openclaw_enabled" 里写的是"perhaps"，应当是 true 或 false；改正之前，这一段用默认值`,
			`config line 2: section defaults: "openclaw_enabled" has "perhaps" where true or false belongs; until it is mended the section's defaults are used`},
		{"a list where keys belong", "daemon:\n  - x\n", 2,
			"config.yaml 第 2 行：段 daemon：这一行里写的是一个列表，应当是一组键值（键: 值）；改正之前，这一段用默认值",
			"config line 2: section daemon: the line has a list where a group of keys (key: value) belongs; until it is mended the section's defaults are used"},
		{"keys where a list belongs", "providers: {kind: ollama}\n", 1,
			"config.yaml 第 1 行：段 providers：\"kind\" 里写的是一组键值，应当是以 - 开头的列表；改正之前，这一段用默认值",
			"config line 1: section providers: \"kind\" has a group of keys where a list of lines with - belongs; until it is mended the section's defaults are used"},
		{"out of range", "daemon: {}\nagent:\n  max_tool_rounds: 99\n", 3,
			"config.yaml 第 3 行：agent.max_tool_rounds 的值 99 不行，改用 10；可以写 1 到 50",
			"config line 3: agent.max_tool_rounds is 99, outside its range; 10 is used. Write 1 to 50"},
		{"bad level", "daemon: {log_level: loud}\n", 1,
			`config.yaml 第 1 行：daemon.log_level 的值 "loud" 不行，改用 info；可以写 debug、info、warn 或 error`,
			`config line 1: daemon.log_level is "loud", outside its range; info is used. Write debug, info, warn or error`},
		{"bad address", "daemon:\n  listen_addr: nowhere\n", 2,
			`config.yaml 第 2 行：daemon.listen_addr 的值 "nowhere" 不行，改用 :8080；可以写“主机:端口”或“:端口”`,
			`config line 2: daemon.listen_addr is "nowhere", outside its range; :8080 is used. Write host:port or :port`},
		{"unknown provider", "providers:\n  - kind: ollama\n  - kind: oracle\n", 3,
			`config.yaml 第 3 行：providers 第 2 项的 kind 是 "oracle"，已略过；请改成 deepseek、openai 或 ollama`,
			`config line 3: providers entry 2 has kind "oracle" and is left out; make it deepseek, openai or ollama`},
		{"old key", "defaults:\n  openclaw_enabled: true\n  image: x\n", 3,
			"config.yaml 第 3 行：defaults.image 已经不起作用，可以删掉",
			"config line 3: defaults.image has no effect any more and can be removed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, notes, err := Parse([]byte(tt.text))
			if err != nil || len(notes) != 1 {
				t.Fatalf("%v, %v", notes, err)
			}
			n := notes[0]
			if n.Line != tt.line || n.In("zh") != tt.zh || n.In("en") != tt.en {
				t.Errorf("line %d\n%s\n%s", n.Line, n.ZH, n.EN)
			}
		})
	}
}

func TestErrorsInBothLanguages(t *testing.T) {
	parse := func(text string) error { _, _, err := Parse([]byte(text)); return err }
	patch := func(text, change string) error { _, err := Patch([]byte(text), []byte(change)); return err }
	tests := []struct {
		name   string
		err    error
		zh, en string // parts
	}{
		{"broken YAML", parse("daemon:\n  a: [\n"), "config.yaml 读不懂（line", "mend that line"},
		{"a list", parse("- a\n"), "应当是一个个段", "must hold sections"},
		{"too large", parse(strings.Repeat("#", MaxSize+1)), "超过上限", "is this the right file?"},
		{"the change is no object", patch("", "[1]"), "应当是一个 JSON 对象", "must be a JSON object"},
		{"the change of a broken file", patch("a: [", "{}"), "config.yaml 读不懂", "mend that line"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var e *words.Error
			if !errors.As(tt.err, &e) {
				t.Fatalf("%v has no words", tt.err)
			}
			if !strings.Contains(e.In("zh"), tt.zh) || !strings.Contains(e.In("en"), tt.en) || e.Error() != e.In("en") {
				t.Errorf("%q, %q", e.ZH, e.EN)
			}
		})
	}
}

func TestNoticesAreBounded(t *testing.T) {
	var text strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&text, "x%d: 1\n", i)
	}
	_, notes, err := Parse([]byte(text.String()))
	if err != nil || len(notes) != maxNotices+1 || !strings.Contains(notes[maxNotices].ZH, "950") {
		t.Errorf("%d notices, %v", len(notes), err)
	}
}

// An alias is looked at once, so that a small file cannot cost much.
func TestAliases(t *testing.T) {
	text := "providers: [&a {kind: ollama, wrong: 1}" + strings.Repeat(", *a", 500) + "]\n"
	c, notes, err := Parse([]byte(text))
	if err != nil || len(notes) != 1 || len(c.Providers) != 501 {
		t.Errorf("%d providers, %v, %v", len(c.Providers), notes, err)
	}
}

func FuzzNotices(f *testing.F) {
	for _, s := range []string{"daemon: [1]", "agent: {max_tool_rounds: %d}", "%s: 1", "providers: [{kind: '%!'}]", "agent: &a {<<: *a, x: 1}", "memory: {keep: 1.5, keep: 2}"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		_, notes, err := Parse(text)
		said := append(Texts(notes, "zh"), Texts(notes, "en")...)
		if err != nil {
			said = append(said, words.In(err, "zh"), words.In(err, "en"))
		}
		for i, s := range said {
			// A verb without its argument would show as %!.
			if s == "" || strings.Contains(s, "%!") && !strings.Contains(string(text), "%!") {
				t.Errorf("sentence %d: %q", i, s)
			}
		}
		for _, n := range notes {
			if !slices.ContainsFunc([]rune(n.ZH), func(r rune) bool { return unicode.Is(unicode.Han, r) }) {
				t.Errorf("no Chinese: %q", n.ZH)
			}
		}
	})
}
