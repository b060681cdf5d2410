package fakespeech

import (
	"strings"
	"testing"
)

// The fake must refuse what it promises to refuse, or it proves nothing.
func TestCheckWAV(t *testing.T) {
	good := hum(16000, 1, 1, false)
	if s, err := CheckWAV(good); err != nil || len(s) != 16000 {
		t.Fatalf("%d samples, %v", len(s), err)
	}
	change := func(at int, v byte) []byte {
		b := append([]byte(nil), good...)
		b[at] = v
		return b
	}
	loud := append([]byte(nil), good...)
	for i := 44; i+1 < len(loud); i += 2 {
		loud[i], loud[i+1] = 0xff, 0x7f
	}
	for _, c := range []struct {
		name string
		b    []byte
		want string
	}{
		{"empty", nil, "header"},
		{"not WAV", []byte(strings.Repeat("x", 100)), "header"},
		{"streamed length", hum(16000, 1, 1, true), "RIFF length"},
		{"rate", hum(24000, 1, 1, false), "rate"},
		{"stereo", hum(16000, 2, 1, false), "channels"},
		{"8 bit", change(34, 8), "bits"},
		{"float", change(20, 3), "encoding"},
		{"truncated", good[:2000], "RIFF length"},
		{"short", hum(16000, 1, 0.05, false), "seconds"},
		{"long", hum(16000, 1, 61, false), "seconds"},
		{"silent", append(good[:44:44], make([]byte, len(good)-44)...), "silent"},
		{"clipped", loud, "clipped"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := CheckWAV(c.b); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v does not name %q", err, c.want)
			}
		})
	}
}
