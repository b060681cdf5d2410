package intent

import (
	"testing"

	"homeagent/agent/home"
)

func BenchmarkDefault(b *testing.B) {
	h := home.Default()
	for b.Loop() {
		if _, err := Default(h); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParse(b *testing.B) {
	s := defaultSet(b)
	for _, row := range []struct{ name, text string }{
		{"command", "turn on the living room lamp"},
		{"command_zh", "请帮我把客厅的灯打开"},
		{"other", "what is the capital of France and how many people live there"},
		{"other_zh", "他把灯关了就走了，后来又回来拿东西"},
		{"long", "remember that the wifi password of the guest network in the summer house by the lake is written on the back of the router in the hall next to the mirror"},
	} {
		b.Run(row.name, func(b *testing.B) {
			for b.Loop() {
				s.Parse(row.text, "")
			}
		})
	}
}
