package chain

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"homeagent/agent/provider"
)

// worded is a cause that knows its own words, as drivers/llm's does.
type worded struct{}

func (worded) Error() string { return "x509: expired" }

func (worded) In(lang string) string {
	if lang == "zh" {
		return "我的时钟可能不对。"
	}
	return "My clock is probably wrong."
}

// open is the error of a breaker that a failure has opened.
func open(cause *provider.Error, wait time.Duration) *provider.Error {
	return &provider.Error{Kind: provider.Open, RetryAfter: wait, Err: cause}
}

func TestWhy(t *testing.T) {
	tests := []struct {
		name   string
		err    *provider.Error
		zh, en string
	}{
		{"network", &provider.Error{Kind: provider.Network, Err: errors.New("no route")},
			"连不上大模型，请检查网络。", "The language model cannot be reached; check the network."},
		{"own words", &provider.Error{Kind: provider.Network, Err: fmt.Errorf("dial: %w", worded{})},
			"我的时钟可能不对。", "My clock is probably wrong."},
		{"own words only where it was not reached", &provider.Error{Kind: provider.Balance, Err: worded{}},
			"大模型账户余额不足，请充值。", "The language model's account has no credit left; please top it up."},
		{"left alone, the clock is behind it", open(&provider.Error{Kind: provider.Network, Err: fmt.Errorf("dial: %w", worded{})}, 4*time.Minute+time.Second),
			"我的时钟可能不对。大约 5 分钟后我再试一次。", "My clock is probably wrong. I try it again in about 5 minutes."},
		{"left alone, the key is behind it", open(&provider.Error{Kind: provider.Auth, Status: 401}, 15*time.Second),
			"大模型不接受这个密钥，请用 homectl llm set 重新填写。大约 20 秒后我再试一次。",
			"The language model refuses the key; set it again with homectl llm set. I try it again in about 20 seconds."},
		{"left alone, silence is behind it", open(&provider.Error{Kind: provider.Silent}, 55*time.Second),
			"大模型一直没有回应。大约一分钟后我再试一次。", "The language model does not answer. I try it again in about a minute."},
		{"left alone, and no word why", &provider.Error{Kind: provider.Open},
			"大模型连续出错，暂时不用它。", "The language model failed several times and is left alone for a while."},
		{"no cause", &provider.Error{Kind: provider.Silent}, "大模型一直没有回应。", "The language model does not answer."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if zh, en := Why(tt.err, "zh"), Why(tt.err, "en"); zh != tt.zh || en != tt.en {
				t.Errorf("got %q, %q", zh, en)
			}
		})
	}
}
