package llm

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"homeagent/agent/provider"
)

// FuzzRead holds the reader to two laws: what was streamed is what is returned,
// and reading byte by byte gives the same as reading at once.
func FuzzRead(f *testing.F) {
	for _, s := range []string{
		"data: {\"choices\":[{\"delta\":{\"content\":\"你好\"}}]}\n\ndata: [DONE]\n\n",
		": keep-alive\r\n\r\ndata:\r\nevent: x\r\ndata: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"{\"}}]}}]}\r\n",
		"{\"choices\":[{\"message\":{\"content\":\"x\"},\"finish_reason\":\"stop\"}]}",
		"data: {\"error\":{\"message\":\"no\"}}\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		take := func(r io.Reader) (provider.Response, string, error) {
			var b strings.Builder
			res, err := read(r, func(c provider.Chunk) error { b.WriteString(c.Text); return nil })
			return res, b.String(), err
		}
		res, streamed, err := take(bytes.NewReader(in))
		if err == nil && res.Text != streamed {
			t.Fatalf("returned %q, streamed %q", res.Text, streamed)
		}
		again, _, err2 := take(iotest.OneByteReader(bytes.NewReader(in)))
		if (err == nil) != (err2 == nil) || again.Text != res.Text || len(again.Calls) != len(res.Calls) {
			t.Fatalf("at once %+v %v, byte by byte %+v %v", res, err, again, err2)
		}
		for _, c := range res.Calls {
			if !json.Valid(c.Args) {
				t.Fatalf("arguments %q are no JSON", c.Args)
			}
		}
	})
}

// FuzzRepair: what comes out is JSON; what was JSON stays as it was; what was
// mended begins as the original did.
func FuzzRepair(f *testing.F) {
	for _, s := range []string{"", "{}", `{"a":"b"`, `{"a":[1,{"b":"c"}`, "```json\n{}\n```", `{"a"`, "\xff", `{"a":"b\`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		out := repair(in)
		if !json.Valid(out) {
			t.Fatalf("%q became %q", in, out)
		}
		trimmed := bytes.TrimSpace(in)
		if json.Valid(trimmed) && bytes.Equal(bytes.ToValidUTF8(trimmed, []byte("\uFFFD")), trimmed) && !bytes.Equal(out, trimmed) {
			t.Fatalf("valid %q became %q", in, out)
		}
		if out[0] == '{' && len(trimmed) > 0 && trimmed[0] == '{' && !bytes.HasPrefix(out, bytes.ToValidUTF8(trimmed, []byte("\uFFFD"))) {
			t.Fatalf("%q became %q", in, out)
		}
	})
}

func TestLimit(t *testing.T) {
	a := &alive{r: bytes.NewReader(make([]byte, 100)), left: 50, beat: func() error { return nil }}
	if _, err := io.ReadAll(a); !errors.Is(err, errTooLong) {
		t.Errorf("got %v", err)
	}
}
