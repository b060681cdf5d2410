package offline

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"homeagent/agent/intent"
	"homeagent/agent/provider"
)

// sentences and other, 1 to 3, were written by people who had not seen the
// intents. They are a measure, not a list of rules: what fails here is mended by
// a rule that the failing sentence is only one case of. At first sight, before
// anything was mended, of 60 sentences were right: set 1 en 52, zh 48; set 2
// en 47, zh 53; set 3, after sets 1 and 2 had been mended, en 58, zh 56. No
// action came of the others of any set. Once mended a set says little about
// sentences to come; set 3 was left as it was.
//
// own was written with the rules in sight, by whoever wrote the rules, to see
// how phrasing varies; none_* likewise are sentences of which nothing may come.
// Of the first part of own 227 of 265 were right at first in English and 211 of
// 264 in Chinese; of the second, written after the rules had been widened, 101
// and 103 of 112; of the third 49 and 50 of 56; of the fourth 41 and 36 of 45; of the fifth
// 24 and 22 of 25.

func rows(t *testing.T, file string) [][]string {
	t.Helper()
	text, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	var out [][]string
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimRight(line, "\r\n"); line != "" && !strings.HasPrefix(line, "#") {
			out = append(out, strings.Split(line, "\t"))
		}
	}
	return out
}

func TestUnseenSentences(t *testing.T) {
	for _, row := range []struct {
		file  string
		least int
	}{
		{"sentences_en.tsv", 60}, {"sentences_zh.tsv", 60},
		{"sentences2_en.tsv", 60}, {"sentences2_zh.tsv", 60},
		{"sentences3_en.tsv", 60}, {"sentences3_zh.tsv", 60},
		{"own_en.tsv", 500}, {"own_zh.tsv", 500},
	} {
		t.Run(row.file, func(t *testing.T) {
			s := set(t)
			list := rows(t, row.file)
			if len(list) < row.least {
				t.Fatalf("%d sentences, want at least %d", len(list), row.least)
			}
			right := 0
			for _, r := range list {
				want := ""
				if len(r) > 2 {
					want = r[2]
				}
				m, ok := s.Parse(r[0], intent.Lang(r[0], "en"))
				if wrong := judge(m, ok, r[1], want); wrong != "" {
					t.Logf("wrong: %s: want %s %s; %s", r[0], r[1], want, wrong)
				} else {
					right++
				}
			}
			t.Logf("%d of %d right", right, len(list))
			if right*100 < 90*len(list) {
				t.Errorf("%d of %d right, want 90 in 100", right, len(list))
			}
		})
	}
}

// No call that changes anything may come of the others; a question may be
// looked up in the memory, which changes nothing.
func TestUnseenOthersDoNothing(t *testing.T) {
	for _, file := range []string{"other.tsv", "other2.tsv", "other3.tsv", "none_en.tsv", "none_zh.tsv"} {
		t.Run(file, func(t *testing.T) { othersDoNothing(t, file) })
	}
}

func othersDoNothing(t *testing.T, file string) {
	list := rows(t, file)
	if len(list) < 100 {
		t.Fatalf("%d sentences, want at least 100", len(list))
	}
	p := fixed(t)
	lookups := 0
	for _, r := range list {
		lang := ""
		if len(r) > 1 {
			lang = r[1]
		}
		res, err := p.Chat(t.Context(), provider.Request{Messages: []provider.Message{user(r[0])}, Tools: tools(), Lang: lang})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range res.Calls {
			if c.Name == "memory_recall" || c.Name == "timer_list" {
				t.Logf("looked up: %s: %s", r[0], c.Args)
				lookups++
				continue
			}
			t.Errorf("%s: calls %s %s", r[0], c.Name, c.Args)
		}
	}
	t.Logf("%d of %d were looked up", lookups, len(list))
}

// judge says what is wrong about a match, "" if nothing.
func judge(m intent.Match, ok bool, wantIntent, wantSlots string) string {
	if !ok || m.Intent != wantIntent {
		return fmt.Sprintf("got %q (%v %s)", m.Intent, ok, m.Problem)
	}
	for _, pair := range strings.Split(wantSlots, ";") {
		k, v, ok := strings.Cut(pair, "=")
		if !ok {
			continue
		}
		switch k = strings.TrimSpace(k); k {
		case "text", "label":
			held := strings.Join(said(m), " ")
			for _, w := range keyWords(v) {
				if !strings.Contains(strings.ToLower(held), w) {
					return fmt.Sprintf("%q is not kept in %q", w, held)
				}
			}
		case "device":
			got, want := strings.Split(m.Slots["device"], ","), strings.Split(v, ",")
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				return fmt.Sprintf("device %v", got)
			}
		default:
			if m.Slots[k] != strings.TrimSpace(v) {
				return fmt.Sprintf("%s is %q", k, m.Slots[k])
			}
		}
	}
	return ""
}

// said are the values of the slots that hold words, in a fixed order.
func said(m intent.Match) []string {
	var out []string
	for _, k := range []string{"fact", "clause", "statement", "thing", "attribute", "label", "task", "text"} {
		if v := m.Slots[k]; v != "" {
			out = append(out, v)
		}
	}
	if len(out) == 0 { // asked for by the whole sentence
		b, _ := json.Marshal(m.Args)
		out = append(out, string(b))
	}
	return out
}

// keyWords are the words of a text that say what it is about: English words of
// more than two letters that are no grammar, and Han characters likewise.
func keyWords(s string) []string {
	grammar := map[string]bool{}
	for _, w := range strings.Fields("the and for that this are was has have had his her its our your with from about into what where when who how did does 的 了 在 是 我 你 把 被 吗 呢 吧 去 要 会 得 地 着") {
		grammar[w] = true
	}
	var out []string
	// "wifi密码" are two words, which may be kept in two slots.
	s = regexp.MustCompile(`(\p{Han})(\p{Latin})|(\p{Latin})(\p{Han})`).ReplaceAllString(s, "$1$3 $2$4")
	for _, w := range strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\'' }) {
		if !unicode.Is(unicode.Han, []rune(w)[0]) {
			if len(w) > 2 && !grammar[w] {
				out = append(out, w)
			}
			continue
		}
		for _, r := range w {
			if !grammar[string(r)] {
				out = append(out, string(r))
			}
		}
	}
	return out
}
