package ui

import (
	"regexp"
	"sort"
	"strings"
	"testing"
)

func text(t *testing.T, name string) string {
	t.Helper()
	f, ok := Get(name)
	if !ok || len(f.Data) == 0 {
		t.Fatalf("%s is missing or empty", name)
	}
	return string(f.Data)
}

func TestFiles(t *testing.T) {
	etags := map[string]string{}
	for _, n := range Names() {
		f, _ := Get(n)
		if f.Type == "" || len(f.Data) == 0 || len(f.ETag) < 10 {
			t.Errorf("%s: type %q, %d bytes, tag %s", n, f.Type, len(f.Data), f.ETag)
		}
		if other := etags[f.ETag]; other != "" {
			t.Errorf("%s and %s have one tag", n, other)
		}
		etags[f.ETag] = n
	}
	for _, n := range []string{"", ".", "../ui.go", "page/index.html", "nothing.js"} {
		if _, ok := Get(n); ok {
			t.Errorf("%q is served", n)
		}
	}
}

// The strict policy of the door runs no inline script or style, and the page
// must work without the internet.
func TestNothingInlineAndNothingFromElsewhere(t *testing.T) {
	html := text(t, "index.html")
	if regexp.MustCompile(`<script(?:[^>]*)>[^<]`).MatchString(html) || regexp.MustCompile(`(?i)<style|\sstyle=|\son[a-z]+=|javascript:`).MatchString(html) {
		t.Error("index.html has inline script or style")
	}
	elsewhere := regexp.MustCompile(`(?i)(?:https?:)?//[a-z0-9.-]+\.[a-z]{2,}|@import|url\(`)
	for _, n := range Names() {
		for _, hit := range elsewhere.FindAllString(text(t, n), -1) {
			if n == "icon.svg" && strings.HasSuffix(hit, "www.w3.org") { // a name space, never fetched
				continue
			}
			t.Errorf("%s reaches elsewhere: %s", n, hit)
		}
	}
	for _, m := range regexp.MustCompile(`(?:src|href)="([^"]+)"|from '\./([^']+)'`).FindAllStringSubmatch(html+text(t, "main.js")+text(t, "talk.js")+text(t, "status.js")+text(t, "api.js"), -1) {
		if _, ok := Get(m[1] + m[2]); !ok {
			t.Errorf("%s is asked for and not served", m[1]+m[2])
		}
	}
	if regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(`).MatchString(text(t, "main.js") + text(t, "talk.js") + text(t, "status.js") + text(t, "dom.js") + text(t, "words.js")) {
		t.Error("text may enter the page as markup")
	}
}

// keys of one language's block of words.js.
func keys(block string) []string {
	var out []string
	for _, m := range regexp.MustCompile(`(?m)(?:^\s*|, )([a-z_A-Z]+):`).FindAllStringSubmatch(regexp.MustCompile("'[^']*'|`[^`]*`").ReplaceAllString(block, "''"), -1) {
		out = append(out, m[1])
	}
	sort.Strings(out)
	return out
}

func TestEveryWordInBothLanguages(t *testing.T) {
	js := text(t, "words.js")
	start, end := strings.Index(js, "const words = {"), strings.Index(js, "// labels of")
	block := js[start:end]
	cut := strings.Index(block, "\n  en: {")
	zh, en := keys(block[strings.Index(block, "zh: {")+5:cut]), keys(block[cut+8:])
	if len(zh) < 40 || strings.Join(zh, " ") != strings.Join(en, " ") {
		t.Fatalf("the languages differ:\n%v\n%v", zh, en)
	}
	have := map[string]bool{}
	for _, k := range zh {
		have[k] = true
	}
	used := regexp.MustCompile(`data-t(?:-label|-title|-placeholder)?="([a-zA-Z]+)"|\bt\('([a-zA-Z_]+)'\)`)
	n := 0
	for _, f := range []string{"index.html", "main.js", "talk.js", "status.js", "words.js"} {
		for _, m := range used.FindAllStringSubmatch(text(t, f), -1) {
			if n++; !have[m[1]+m[2]] {
				t.Errorf("%s uses %q, which has no words", f, m[1]+m[2])
			}
		}
	}
	if n < 40 {
		t.Errorf("only %d uses were found", n)
	}
}

// A lost file of accounts is told where the page asks for the claim: the door
// sends the words with the session, and they stand above the form.
func TestTheClaimShowsTheNotesOfTheDoor(t *testing.T) {
	html := text(t, "index.html")
	notes, form := strings.Index(html, `id="claim-notes"`), strings.Index(html, `id="claim-form"`)
	if notes < strings.Index(html, `id="claim"`) || notes > form {
		t.Error("index.html has no place for them above the form")
	}
	if js := text(t, "main.js"); !strings.Contains(js, `$('claim-notes').replaceChildren(...(s.notes || [])`) {
		t.Error("main.js does not fill it in")
	}
}
