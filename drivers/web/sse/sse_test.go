package sse

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"
)

func all(r io.Reader) (out []Event, err error) {
	for d := NewReader(r); ; {
		e, err := d.Next()
		if err != nil {
			return out, err
		}
		out = append(out, e)
	}
}

func TestReader(t *testing.T) {
	for _, row := range []struct {
		name, in string
		want     []Event
	}{
		{"one", "data: a\n\n", []Event{{Name: "message", Data: []byte("a")}}},
		{"named with id", "id: 7\nevent: draft\ndata: {}\n\n", []Event{{ID: "7", Name: "draft", Data: []byte("{}")}}},
		{"several lines", "data: a\ndata: b\n\n", []Event{{Name: "message", Data: []byte("a\nb")}}},
		{"CRLF", "data: a\r\n\r\ndata: b\r\n\r\n", []Event{{Name: "message", Data: []byte("a")}, {Name: "message", Data: []byte("b")}}},
		{"CR", "data: a\r\rdata: b\r\r", []Event{{Name: "message", Data: []byte("a")}, {Name: "message", Data: []byte("b")}}},
		{"comments and unknown fields", ":\n\n: hi\nretry: 5\nfoo: bar\ndata:x\n\n", []Event{{Name: "message", Data: []byte("x")}}},
		{"byte order mark", "\xef\xbb\xbfdata: a\n\n", []Event{{Name: "message", Data: []byte("a")}}},
		{"one blank is cut", "data:  a\n\n", []Event{{Name: "message", Data: []byte(" a")}}},
		{"id stays", "id: 1\ndata: a\n\ndata: b\n\n", []Event{{ID: "1", Name: "message", Data: []byte("a")}, {ID: "1", Name: "message", Data: []byte("b")}}},
		{"id with NUL is ignored", "id: a\x00b\ndata: a\n\n", []Event{{Name: "message", Data: []byte("a")}}},
		{"cut off", "data: a\n\ndata: b\n", []Event{{Name: "message", Data: []byte("a")}}},
		{"name without data", "event: x\n\ndata: a\n\n", []Event{{Name: "message", Data: []byte("a")}}},
		{"empty data", "data\n\n", []Event{{Name: "message"}}},
	} {
		t.Run(row.name, func(t *testing.T) {
			for name, r := range map[string]io.Reader{"whole": strings.NewReader(row.in), "by byte": iotest.OneByteReader(strings.NewReader(row.in))} {
				got, err := all(r)
				if err != io.EOF {
					t.Errorf("%s: ends with %v", name, err)
				}
				if len(got) != len(row.want) {
					t.Fatalf("%s: got %q", name, got)
				}
				for i := range got {
					if got[i].ID != row.want[i].ID || got[i].Name != row.want[i].Name || !bytes.Equal(got[i].Data, row.want[i].Data) {
						t.Errorf("%s: event %d is %q", name, i, got[i])
					}
				}
			}
		})
	}
}

func TestReaderIsBounded(t *testing.T) {
	for name, in := range map[string]string{
		"one line":   "data: " + strings.Repeat("a", 100),
		"many lines": strings.Repeat("data: aaaaaaaa\n", 20),
		"comments":   strings.Repeat(": aaaaaaaaaaa\n", 20),
	} {
		t.Run(name, func(t *testing.T) {
			r := NewReader(strings.NewReader(in))
			r.max = 64
			if _, err := r.Next(); !errors.Is(err, ErrTooLong) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestWriter(t *testing.T) {
	rec := httptest.NewRecorder()
	w := NewWriter(rec)
	if err := w.Send("1", "final", map[string]string{"text": "a\nb <客厅>"}); err != nil {
		t.Fatal(err)
	}
	if err := w.Alive(); err != nil {
		t.Fatal(err)
	}
	if want := "id: 1\nevent: final\ndata: {\"text\":\"a\\nb <客厅>\"}\n\n:\n\n"; rec.Body.String() != want {
		t.Errorf("got %q", rec.Body)
	}
	if !rec.Flushed || rec.Header().Get("Content-Type") != ContentType {
		t.Errorf("flushed %v, headers %v", rec.Flushed, rec.Header())
	}
	for name, err := range map[string]error{
		"line break in a name": w.Send("", "a\nb", 1), "line break in an id": w.Send("a\rb", "x", 1), "no JSON": w.Send("", "x", func() {}),
	} {
		if err == nil {
			t.Errorf("%s was written", name)
		}
	}
}

func FuzzReader(f *testing.F) {
	for _, s := range []string{"data: a\n\n", "id: 1\r\nevent: b\r\ndata: c\r\rdata\n\n", ":\n", "\xef\xbb\xbf", "data: {\"text\":\"好\"}\n\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		one, err1 := all(bytes.NewReader(in))
		two, err2 := all(iotest.OneByteReader(bytes.NewReader(in)))
		if (err1 == nil) != (err2 == nil) || len(one) != len(two) {
			t.Fatalf("the pieces in which bytes come matter: %d %v, %d %v", len(one), err1, len(two), err2)
		}
		// What a Writer sends comes back as it was.
		rec := httptest.NewRecorder()
		if err := NewWriter(rec).Send("", "x", string(in)); err != nil {
			t.Fatal(err)
		}
		back, err := NewReader(rec.Body).Next()
		if err != nil {
			t.Fatal(err)
		}
		want, _ := json.Marshal(string(in))
		var a, b string
		if json.Unmarshal(back.Data, &a) != nil || json.Unmarshal(want, &b) != nil || a != b {
			t.Fatalf("%q came back as %q", in, back.Data)
		}
	})
}
