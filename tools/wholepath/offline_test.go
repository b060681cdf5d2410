package wholepath

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestOfflineBothLanguages is a new user: no data folder, no key, no sound
// card, and homectl.
func TestOfflineBothLanguages(t *testing.T) {
	t.Parallel()
	parent := folder(t, "")
	config := filepath.Join(parent, "elsewhere.yaml") // the port only; other tests have their own
	if err := os.WriteFile(config, []byte("daemon: {listen_addr: \"127.0.0.1:0\"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	h := start(t, filepath.Join(parent, "data"), "-config", config)
	eventually(t, startWait, "homectl is answered", func() bool {
		_, _, code := h.homectl(turnWait, "say", "what time is it")
		return code == 0
	})
	before := h.pids()
	for _, row := range []struct {
		say, want string
		lamps     map[string]bool
	}{
		{"你好", `.`, nil},
		{"现在几点了", `现在是?.*点`, nil},
		{"今天星期几", `星期`, nil},
		{"打开客厅灯", `客厅灯.*开`, map[string]bool{"living_room_lamp": true}},
		{"把卧室的灯打开", `卧室灯.*开`, map[string]bool{"bedroom_lamp": true}},
		{"关掉客厅灯", `客厅灯.*关`, map[string]bool{"living_room_lamp": false, "bedroom_lamp": true}},
		{"十分钟后提醒我关火", `关火|10|十`, nil},
		{"有哪些定时器", `关火|分`, nil},
		{"取消所有定时器", `取消`, nil},
		{"记住我的护照在抽屉里", `护照`, nil},
		{"我的护照在哪", `抽屉`, nil},
		{"忘掉我的护照", `护照|忘`, nil},
		{"大声一点", `.`, nil},
		{"给我写一首诗", `语言模型|大模型|homectl llm set`, nil},
		{"what time is it", `^It is \d+:\d\d (AM|PM)\.`, nil},
		{"what day is it today", `(Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day`, nil},
		{"turn on the kitchen lamp", `^The kitchen lamp is on\.`, map[string]bool{"kitchen_lamp": true}},
		{"turn off all lights", `off`, map[string]bool{"kitchen_lamp": false, "bedroom_lamp": false}},
		{"set a timer for five minutes", `5 minutes`, nil},
		{"what timers are running", `left`, nil},
		{"cancel all timers", `(?i)cancel`, nil},
		{"remember that the key is under the mat", `key`, nil},
		{"where is the key", `mat`, nil},
		{"forget the key", `(?i)forg|key`, nil},
		{"set the volume to 40 percent", `40`, nil},
		{"help", `turn on`, nil},
		{"write me a poem", `language model`, nil},
	} {
		t.Run(row.say, func(t *testing.T) {
			h := h.in(t)
			out, bad, code := h.homectl(turnWait, "say", row.say)
			if code != 0 || bad != "" || !regexp.MustCompile(row.want).MatchString(out) {
				t.Errorf("exit %d, %q %q, want %q", code, out, bad, row.want)
			}
			if hasHan(row.say) != hasHan(out) {
				t.Errorf("answered in the other language: %q", out)
			}
			lamps := h.lamps()
			for name, on := range row.lamps {
				if lamps[name] != on {
					t.Errorf("%s on is %v, want %v", name, lamps[name], on)
				}
			}
		})
	}
	t.Run("status", func(t *testing.T) {
		for lang, want := range map[string]string{"en": "no LLM|no language model|offline", "zh": "[\u4e00-\u9fff]"} {
			out, bad, code := h.in(t).homectl(turnWait, "--lang", lang, "status")
			if code != 0 || !regexp.MustCompile(want).MatchString(out) || !strings.Contains(out, "agent") {
				t.Errorf("%s: exit %d\n%s%s", lang, code, out, bad)
			}
		}
	})
	h.unhurt(before)
}
