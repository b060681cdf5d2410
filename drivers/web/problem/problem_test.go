package problem

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestAccept(t *testing.T) {
	for _, row := range []struct{ header, want string }{
		{"", ""}, {"zh", "zh"}, {"en-US,en;q=0.9", "en"}, {"zh-CN,zh;q=0.9,en;q=0.8", "zh"},
		{"fr, en;q=0.5, zh;q=0.7", "zh"}, {"de", ""}, {"*", ""}, {"en;q=0", ""}, {"en;q=0, zh;q=0.1", "zh"},
		{"EN-gb", "en"}, {"zh_Hant_TW", "zh"}, {"en; q=2", ""}, {"en;q=NaN", ""}, {"en;q=x, zh", "zh"}, {"en ; q=0.5", "en"},
		{"zh;q=0.5,en;q=0.5", "zh"}, {strings.Repeat("fr,", 100) + "en", ""},
	} {
		if got := Accept(row.header); got != row.want {
			t.Errorf("%q: got %q, want %q", row.header, got, row.want)
		}
	}
}

func FuzzAccept(f *testing.F) {
	f.Add("zh-CN,zh;q=0.9")
	f.Add(";;q=,")
	f.Fuzz(func(t *testing.T, s string) {
		if got := Accept(s); got != "" && got != Chinese && got != English {
			t.Fatalf("%q gave %q", s, got)
		}
	})
}

func TestWords(t *testing.T) {
	w := Words{ZH: "门", EN: "door"}
	for lang, want := range map[string]string{"zh": "门", "en": "door", "": "门", "fr": "门"} {
		if got := w.In(lang); got != want {
			t.Errorf("%q: %q", lang, got)
		}
	}
	if got := (Words{ZH: "门"}).In("en"); got != "门" {
		t.Errorf("missing English: %q", got)
	}
}

func TestWriteAndRead(t *testing.T) {
	rec := httptest.NewRecorder()
	p := New(404, "not_found", Words{ZH: "没有 <这个>", EN: "none"}, "zh")
	p.Detail = "x"
	p.Write(rec)
	resp := rec.Result()
	if resp.Header.Get("Content-Type") != ContentType || resp.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("headers %v", resp.Header)
	}
	if got := Read(resp); *got != *p || got.Error() != "没有 <这个> (x)" {
		t.Errorf("got %+v", got)
	}
	var doc map[string]any
	if err := json.Unmarshal(rec.Body.Bytes(), &doc); err == nil && doc["type"] != "urn:homeagent:problem:not_found" {
		t.Errorf("type %v", doc["type"])
	}
}

func TestReadTakesAnything(t *testing.T) {
	for name, row := range map[string]struct{ contentType, body, title string }{
		"plain text":      {"text/plain", "no such thing", "HTTP 502 Bad Gateway"},
		"broken document": {ContentType, "{", "HTTP 502 Bad Gateway"},
		"without title":   {ContentType, `{"code":"x"}`, "HTTP 502 Bad Gateway"},
		"foreign status":  {ContentType, `{"title":"t","status":200}`, "t"},
		"no text at all":  {"", "\xff\xfe", "HTTP 502 Bad Gateway"},
	} {
		t.Run(name, func(t *testing.T) {
			rec := httptest.NewRecorder()
			rec.Header().Set("Content-Type", row.contentType)
			rec.WriteHeader(http.StatusBadGateway)
			rec.WriteString(row.body)
			if p := Read(rec.Result()); p.Status != 502 || p.Title != row.title {
				t.Errorf("got %+v", p)
			}
		})
	}
}
