package intent

import "testing"

func TestNumbersBelowZeroDoNothing(t *testing.T) {
	s := defaultSet(t)
	tests := []struct {
		text string
		ok   bool
	}{
		{"set a timer for -5 minutes", false},
		{"set the volume to -3", false},
		{"set the volume to minus three", false},
		{"音量调到-3", false},
		{"音量调到负三", false},
		{"set a timer for 5 minutes", true},
		{"set the volume to 30", true},
		{"set a 5-minute timer", true},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			if m, ok := s.Parse(tt.text, ""); ok != tt.ok {
				t.Errorf("got %v %+v", ok, m)
			}
		})
	}
}
