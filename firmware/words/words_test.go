package words

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"
)

func TestIn(t *testing.T) {
	inner := Errorf("磁盘满了；请清理", "the disk is full; free some space")
	tests := []struct {
		name   string
		err    error
		zh, en string
	}{
		{"plain", errors.New("broken"), "broken", "broken"},
		{"own words", inner, "磁盘满了；请清理", "the disk is full; free some space"},
		{"words in words", Errorf("不能保存（%v）", "cannot save (%v)", inner), "不能保存（磁盘满了；请清理）", "cannot save (the disk is full; free some space)"},
		{"words in an error", fmt.Errorf("save: %w", inner), "save: 磁盘满了；请清理", "save: the disk is full; free some space"},
		{"words in an error in words", Errorf("%[2]s：%[1]v", "%[2]s: %[1]v", fmt.Errorf("save: %w", inner), "a"), "a：save: 磁盘满了；请清理", "a: save: the disk is full; free some space"},
		{"a percent sign without arguments", Errorf("100%", "100%"), "100%", "100%"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if zh, en := In(tt.err, Chinese), In(tt.err, English); zh != tt.zh || en != tt.en {
				t.Errorf("got %q, %q", zh, en)
			}
			if tt.err.Error() != tt.en {
				t.Errorf("as an error it reads %q", tt.err)
			}
		})
	}
}

func TestCause(t *testing.T) {
	err := Errorf("%s 不能读（%v）", "%s cannot be read (%v)", "a", fs.ErrPermission)
	if !errors.Is(err, fs.ErrPermission) {
		t.Error("the cause is lost")
	}
}

func TestFromEnv(t *testing.T) {
	tests := []struct {
		name                   string
		all, messages, l, want string
	}{
		{name: "nothing set", want: Chinese},
		{name: "Chinese", l: "zh_CN.UTF-8", want: Chinese},
		{name: "English", l: "en_GB.UTF-8", want: English},
		{name: "another language", l: "de_DE.UTF-8", want: English},
		{name: "the plain locale", l: "C.UTF-8", want: English},
		{name: "messages go before LANG", messages: "zh_TW", l: "en_US", want: Chinese},
		{name: "LC_ALL goes before both", all: "en_US", messages: "zh_CN", l: "zh_CN", want: English},
		{name: "capitals", all: "ZH", want: Chinese},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			env := map[string]string{"LC_ALL": tt.all, "LC_MESSAGES": tt.messages, "LANG": tt.l}
			if got := FromEnv(func(k string) string { return env[k] }); got != tt.want {
				t.Errorf("got %q", got)
			}
		})
	}
}
