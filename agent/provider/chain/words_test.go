package chain

import (
	"errors"
	"fmt"
	"testing"

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
