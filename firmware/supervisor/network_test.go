package supervisor

import (
	"errors"
	"io"
	"net"
	"slices"
	"testing"
)

func TestLonely(t *testing.T) {
	tests := []struct {
		name      string
		addresses []string
		err       error
		want      bool
	}{
		{"nothing at all", nil, nil, true},
		{"itself", []string{"127.0.0.1/8", "::1/128"}, nil, true},
		{"an interface that nobody answers", []string{"127.0.0.1/8", "169.254.7.9/16", "fe80::1/64"}, nil, true},
		{"a cable", []string{"127.0.0.1/8", "192.168.1.20/24", "fe80::1/64"}, nil, false},
		{"IPv6 alone", []string{"::1/128", "2001:db8::5/64"}, nil, false},
		{"a private IPv6", []string{"fd00::5/64"}, nil, false},
		{"unknown", nil, errors.New("no netlink"), false},
		{"an address of another kind", []string{"somewhere"}, nil, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := New(Options{SetupDir: "/setup", Output: io.Discard, Addresses: func() ([]net.Addr, error) {
				var out []net.Addr
				for _, a := range tt.addresses {
					out = append(out, address(a))
				}
				return out, tt.err
			}})
			for lang, text := range map[string]string{"zh": lonely.ZH, "en": lonely.EN} {
				if got := slices.Contains(s.told(lang), text); got != tt.want {
					t.Errorf("%s: told is %t", lang, got)
				}
			}
			s.opts.SetupDir = "" // another computer's network is its own affair
			if got := s.told("en"); got != nil {
				t.Errorf("without a card: %q", got)
			}
		})
	}
}

// address is a net.Addr of the text.
type address string

func (address) Network() string  { return "ip+net" }
func (a address) String() string { return string(a) }
